// Conformance: since when an endpoint fails. One event that it refuses, while it accepts others, does not count.
import type { Test } from 'tap';
import type { DeliveryEnd } from '../../../src/store/webhooks.ts';
import { type Bench, T0 } from './harness.ts';
import { happen, resultOf, webhookOf } from './webhook-deliveries.ts';

export const webhookHealthCases = {
  'an event that is refused while others are accepted is no failure of the endpoint': async (t: Test, bench: Bench) => {
    const { webhooks } = bench.store;
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    /** All that is due is called; the endpoint refuses these. */
    const call = async (at: number, refused: readonly string[], end: DeliveryEnd = { to: 'due', dueAt: at + 100 }) => {
      const terms = { owners: [await bench.owner()], now: at, leaseUntil: [at + 60_000] };
      const [claimed] = await webhooks.claimDeliveries([{ webhookId, limit: 100 }], terms);
      const results = claimed!.deliveries.map((delivery) => {
        const isRefused = refused.includes(delivery.event.id);
        return { ...resultOf(delivery, isRefused ? end : { to: 'delivered' }), startedAt: at };
      });
      await webhooks.recordDeliveries(results, at);
      return (await webhooks.listWebhookHealth(tenant.id))[0]!.failingSince;
    };
    const poison = await happen(bench, domain);
    t.equal(await call(T0, [poison]), T0, 'it may be the endpoint');
    await happen(bench, domain);
    t.equal(await call(T0 + 50, [poison]), null, 'another was accepted');
    t.equal(await call(T0 + 100, [poison]), null, 'a retry says nothing new');
    t.equal(await call(T0 + 200, [poison]), null);
    t.strictSame(await webhooks.listFailingWebhooks(T0 + 1e6), []);

    const other = await happen(bench, domain);
    t.equal(await call(T0 + 300, [poison, other]), T0 + 300, 'but another event does');
    t.equal(await call(T0 + 400, [poison]), null, 'and was accepted when it was tried again');
    t.equal(await call(T0 + 500, [poison], { to: 'failed' }), null);
    const target = { webhookId, eventId: poison };
    t.equal(await webhooks.replayDelivery(tenant.id, target, T0 + 600), 'due');
    t.equal(await call(T0 + 600, [poison]), T0 + 600, 'a replay is a new attempt');

    const url = 'https://moved.test/';
    await webhooks.changeWebhook(tenant.id, webhookId, { url: { url, target: url } });
    t.equal(await call(T0 + 700, [poison]), T0 + 700, 'no success since: a retry may be the endpoint of another URL');
  },

  'an attempt that vanished is no failure': async (t: Test, bench: Bench) => {
    const { webhooks } = bench.store;
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    await happen(bench, domain);
    const terms = (now: number) => ({ owners: [owner], now, leaseUntil: [now + 100] });
    const owner = await bench.owner();
    await webhooks.claimDeliveries([{ webhookId, limit: 1 }], terms(T0));
    const [claimed] = await webhooks.claimDeliveries([{ webhookId, limit: 1 }], terms(T0 + 100));
    const [delivery] = claimed!.deliveries;
    t.match(delivery, { attempt: 2, step: 2 });
    await webhooks.recordDeliveries([resultOf(delivery!, { to: 'due', dueAt: T0 + 200 })], T0 + 150);
    t.match(await webhooks.listWebhookHealth(tenant.id), [{ failingSince: T0 + 150 }], 'the first that is known');
  },
};
