// Secrets at rest: opened with the right key in the right place, and in no other way.
import t from 'tap';
import { Vault } from '../../src/base/vault.ts';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const SECRET = Buffer.from('a private key');
const UNOPENED = { name: 'Fault', message: 'a stored secret cannot be opened', permanence: 'permanent' };

t.test('what was sealed is opened', async (t) => {
  const vault = new Vault([OLD]);
  for (const plain of [SECRET, Buffer.alloc(0), Buffer.alloc(100_000, 3)]) {
    const secret = vault.seal(plain, 'domain 1');
    t.ok(vault.open(secret, 'domain 1').equals(plain));
    t.ok(new Vault([Buffer.from(OLD)]).open(secret, 'domain 1').equals(plain), 'after a restart too');
  }
});

t.test('a sealed secret shows nothing of the secret, and is never the same', async (t) => {
  const vault = new Vault([OLD]);
  const one = vault.seal(SECRET, 'c');
  const two = vault.seal(SECRET, 'c');
  t.notOk(one.sealed.equals(two.sealed));
  t.notOk(one.sealed.includes(SECRET));
  t.match(one.masterKeyId, /^[0-9a-f]{8}$/);
  t.notOk(OLD.toString('hex').includes(one.masterKeyId));
});

t.test('a secret that was moved elsewhere does not open', async (t) => {
  const vault = new Vault([OLD]);
  const secret = vault.seal(SECRET, 'domain 1');
  t.throws(() => vault.open(secret, 'domain 2'), { ...UNOPENED, detail: 'domain 2' });
  t.throws(() => vault.open(secret, ''), UNOPENED);
});

t.test('a secret that was changed does not open', async (t) => {
  const vault = new Vault([OLD]);
  const { masterKeyId, sealed } = vault.seal(SECRET, 'c');
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    t.throws(() => vault.open({ masterKeyId, sealed: changed }, 'c'), UNOPENED, `byte ${at}`);
  }
  for (const length of [0, 1, 11, 12, 20, 27, 28, sealed.length - 1]) {
    t.throws(() => vault.open({ masterKeyId, sealed: sealed.subarray(0, length) }, 'c'), UNOPENED, `${length} bytes`);
  }
  t.throws(() => vault.open({ masterKeyId, sealed: Buffer.concat([sealed, Buffer.alloc(1)]) }, 'c'), UNOPENED);
});

t.test('another master key does not open it', async (t) => {
  const secret = new Vault([OLD]).seal(SECRET, 'c');
  const message = `the master key ${secret.masterKeyId} is not given, and a stored secret needs it`;
  t.throws(() => new Vault([NEW]).open(secret, 'c'), { name: 'Fault', message, permanence: 'permanent' });
  const relabelled = { ...secret, masterKeyId: new Vault([NEW]).seal(SECRET, 'c').masterKeyId };
  t.throws(() => new Vault([NEW, OLD]).open(relabelled, 'c'), UNOPENED);
});

t.test('master keys are rotated: the first seals, all open', async (t) => {
  const before = new Vault([OLD]).seal(SECRET, 'c');
  const vault = new Vault([NEW, OLD]);
  const after = vault.seal(SECRET, 'c');
  t.not(after.masterKeyId, before.masterKeyId);
  t.ok(vault.open(before, 'c').equals(SECRET));
  t.ok(vault.open(after, 'c').equals(SECRET));
  t.ok(new Vault([NEW]).open(after, 'c').equals(SECRET), 'the old key can go when all is sealed anew');
  t.throws(() => new Vault([OLD]).open(after, 'c'), /is not given/);
});

t.test('a vault needs a whole master key', async (t) => {
  t.throws(() => new Vault([]), { message: 'no master key' });
  for (const length of [0, 16, 31, 33]) t.throws(() => new Vault([Buffer.alloc(length)]), /a master key has 32 bytes/);
  t.throws(() => new Vault([OLD, Buffer.alloc(5)]), /a master key has 32 bytes/);
});
