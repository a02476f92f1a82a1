import path from 'node:path';
import t from 'tap';
import { systemClock } from '../../../src/base/clock.ts';
import { IdSource } from '../../../src/base/ids.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { hashPassword, verifyPassword } from '../../../src/tenants/accounts/passwords.ts';
import { createUser, resetPassword, verifyUser } from '../../../src/tenants/accounts/users.ts';
import { createTenant } from '../../../src/tenants/tenant-service.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('a password verifies against its own hash only', async (t) => {
  const stored = await hashPassword('correct horse');
  t.match(stored, /^\$scrypt\$ln=15,r=8,p=3\$/);
  t.equal(await verifyPassword('correct horse', stored), true);
  t.equal(await verifyPassword('Correct horse', stored), false);
  t.equal(await verifyPassword('', stored), false);
  t.not(await hashPassword('correct horse'), stored, 'salted');
});

t.test('the parameters stand in the hash: those of RFC 7914 section 12 are understood', async (t) => {
  // scrypt(P="pleaseletmein", S="SodiumChloride", N=16384, r=8, p=1), its first 64 octets.
  const salt = Buffer.from('SodiumChloride').toString('base64');
  const hash = Buffer.from(
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2' +
      'd5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
    'hex',
  ).toString('base64');
  t.equal(await verifyPassword('pleaseletmein', `$scrypt$ln=14,r=8,p=1$${salt}$${hash}`), true);
});

t.test('a hash that cannot be read verifies nothing', async (t) => {
  for (const stored of ['', 'secret', '$scrypt$ln=15$x$y', '$2b$10$abcdefghijklmnopqrstuv']) {
    t.equal(await verifyPassword('secret', stored), false, stored);
  }
});

t.test('with a store', async (t) => {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const services = { store, clock: systemClock, ids: new IdSource() };
  const made = await createTenant(services, { name: 'Acme' });
  if (made.kind === 'refused') throw new Error(made.message);
  const tenantId = made.tenant.id;

  t.test('a new user logs in with the generated password, in any case of the address', async (t) => {
    const result = await createUser(services, { tenantId, email: 'Joe@Example.com' });
    if (result.kind === 'refused') throw new Error(result.message);
    t.match(result.password, /^[0-9A-Za-z]{20}$/);
    t.match(result.user, { email: 'joe@example.com', role: 'owner', tenantId });
    const user = await verifyUser({ email: 'JOE@example.COM', password: result.password }, store);
    t.equal(user?.id, result.user.id);
    t.equal(await verifyUser({ email: 'joe@example.com', password: 'wrong' }, store), null);
    t.equal(await verifyUser({ email: 'nobody@example.com', password: result.password }, store), null);
  });

  t.test('a reset ends the old password', async (t) => {
    const before = await createUser(services, { tenantId: null, email: 'op@example.com' });
    if (before.kind === 'refused') throw new Error(before.message);
    t.equal(before.user.role, 'operator');
    const after = await resetPassword(services, 'OP@example.com');
    if (after.kind === 'refused') throw new Error(after.message);
    t.equal(await verifyUser({ email: 'op@example.com', password: before.password }, store), null);
    t.equal((await verifyUser({ email: 'op@example.com', password: after.password }, store))?.id, before.user.id);
  });

  t.test('what cannot be granted is refused with the field named', async (t) => {
    await createUser(services, { tenantId, email: 'twice@example.com' });
    t.match(await createUser(services, { tenantId, email: 'Twice@example.com' }), { kind: 'refused', field: null });
    t.match(await createUser(services, { tenantId, email: 'no address' }), { kind: 'refused', field: 'email' });
    t.match(await createUser(services, { tenantId, email: 'x@localhost' }), { kind: 'refused', field: 'email' });
    t.match(await createUser(services, { tenantId, email: 'x@example.com', role: 'operator' }), { field: 'role' });
    t.match(await createUser(services, { tenantId: null, email: 'x@example.com', role: 'owner' }), { field: 'role' });
    const stranger = '01a1fa75-69d8-7000-b301-908cb7826839';
    t.match(await createUser(services, { tenantId: stranger, email: 'x@example.com' }), { field: null });
    t.match(await resetPassword(services, 'unknown@example.com'), { kind: 'refused', field: null });
  });
});
