// Conformance: how far a new tenant has come.
import type { Test } from 'tap';
import { type Bench, countAll, T0 } from './harness.ts';

export const overviewCases = {
  'a new tenant comes forward one fact at a time, and others see none of it': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const tenant = await bench.tenant();
    const other = await bench.tenant();
    const none = { hasKey: false, hasSent: false, hasDomain: false, hasVerifiedDomain: false, hasWebhook: false };
    const facts = () => store.figures.onboardingFacts(tenant.id);
    t.same(await facts(), none);

    const key = bench.apiKey(tenant.id);
    await store.keys.createApiKey(key, 50);
    t.same(await facts(), { ...none, hasKey: true });
    await store.keys.revokeApiKey(tenant.id, key.id, T0);
    t.same(await facts(), none, 'a revoked one is none');

    const pending = await bench.pendingDomain(tenant.id, 'pending.test');
    t.same(await facts(), { ...none, hasDomain: true });
    await store.domains.revokeDomain(tenant.id, pending.id);
    t.same(await facts(), none);
    const domain = await bench.verifiedDomain(tenant.id, 'acme.test');
    const withDomain = { ...none, hasDomain: true, hasVerifiedDomain: true };
    t.same(await facts(), withDomain);

    const secret = { masterKeyId: 'm', sealed: Buffer.alloc(1) };
    const url = 'https://a.test/';
    const webhook = { id: bench.id(), tenantId: tenant.id, url, target: url, description: null, createdAt: T0, secret };
    await store.webhooks.createWebhook(webhook, 50);
    t.same(await facts(), { ...withDomain, hasWebhook: true });

    const message = await bench.sending(domain, 'a@x.test');
    t.same(await facts(), { ...withDomain, hasWebhook: true, hasSent: true });
    await store.queue.record([bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'))]);
    await countAll(store);
    await store.upkeep.eraseRecords(T0 + 86_400_000, 1000);
    t.equal(await store.queue.getMessage(message.id), null);
    t.match(await facts(), { hasSent: true }, 'the message is erased, what it has shown is not');
    t.same(await store.figures.onboardingFacts(other.id), none);
  },
};
