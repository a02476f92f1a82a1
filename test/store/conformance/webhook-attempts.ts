// Conformance: attempts at webhooks for people to read: page by page, by what became of the delivery, one
// of them with its event; and the health and the secrets of one webhook.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { DeliveryEnd, DeliveryPosition, DeliveryState, DeliveryView } from '../../../src/store/webhooks.ts';
import { type Bench, T0 } from './harness.ts';

const SECRET = { masterKeyId: 'master1', sealed: Buffer.from('first') };

async function webhookOf(bench: Bench, tenantId: string, url = 'https://a.test/'): Promise<string> {
  const id = bench.id();
  const webhook = { id, tenantId, url, target: url, description: null, createdAt: T0, secret: SECRET };
  await bench.store.webhooks.createWebhook(webhook, 50);
  return id;
}

async function happen(bench: Bench, domain: Domain): Promise<string> {
  const { receipt } = await bench.accept(domain, ['a@x.test']);
  const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
  const event = bench.event('email.delivered', { n: 1 });
  await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { event }));
  return event.id;
}

/** One attempt for each thing that is due, all of them begun at the same time. */
async function attempt(bench: Bench, webhookId: string, end: DeliveryEnd, startedAt: number): Promise<void> {
  const terms = { owners: [await bench.owner()], now: startedAt, leaseUntil: [startedAt + 60_000] };
  const [claimed] = await bench.store.webhooks.claimDeliveries([{ webhookId, limit: 100 }], terms);
  const results = claimed!.deliveries.map((delivery) => {
    return { delivery, end, startedAt, elapsedMs: 3, status: 500, reason: 'It was 500.', answer: 'oops' };
  });
  await bench.store.webhooks.recordDeliveries(results, startedAt);
}

