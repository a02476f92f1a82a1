import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { masterKeyId, Vault } from '../../src/base/vault.ts';
import { loadConfig } from '../../src/config/load.ts';
import { inspectKeyFile, loadMasterKeys, parseMasterKeys, secretsInUse } from '../../src/operator/master-key.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { newTenant } from '../../src/tenants/tenant-service.ts';
import { testFolder } from '../support/test-folder.ts';

const ID = '01a1fa75-69d8-7000-b301-908cb7826839';
const FIRST = Buffer.alloc(32, 1);
const SECOND = Buffer.alloc(32, 2);

function configWith(variables: Record<string, string>) {
  return loadConfig({ env: variables, defaultFile: null }).config;
}

t.test('keys are read as base64 and as hex, one or several', async (t) => {
  t.same(parseMasterKeys(FIRST.toString('base64'), 'here'), [FIRST]);
  t.same(parseMasterKeys(FIRST.toString('hex').toUpperCase(), 'here'), [FIRST]);
  t.same(parseMasterKeys(`${FIRST.toString('base64')},${SECOND.toString('hex')}`, 'here'), [FIRST, SECOND]);
  t.same(parseMasterKeys(`${FIRST.toString('base64')}\n\n${SECOND.toString('base64')}\n`, 'here'), [FIRST, SECOND]);
});

t.test('what is no key is refused by its place, never quoted', async (t) => {
  const wrong = [
    '',
    '\n',
    'secret',
    FIRST.toString('base64').slice(4),
    `${FIRST.toString('base64')},secret`,
    '$'.repeat(44),
  ];
  for (const text of wrong) {
    try {
      parseMasterKeys(text, 'the place');
      t.fail(`${JSON.stringify(text)} was taken`);
    } catch (error) {
      t.match(String(error), /the place/);
      t.notMatch(String(error), /secret|\$/);
    }
  }
});

t.test('the configuration goes before the data folder', async (t) => {
  const dir = testFolder(t, { given: FIRST.toString('base64') });
  fs.chmodSync(path.join(dir, 'given'), 0o600);
  const data = { POSTRIDER_DATA_DIR: path.join(dir, 'data') };
  const warn = (message: string) => t.fail(message);
  const direct = configWith({ ...data, POSTRIDER_SECRETS_MASTER_KEY: SECOND.toString('base64') });
  t.same(loadMasterKeys(direct, { inUse: null, warn }), [SECOND]);
  const named = configWith({ ...data, POSTRIDER_SECRETS_MASTER_KEY_FILE: path.join(dir, 'given') });
  t.same(loadMasterKeys(named, { inUse: null, warn }), [FIRST]);
  t.notOk(fs.existsSync(path.join(dir, 'data')), 'and none is made');
});

t.test('without any, one is made once, for its owner only, with a warning', async (t) => {
  const dir = path.join(testFolder(t), 'data');
  const config = configWith({ POSTRIDER_DATA_DIR: dir });
  const warnings: string[] = [];
  const first = loadMasterKeys(config, { inUse: null, warn: (message) => void warnings.push(message) });
  t.equal(first.length, 1);
  t.match(warnings, [new RegExp(path.join(dir, 'master.key'))]);
  t.equal(fs.statSync(path.join(dir, 'master.key')).mode & 0o777, 0o600);
  t.equal(fs.statSync(dir).mode & 0o777, 0o700);
  t.same(fs.readdirSync(dir), ['master.key'], 'no draft is left');
  t.same(loadMasterKeys(config, { inUse: null, warn: (message) => void warnings.push(message) }), first);
  t.equal(warnings.length, 1);
});

t.test('what other kinds of secrets need is asked of the newest of each', async (t) => {
  const dir = testFolder(t, { 'master.key': FIRST.toString('base64') });
  fs.chmodSync(path.join(dir, 'master.key'), 0o600);
  const store = await openSqliteStore({ file: path.join(dir, 'postrider.db') });
  const config = configWith({ POSTRIDER_DATA_DIR: dir });
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const load = async () => loadMasterKeys(config, { inUse: await secretsInUse(config), warn });
  const tenant = newTenant({ id: ID, name: 'Acme', status: 'active', createdAt: 1 });
  await store.tenants.createTenant(tenant);
  const domain = { id: ID, tenantId: ID, name: 'acme.test', selector: 's', publicKeyB64: 'k', createdAt: 1 };
  const sealedBy = (key: Buffer) => new Vault([key]).seal(Buffer.from('secret'), 'here');
  await store.domains.createDomain({ ...domain, privateKey: sealedBy(SECOND) });
  await t.rejects(load(), /need the master key with the ID/, 'nothing else is there that the key could open');
  const key = { purpose: 'tracking', keyId: 'a', publicPart: null, createdAt: 1 } as const;
  await store.platformKeys.addPlatformKey({ ...key, secret: sealedBy(FIRST) });
  t.same(await load(), [FIRST]);
  t.match(warnings, [new RegExp(`some secrets .* need the master key with the ID ${masterKeyId(SECOND)}, but`)]);
  fs.appendFileSync(path.join(dir, 'master.key'), `\n${SECOND.toString('hex')}`);
  t.same(await load(), [FIRST, SECOND]);
  t.equal(warnings.length, 1);
  await store.close();
});

t.test('an empty or cut key file is not replaced: it would lose every secret', async (t) => {
  const dir = testFolder(t, { 'master.key': randomBytes(10).toString('base64') });
  t.throws(
    () => loadMasterKeys(configWith({ POSTRIDER_DATA_DIR: dir }), { inUse: null, warn: () => t.fail('made one') }),
    /not 32 bytes/,
  );
});

t.test('a key file that others can read is used, with a warning', async (t) => {
  const dir = testFolder(t, { 'master.key': FIRST.toString('base64') });
  const file = path.join(dir, 'master.key');
  const config = configWith({ POSTRIDER_DATA_DIR: dir });
  const cases = [
    [0o644, 'every user of this machine'],
    [0o640, 'its group'],
    [0o400, null],
  ] as const;
  for (const [mode, openTo] of cases) {
    fs.chmodSync(file, mode);
    const warnings: string[] = [];
    t.same(loadMasterKeys(config, { inUse: null, warn: (message) => void warnings.push(message) }), [FIRST]);
    const said = `the master key in ${file} can be read by ${openTo}: chmod 600 ${file}`;
    t.same(warnings, openTo === null ? [] : [said]);
    t.same(inspectKeyFile(config), { file, openTo });
  }
  t.equal(inspectKeyFile(configWith({ POSTRIDER_DATA_DIR: path.join(dir, 'no') })), null);
  t.equal(inspectKeyFile(configWith({ POSTRIDER_SECRETS_MASTER_KEY: FIRST.toString('base64') })), null);
});
