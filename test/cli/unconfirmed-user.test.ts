// A user who has signed up and never opened the link: what `user reset` says, and how an operator can vouch for the address.
import path from 'node:path';
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { User } from '../../src/store/tenants.ts';
import { newTenant } from '../../src/tenants/tenant-service.ts';
import { newProgram } from '../support/program.ts';

const EMAIL = 'ann@shop.example';

t.test('a reset leaves the address unconfirmed and says so, unless the operator confirms it', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  await program.json('migrate');
  const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openSqliteStore({ file: path.join(program.dataDir, 'postrider.db') });
    return work(store).finally(() => store.close());
  };
  const [ids, createdAt] = [new IdSource(), systemClock.now()];
  const tenant = newTenant({ id: ids.next(), name: 'Shop', status: 'pending_verification', createdAt });
  const user: User = {
    ...{ id: ids.next(), tenantId: tenant.id, email: EMAIL, role: 'owner', passwordHash: 'none', createdAt },
  };
  await withStore((store) => store.accounts.signUp({ tenant, user }));

  const reset = await program.runHere('user', 'reset', '--email', EMAIL);
  t.match(reset, { code: 0, stdout: /The address is not confirmed, so this user can't sign in yet.*--confirmed\.\n$/ });
  t.match(await program.json('user', 'reset', '--email', EMAIL), { id: user.id, confirmed: false });
  t.equal(await withStore((store) => store.accounts.isUnconfirmed(user.id)), true);

  const vouched = await program.runHere('user', 'reset', '--email', EMAIL, '--confirmed');
  t.match(vouched, { code: 0, stdout: /The password is shown only once\.\n$/ });
  t.equal(await withStore((store) => store.accounts.isUnconfirmed(user.id)), false);
  t.match(await program.json('tenant', 'show', tenant.id), { status: 'in_review' });
  t.match(await program.json('user', 'reset', '--email', EMAIL, '--confirmed'), { confirmed: true });

  const acts = await withStore((store) => store.audit.listAudit(tenant.id, { before: null, limit: 10 }));
  t.match(
    acts.map(({ action, data }) => [action, data.address_confirmed]),
    [false, true, false, false].map((confirmed) => ['user.password_reset', confirmed]),
    'newest first: what this reset has confirmed',
  );
});