export const webhookAttemptCases = {
  'pages meet without a gap, also between attempts of one millisecond': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    for (let n = 0; n < 4; n++) await happen(bench, domain);
    await attempt(bench, webhookId, { to: 'due', dueAt: T0 + 10 }, T0);
    await attempt(bench, webhookId, { to: 'delivered' }, T0 + 10);
    const list = (limit: number, after?: { eventId: string; number: number }) =>
      bench.store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId: null, limit, ...(after && { after }) });
    const all = await list(100);
    t.equal(all.length, 8);
    const paged = [];
    for (let page = await list(3); page.length > 0; page = await list(3, paged.at(-1))) paged.push(...page);
    t.strictSame(paged, all);
    t.strictSame(await list(3, { eventId: bench.id(), number: 1 }), [], 'after something that there is not');
  },

  'the last attempts of what waits, and of what has failed': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    const failed = await happen(bench, domain);
    await attempt(bench, webhookId, { to: 'due', dueAt: T0 + 10 }, T0);
    await attempt(bench, webhookId, { to: 'failed' }, T0 + 10);
    const waits = await happen(bench, domain);
    await attempt(bench, webhookId, { to: 'due', dueAt: T0 + 90 }, T0 + 20);
    await happen(bench, domain); // never tried
    const list = (state: 'due' | 'failed', tenantId = tenant.id) =>
      bench.store.webhooks.listWebhookAttempts(tenantId, { webhookId, eventId: null, limit: 10, state });
    const [due, gone] = [await list('due'), await list('failed')];
    t.match(due, [{ eventId: waits, number: 1, nextAt: T0 + 90, state: 'due' }]);
    t.match(gone, [{ eventId: failed, number: 2, nextAt: null, state: 'failed' }]);
    t.strictSame([due.length, gone.length], [1, 1]);
    t.strictSame(await list('failed', (await bench.tenant()).id), []);
    const terms = { owners: [await bench.owner()], now: T0 + 90, leaseUntil: [T0 + 99_000] };
    await bench.store.webhooks.claimDeliveries([{ webhookId, limit: 10 }], terms);
    t.match(await list('due'), [{ eventId: waits, number: 1 }], 'while the next is under way');
  },

  "the calls of a message's events, by event and webhook": async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const [first, second] = [
      await webhookOf(bench, tenant.id, 'https://a.test/'),
      await webhookOf(bench, tenant.id, 'https://b.test/'),
    ];
    const callsOf = async (messageId: string) => {
      const view = await bench.reads().messageView(tenant.id, messageId);
      return view.kind === 'found' ? (view.value?.webhookCalls ?? null) : null;
    };
    const message = await bench.sending(domain, 'a@x.test');
    t.strictSame(await callsOf(message.id), [], 'nothing has happened to it');
    const delivered = bench.event('email.delivered', { n: 1 });
    await bench.store.queue.record([bench.update(message, { to: 'delivered' }, { event: delivered })]);
    await happen(bench, domain);
    const event = { eventId: delivered.id, eventType: 'email.delivered', at: delivered.at };
    const none = { attempts: 0, finishedAt: null, lastAttempt: null };
    const at = (await callsOf(message.id))![0]!.dueAt;
    t.strictSame(await callsOf(message.id), [
      { webhookId: first, url: 'https://a.test/', ...event, state: 'due', dueAt: at, ...none },
      { webhookId: second, url: 'https://b.test/', ...event, state: 'due', dueAt: at, ...none },
    ]);
    await attempt(bench, first, { to: 'due', dueAt: T0 + 900_000 }, T0 + 10);
    await attempt(bench, second, { to: 'delivered' }, T0 + 20);
    const lastAttempt = { number: 1, elapsedMs: 3, status: 500, reason: 'It was 500.', answer: 'oops' };
    t.match(await callsOf(message.id), [
      {
        webhookId: first,
        state: 'due',
        attempts: 1,
        dueAt: T0 + 900_000,
        lastAttempt: { ...lastAttempt, startedAt: T0 + 10 },
      },
      {
        webhookId: second,
        state: 'delivered',
        attempts: 1,
        dueAt: null,
        lastAttempt: { ...lastAttempt, startedAt: T0 + 20 },
      },
    ]);
    await bench.store.webhooks.deleteWebhook(tenant.id, first);
    t.same(
      (await callsOf(message.id))?.map(({ webhookId }) => webhookId),
      [second],
      'not those of a deleted one',
    );
  },

  'deliveries by state, with their last attempts': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    const failed = await happen(bench, domain);
    await attempt(bench, webhookId, { to: 'failed' }, T0);
    const delivered = await happen(bench, domain);
    await attempt(bench, webhookId, { to: 'delivered' }, T0 + 10);
    const retried = await happen(bench, domain);
    await attempt(bench, webhookId, { to: 'due', dueAt: T0 + 90 }, T0 + 20);
    const untried = await happen(bench, domain);
    const list = async (state: DeliveryState | null, tenantId = tenant.id) => {
      const found = await bench.store.webhooks.listWebhookDeliveries(tenantId, {
        ...{ webhookId, state, after: null, limit: 10 },
      });
      return found === 'unknown' ? null : found && { ids: found.deliveries.map(({ eventId }) => eventId), ...found };
    };
    t.same((await list(null))?.ids, [untried, retried, delivered, failed], 'newest event first');
    t.same((await list('due'))?.ids, [untried, retried], 'next attempt first');
    t.match(await list('failed'), { ids: [failed], next: null });
    t.match(await list('delivered'), { ids: [delivered], next: null });
    const last = { number: 1, elapsedMs: 3, status: 500, reason: 'It was 500.', answer: 'oops' };
    t.strictSame((await list(null))?.deliveries, [
      {
        ...{ eventId: untried, eventType: 'email.delivered', state: 'due', attempts: 0, finishedAt: null },
        ...{ dueAt: (await list('due'))?.deliveries[0]?.dueAt, lastAttempt: null },
      },
      {
        ...{
          eventId: retried,
          eventType: 'email.delivered',
          state: 'due',
          attempts: 1,
          dueAt: T0 + 90,
          finishedAt: null,
        },
        lastAttempt: { ...last, startedAt: T0 + 20 },
      },
      {
        ...{ eventId: delivered, eventType: 'email.delivered', state: 'delivered', attempts: 1, dueAt: null },
        ...{ finishedAt: T0 + 10, lastAttempt: { ...last, startedAt: T0 + 10 } },
      },
      {
        ...{ eventId: failed, eventType: 'email.delivered', state: 'failed', attempts: 1, dueAt: null, finishedAt: T0 },
        lastAttempt: { ...last, startedAt: T0 },
      },
    ]);
    const terms = { owners: [await bench.owner()], now: T0 + 90, leaseUntil: [T0 + 99_000] };
    await bench.store.webhooks.claimDeliveries([{ webhookId, limit: 1 }], terms);
    const [inProgress] = (await list('due'))!.deliveries.filter(({ dueAt }) => dueAt === null);
    t.ok(inProgress, 'one in progress has no time of a next attempt');
    t.equal(await list(null, (await bench.tenant()).id), null, "another tenant's webhook");
  },

  'pages of deliveries meet without a gap in each order': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    for (const end of [{ to: 'failed' }, { to: 'delivered' }, { to: 'due', dueAt: T0 + 5000 }] as const) {
      for (let n = 0; n < 4; n++) await happen(bench, domain);
      await attempt(bench, webhookId, end, T0 + 10);
    }
    for (const [state, count] of [
      ['failed', 4],
      ['delivered', 4],
      ['due', 4],
      [null, 12],
    ] as const) {
      const page = async (limit: number, after: DeliveryPosition | null) => {
        const found = await bench.store.webhooks.listWebhookDeliveries(tenant.id, { webhookId, state, after, limit });
        if (found === null || found === 'unknown') throw new Error(String(found));
        return found;
      };
      const paged: DeliveryView[] = [];
      for (let after: DeliveryPosition | null = null, more = true; more; ) {
        const { deliveries, next } = await page(3, after);
        paged.push(...deliveries);
        after = next;
        more = next !== null;
      }
      t.strictSame(paged, (await page(100, null)).deliveries, String(state));
      t.equal(paged.length, count);
    }
    const nowhere = { webhookId, state: null, limit: 1, after: { at: 0, eventId: bench.id() } };
    t.equal(await bench.store.webhooks.listWebhookDeliveries(tenant.id, nowhere), 'unknown');
  },

  'one attempt with the event that was sent, for its tenant only': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    const eventId = await happen(bench, domain);
    await attempt(bench, webhookId, { to: 'failed' }, T0);
    const find = (tenantId: string, id: string, name: { eventId: string; number: number }) =>
      bench.store.webhooks.findWebhookAttempt(tenantId, id, name);
    t.match(await find(tenant.id, webhookId, { eventId, number: 1 }), {
      attempt: { eventId, number: 1, status: 500, answer: 'oops', state: 'failed' },
      event: { id: eventId, tenantId: tenant.id, type: 'email.delivered', at: T0, data: { n: 1 } },
    });
    t.equal(await find(tenant.id, webhookId, { eventId, number: 2 }), null);
    t.equal(await find(tenant.id, bench.id(), { eventId, number: 1 }), null);
    t.equal(await find((await bench.tenant()).id, webhookId, { eventId, number: 1 }), null);
  },

  'how one webhook does': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    for (let n = 0; n < 3; n++) await happen(bench, domain);
    const health = await bench.store.webhooks.getWebhookHealth(tenant.id, webhookId);
    t.match(health, { id: webhookId, due: 3, failed: 0, failingSince: null });
    t.strictSame(await bench.store.webhooks.listWebhookHealth(tenant.id), [health]);
    t.match(await bench.store.webhooks.listWebhookHealth(tenant.id, 2), [{ due: 2 }], 'counted no further');
    t.equal(await bench.store.webhooks.getWebhookHealth((await bench.tenant()).id, webhookId), null);
    t.equal(await bench.store.webhooks.getWebhookHealth(tenant.id, bench.id()), null);
  },

  'its secrets, those that have ended left out': async (t: Test, bench: Bench) => {
    const { id: tenantId } = await bench.tenant();
    const webhookId = await webhookOf(bench, tenantId);
    const secret = { masterKeyId: 'master1', sealed: Buffer.from('second') };
    await bench.store.webhooks.rotateWebhookSecret(tenantId, webhookId, {
      secret,
      at: T0 + 5,
      previousUntil: T0 + 100,
    });
    const current = { secret, createdAt: T0 + 5, expiresAt: null };
    const list = (tenant: string, now: number) => bench.store.webhooks.listWebhookSecrets(tenant, webhookId, now);
    t.strictSame(await list(tenantId, T0 + 99), [current, { secret: SECRET, createdAt: T0, expiresAt: T0 + 100 }]);
    t.strictSame(await list(tenantId, T0 + 100), [current]);
    t.strictSame(await list((await bench.tenant()).id, T0), []);
  },
};
