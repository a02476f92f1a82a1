// Conformance: tenants, users, API keys.
import type { Test } from 'tap';
import type { Transition } from '../../../src/store/queue.ts';
import type { User } from '../../../src/store/tenants.ts';
import { type Bench, T0 } from './harness.ts';

export const tenantCases = {
  'a tenant is read as it was written': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant({
      name: 'Ünï',
      status: 'in_review',
      statusReason: 'new',
      tier: 'uncapped',
      tierPinned: true,
      openTracking: true,
      unsubscribe: true,
      bouncesDomain: 'b.acme.test',
    });
    t.strictSame(await bench.store.tenants.getTenant(tenant.id), tenant);
    t.equal(await bench.store.tenants.getTenant(bench.id()), null);
  },

  'tenants are listed oldest first': async (t: Test, bench: Bench) => {
    t.strictSame(await bench.store.tenants.listTenants(), []);
    const tenants = [await bench.tenant(), await bench.tenant(), await bench.tenant()];
    t.strictSame(await bench.store.tenants.listTenants(), tenants);
  },

  'a change touches only what it names': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant({ statusReason: 'why', openTracking: true });
    const other = await bench.tenant();
    const changed = await bench.store.tenants.updateTenant(tenant.id, { status: 'suspended', tierPinned: true });
    t.strictSame(changed, { ...tenant, status: 'suspended', tierPinned: true });
    t.strictSame(await bench.store.tenants.getTenant(tenant.id), changed);
    t.equal((await bench.store.tenants.updateTenant(tenant.id, { statusReason: null }))?.statusReason, null);
    t.strictSame(await bench.store.tenants.getTenant(other.id), other, 'another tenant stays');
    t.equal(await bench.store.tenants.updateTenant(bench.id(), { name: 'nobody' }), null);
  },

  'a tenant that is made twice is an error': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    await t.rejects(bench.store.tenants.createTenant({ ...tenant, name: 'again' }));
    t.strictSame(await bench.store.tenants.getTenant(tenant.id), tenant);
  },

  'a tier is raised unless it is pinned': async (t: Test, bench: Bench) => {
    const free = await bench.tenant();
    const pinned = await bench.tenant({ tierPinned: true });
    t.equal(await bench.store.tenants.raiseTier(free.id, '10k'), true);
    t.strictSame(await bench.store.tenants.getTenant(free.id), { ...free, tier: '10k' });
    t.equal(await bench.store.tenants.raiseTier(pinned.id, '10k'), false);
    t.strictSame(await bench.store.tenants.getTenant(pinned.id), pinned);
    t.equal(await bench.store.tenants.raiseTier(bench.id(), '10k'), false);
  },

  'the standing tells how the last messages fared': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('beta.test');
    t.strictSame(await bench.store.tenants.recentResultsOf(tenant.id, 10), {
      messages: 0,
      hardBounces: 0,
      complaints: 0,
    });
    const end = async (transition: Transition, of = domain) => {
      const message = await bench.sending(of, 'a@x.test');
      await bench.store.queue.record([bench.update(message, transition)]);
    };
    const bounced = (bounce: 'hard' | 'soft' | 'block'): Transition => {
      return { to: 'bounced', bounce, reason: '550', suppress: null };
    };
    await end(bounced('hard'));
    await end(bounced('hard'));
    await end(bounced('block'));
    await end(bounced('soft'));
    await end({ to: 'failed', reason: 'lifetime over' });
    await end({ to: 'delivered' });
    await end(bounced('hard'), other.domain);
    await bench.queued(domain, 'waiting@x.test');
    t.strictSame(await bench.store.tenants.recentResultsOf(tenant.id, 10), {
      messages: 6,
      hardBounces: 2,
      complaints: 0,
    });
    const last = await bench.store.tenants.recentResultsOf(tenant.id, 5);
    t.strictSame(last, { messages: 5, hardBounces: 1, complaints: 0 }, 'the oldest has left the window');
  },

  'a user is found by address in any case': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const user = newUser(bench, { tenantId: tenant.id, email: 'Jane@Acme.test' });
    t.equal(await bench.store.accounts.createUser(user), 'created');
    const stored = { ...user, email: 'jane@acme.test' };
    t.strictSame(await bench.store.accounts.findUserByEmail('jANE@acme.TEST'), stored);
    t.equal(await bench.store.accounts.findUserByEmail('john@acme.test'), null);
  },

  'an address has one user': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    await bench.store.accounts.createUser(newUser(bench, { tenantId: tenant.id, passwordHash: 'first' }));
    const operator = newUser(bench, { role: 'operator', email: 'OWNER@acme.test', passwordHash: 'second' });
    t.equal(await bench.store.accounts.createUser(operator), 'exists');
    t.equal((await bench.store.accounts.findUserByEmail('owner@acme.test'))?.passwordHash, 'first');
  },

  'an operator belongs to no tenant': async (t: Test, bench: Bench) => {
    const operator = newUser(bench, { role: 'operator' });
    await bench.store.accounts.createUser(operator);
    t.strictSame(await bench.store.accounts.findUserByEmail(operator.email), operator);
  },

  'a password is changed for one user only': async (t: Test, bench: Bench) => {
    const one = newUser(bench, { email: 'one@acme.test', role: 'operator' });
    const two = newUser(bench, { email: 'two@acme.test', role: 'operator' });
    await bench.store.accounts.createUser(one);
    await bench.store.accounts.createUser(two);
    await bench.store.accounts.setPassword(one.id, 'new');
    t.equal((await bench.store.accounts.findUserByEmail(one.email))?.passwordHash, 'new');
    t.equal((await bench.store.accounts.findUserByEmail(two.email))?.passwordHash, two.passwordHash);
  },

  'a key is found with its tenant': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const key = bench.apiKey(tenant.id, { scopes: ['emails:send', 'domains:write'], boundDomain: 'acme.test' });
    t.equal(await bench.store.keys.createApiKey(key, 50), 'created');
    t.strictSame(await bench.store.keys.findApiKey(key.publicId), { key, tenant });
    t.equal(await bench.store.keys.findApiKey('unknown'), null);
    t.equal(await bench.store.keys.findApiKey(key.publicId.toUpperCase()), null, 'public ids have a case');
    await bench.store.tenants.updateTenant(tenant.id, { status: 'suspended' });
    t.equal((await bench.store.keys.findApiKey(key.publicId))?.tenant.status, 'suspended', 'as it is now');
  },

  'who knows the secret of a key finds it, and nobody else': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const key = bench.apiKey(tenant.id, { secretHash: Buffer.alloc(32, 7) });
    await bench.store.keys.createApiKey(key, 50);
    const find = (publicId: string, fill: number) =>
      bench.store.keys.findApiKeyBySecret(publicId, Buffer.alloc(32, fill));
    for (const time of ['at first', 'again']) {
      t.equal(await find(key.publicId, 8), null, `the wrong secret, ${time}`);
      t.strictSame(await find(key.publicId, 7), { key, tenant }, time);
      t.equal(await find(key.publicId.toUpperCase(), 7), null, `public ids have a case, ${time}`);
      t.equal(await find('unknown', 0), null, `not with the hash that stands for nobody, ${time}`);
    }
    await bench.store.tenants.updateTenant(tenant.id, { status: 'suspended' });
    t.equal((await find(key.publicId, 7))?.tenant.status, 'suspended', 'as it is now');
    await bench.store.keys.revokeApiKey(tenant.id, key.id, T0 + 5);
    t.equal((await find(key.publicId, 7))?.key.revokedAt, T0 + 5);
  },

  'a revoked key is found as revoked, once': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const key = bench.apiKey(tenant.id);
    await bench.store.keys.createApiKey(key, 50);
    t.equal(await bench.store.keys.revokeApiKey(tenant.id, key.id, T0 + 5), true);
    t.equal((await bench.store.keys.findApiKey(key.publicId))?.key.revokedAt, T0 + 5);
    t.equal(await bench.store.keys.revokeApiKey(tenant.id, key.id, T0 + 9), false);
    t.equal((await bench.store.keys.findApiKey(key.publicId))?.key.revokedAt, T0 + 5);
    t.equal(await bench.store.keys.revokeApiKey(tenant.id, bench.id(), T0), false);
  },

  'live keys are limited, revoked ones do not count': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const other = await bench.tenant();
    const first = bench.apiKey(tenant.id);
    t.equal(await bench.store.keys.createApiKey(first, 2), 'created');
    t.equal(await bench.store.keys.createApiKey(bench.apiKey(tenant.id), 2), 'created');
    const third = bench.apiKey(tenant.id);
    t.equal(await bench.store.keys.createApiKey(third, 2), 'too_many');
    t.equal(await bench.store.keys.findApiKey(third.publicId), null, 'nothing was written');
    t.equal(await bench.store.keys.createApiKey(bench.apiKey(other.id), 2), 'created', 'counted per tenant');
    await bench.store.keys.revokeApiKey(tenant.id, first.id, T0);
    t.equal(await bench.store.keys.createApiKey(third, 2), 'created');
  },

  'many keys made at once do not pass the limit': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const keys = Array.from({ length: 20 }, () => bench.apiKey(tenant.id));
    const results = await Promise.all(keys.map((key) => bench.store.keys.createApiKey(key, 5)));
    t.equal(results.filter((result) => result === 'created').length, 5);
    t.equal((await bench.store.keys.listApiKeys(tenant.id)).length, 5);
  },

  'keys are listed oldest first, revoked ones too': async (t: Test, bench: Bench) => {
    const tenant = await bench.tenant();
    const keys = [bench.apiKey(tenant.id), bench.apiKey(tenant.id)];
    for (const key of keys) await bench.store.keys.createApiKey(key, 50);
    await bench.store.keys.revokeApiKey(tenant.id, keys[0]!.id, T0 + 1);
    t.strictSame(await bench.store.keys.listApiKeys(tenant.id), [{ ...keys[0]!, revokedAt: T0 + 1 }, keys[1]!]);
  },

  'a key of a tenant that does not exist is an error': async (t: Test, bench: Bench) => {
    await t.rejects(bench.store.keys.createApiKey(bench.apiKey(bench.id()), 50));
  },

  'the store can be reached until it is closed': async (t: Test, bench: Bench) => {
    t.equal(await bench.store.ping(), true);
    await bench.store.close();
    t.equal(await bench.store.ping(), false);
    await bench.store.close();
    await t.rejects(bench.tenant());
    await t.rejects(bench.store.tenants.listTenants());
  },
};

function newUser(bench: Bench, change: Partial<User>): User {
  return {
    id: bench.id(),
    tenantId: null,
    email: 'owner@acme.test',
    role: 'owner',
    passwordHash: 'scrypt$1',
    createdAt: T0,
    ...change,
  };
}
