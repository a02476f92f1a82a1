import path from 'node:path';
import t from 'tap';
import { IdSource, isUuid } from '../../src/base/ids.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { createTenant, setTenant } from '../../src/tenants/tenant-service.ts';
import { testFolder } from '../support/test-folder.ts';

t.test('tenants', async (t) => {
  const store = await openSqliteStore({ file: path.join(testFolder(t), 'postrider.db') });
  t.teardown(() => store.close());
  const services = { store, clock: { now: () => 1_790_000_000_000 }, ids: new IdSource() };
  const made = await createTenant(services, { name: ' Acme ' });
  if (made.kind === 'refused') throw new Error(made.message);
  const { id } = made.tenant;

  t.test('a new tenant is in review, in the first tier, with nothing switched on', async (t) => {
    t.ok(isUuid(id));
    t.same(await store.tenants.getTenant(id), {
      id,
      name: 'Acme',
      status: 'in_review',
      statusReason: null,
      tier: '1k',
      tierPinned: false,
      openTracking: false,
      clickTracking: false,
      unsubscribe: false,
      bouncesDomain: null,
      createdAt: 1_790_000_000_000,
    });
  });

  t.test('names that nobody could read are refused', async (t) => {
    for (const name of ['', '  ', 'a\nb', 'x'.repeat(201)]) {
      t.match(await createTenant(services, { name }), { kind: 'refused', field: 'name' }, JSON.stringify(name));
    }
  });

  t.test('a change touches only what was given', async (t) => {
    t.match(await setTenant(services, id, { openTracking: true }), {
      tenant: { status: 'in_review', tier: '1k', openTracking: true, clickTracking: false },
    });
    t.match(await setTenant(services, id, { status: 'active' }), { tenant: { status: 'active', openTracking: true } });
  });

  t.test('a tier that an operator names is pinned, until auto', async (t) => {
    t.match(await setTenant(services, id, { tier: '10k' }), { tenant: { tier: '10k', tierPinned: true } });
    t.match(await setTenant(services, id, { tier: 'auto' }), { tenant: { tier: '10k', tierPinned: false } });
  });

  t.test('a new status takes the reason of the old one with it', async (t) => {
    await store.tenants.updateTenant(id, { status: 'in_review', statusReason: 'too many bounces' });
    t.match(await setTenant(services, id, { tier: '1k' }), { tenant: { statusReason: 'too many bounces' } });
    t.match(await setTenant(services, id, { status: 'active' }), { tenant: { statusReason: null } });
  });

  t.test('an unknown tenant and an empty change are refused', async (t) => {
    const stranger = '01a1fa75-69d8-7000-b301-908cb7826839';
    t.match(await setTenant(services, stranger, { status: 'active' }), { kind: 'refused', field: null });
    t.match(await setTenant(services, id, {}), { kind: 'refused', field: null });
    t.match(await setTenant(services, id, { status: undefined }), { kind: 'refused', field: null });
  });
});
