// Conformance: every verb that takes a tenant id does nothing and shows nothing when the
// row belongs to another tenant.
import type { Test } from 'tap';
import { type Bench, T0 } from './harness.ts';

export const isolationCases = {
  keys: async (t: Test, bench: Bench) => {
    const [owner, stranger] = [await bench.tenant(), await bench.tenant()];
    const key = bench.apiKey(owner.id);
    await bench.store.keys.createApiKey(key, 50);
    t.strictSame(await bench.store.keys.listApiKeys(stranger.id), []);
    t.equal(await bench.store.keys.revokeApiKey(stranger.id, key.id, T0), false);
    t.equal((await bench.store.keys.findApiKey(key.publicId))?.key.revokedAt, null);
  },

  domains: async (t: Test, bench: Bench) => {
    const { tenant: owner, domain } = await bench.sender('acme.test');
    const stranger = await bench.tenant();
    t.equal(await bench.store.domains.getDomain(stranger.id, domain.id), null);
    t.strictSame(await bench.store.domains.listDomains(stranger.id), []);
    t.equal(await bench.store.domains.findVerifiedDomain(stranger.id, 'acme.test'), null);
    const verdict = { state: 'failed' as const, failureReason: 'not_found', checkedAt: T0 + 1 };
    t.equal(await bench.store.domains.recordVerdict(stranger.id, domain.id, verdict), null);
    t.equal(await bench.store.domains.revokeDomain(stranger.id, domain.id), null);
    t.strictSame(await bench.store.domains.getDomain(owner.id, domain.id), domain);
  },

  submissions: async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const stranger = await bench.tenant();
    await bench.accept(domain, ['a@x.test'], { idempotencyKey: 'k' });
    t.equal(await bench.store.submissions.findReceipt(stranger.id, 'k'), null);
  },

  'messages and their events': async (t: Test, bench: Bench) => {
    const { tenant: owner, domain } = await bench.sender('acme.test');
    const stranger = await bench.tenant();
    const message = await bench.sending(domain, 'a@x.test');
    const before = await bench.message(message.id);
    const suppress = { suppressionKey: 'a@x.test', mxGroup: null, rule: 'smtp 5.1.1', platformExpiresAt: T0 + 9e9 };
    const event = bench.event('email.bounced');
    for (const transition of [
      { to: 'delivered' },
      { to: 'bounced', bounce: 'hard', reason: 'no', suppress },
      { to: 'deferred', dueAt: T0, reason: 'no', ambiguous: false },
      { to: 'parked', reason: 'no' },
    ] as const) {
      const forged = bench.attempted({ ...message, tenantId: stranger.id }, transition, event);
      t.strictSame((await bench.store.queue.record([forged])).over, [message.id], transition.to);
    }
    t.strictSame(await bench.message(message.id), before);
    t.strictSame(await bench.store.events.listEvents(stranger.id, { after: null, limit: 10 }), []);
    t.strictSame(await bench.store.suppressions.listPlatformSuppressions({ after: null, limit: 10 }), []);
    await bench.store.queue.record([bench.attempted(message, { to: 'delivered' }, event)]);
    t.equal((await bench.store.events.eventsOfMessage(owner.id, message.id)).length, 1);
    t.strictSame(await bench.store.events.eventsOfMessage(stranger.id, message.id), []);
    t.strictSame(await bench.store.events.listEvents(stranger.id, { after: null, limit: 10 }), []);
    t.strictSame(await bench.store.queue.listQueue({ tenantId: stranger.id, limit: 10 }), []);
  },

  suppressions: async (t: Test, bench: Bench) => {
    const [owner, stranger] = [await bench.tenant(), await bench.tenant()];
    const entry = { address: 'a@x.test', reason: 'manual' as const, messageId: null, createdAt: T0 };
    await bench.store.suppressions.addSuppression(owner.id, entry);
    t.strictSame(await bench.store.suppressions.listSuppressions(stranger.id, { after: null, limit: 10 }), []);
    t.match(await bench.store.suppressions.removeSuppression(stranger.id, 'a@x.test', T0), { removed: false });
    t.strictSame(await bench.store.suppressions.listSuppressions(owner.id, { after: null, limit: 10 }), [entry]);
  },
};
