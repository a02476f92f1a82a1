// Conformance: what is due at webhooks: written with the event, leased, recorded, replayed, and out of
// reach once the webhook is deleted.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { EventType } from '../../../src/store/events.ts';
import type { DeliveryEnd, DeliveryResult, EventChoice, WebhookDelivery } from '../../../src/store/webhooks.ts';
import { type Bench, countAll, T0 } from './harness.ts';

const LEASE_MS = 60_000;
const TOLD_AFTER_MS = 1000;

export async function webhookOf(
  bench: Bench,
  tenantId: string,
  target = 'https://a.test/',
  events?: EventChoice[],
): Promise<string> {
  const id = bench.id();
  const secret = { masterKeyId: 'master1', sealed: Buffer.from('first') };
  await bench.store.webhooks.createWebhook(
    { id, tenantId, url: target, target, description: null, createdAt: T0, secret, ...(events && { events }) },
    50,
  );
  return id;
}

export async function happen(bench: Bench, domain: Domain, type: EventType = 'email.delivered'): Promise<string> {
  const { receipt } = await bench.accept(domain, ['a@x.test']);
  const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
  const event = bench.event(type, { n: 1 });
  await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { event }));
  return event.id;
}

async function claim(bench: Bench, webhookId: string, now = T0, limit = 10) {
  const [claimed] = await bench.store.webhooks.claimDeliveries([{ webhookId, limit }], {
    owners: [await bench.owner()],
    now,
    leaseUntil: [now + LEASE_MS],
  });
  return claimed!;
}

export function resultOf(delivery: WebhookDelivery, end: DeliveryEnd): DeliveryResult {
  const status = end.to === 'delivered' ? 200 : 500;
  return { delivery, end, startedAt: T0, elapsedMs: 12, status, reason: `It was ${status}.`, answer: 'ok' };
}

function record(bench: Bench, delivery: WebhookDelivery, end: DeliveryEnd, at = T0) {
  return bench.store.webhooks.recordDeliveries([resultOf(delivery, end)], at);
}

export const deliveryCases = {
  'events are due at webhooks after retention has erased others': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    await happen(bench, domain);
    await countAll(bench.store);
    t.match(await bench.store.upkeep.eraseRecords(T0 + 2000, 1000), { erased: 1 });
    await webhookOf(bench, tenant.id, 'https://b.test/'); // so that the tenant's webhooks are read again
    const told = new Promise<string[]>((resolve) => bench.store.notices.listen({ webhooksDue: resolve }));
    const id = await happen(bench, domain);
    t.ok((await told).includes(webhookId));
    t.match((await claim(bench, webhookId)).deliveries, [{ event: { id } }]);
  },

  'an event is due where its type or family is wanted': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const make = (name: string, events?: EventChoice[]) => webhookOf(bench, tenant.id, `https://${name}.test/`, events);
    const hooks = {
      all: await make('all'),
      family: await make('family', ['bounce']),
      types: await make('types', ['email.bounced', 'email.opened']),
      none: await make('none', ['complaint']),
    };
    const dueAt = async () => {
      const due: Record<string, unknown[]> = {};
      for (const [name, id] of Object.entries(hooks)) {
        due[name] = (await claim(bench, id)).deliveries.map(({ event }) => event.id);
      }
      return due;
    };
    const told = new Promise<string[]>((resolve) => bench.store.notices.listen({ webhooksDue: resolve }));
    const bounced = await happen(bench, domain, 'email.bounced');
    t.same((await told).toSorted(), [hooks.all, hooks.family, hooks.types].toSorted(), 'no other dispatcher is told');
    const failed = await happen(bench, domain, 'email.failed');
    const delivered = await happen(bench, domain, 'email.delivered');
    t.same(await dueAt(), { all: [bounced, failed, delivered], family: [bounced, failed], types: [bounced], none: [] });
    await bench.store.webhooks.changeWebhook(tenant.id, hooks.none, { events: ['delivery'] });
    await bench.store.webhooks.changeWebhook(tenant.id, hooks.family, { events: null });
    const later = await happen(bench, domain, 'email.delivered');
    t.same(await dueAt(), { all: [later], family: [later], types: [], none: [later] }, 'from the change on');
    const target = { webhookId: hooks.types, eventId: delivered };
    t.equal(await bench.store.webhooks.replayDelivery(tenant.id, target, T0), 'due', 'by hand whatever is wanted');
  },

  'what nobody wants is due nowhere': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id, 'https://a.test/', ['open']);
    await happen(bench, domain);
    t.match(await claim(bench, webhookId), { deliveries: [], nextDueAt: null });
    t.same((await bench.store.webhooks.dueWebhooks([1], null, 10)).found, []);
    t.equal((await bench.store.events.listEvents(tenant.id, { after: null, limit: 10 })).length, 1, 'the feed has it');
  },

  'an event is due at every webhook of its tenant that exists, and at no other': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('other.test');
    const foreign = await webhookOf(bench, other.tenant.id);
    await happen(bench, domain);
    const [one, two] = [await webhookOf(bench, tenant.id), await webhookOf(bench, tenant.id, 'https://b.test/')];
    const id = await happen(bench, domain);
    for (const webhookId of [one, two]) {
      const { endpoint, deliveries, nextDueAt } = await claim(bench, webhookId);
      t.match(deliveries, [{ webhookId, attempt: 1, step: 1, event: { id, tenantId: tenant.id, data: { n: 1 } } }]);
      t.equal(deliveries.length, 1);
      t.match(endpoint, { tenantId: tenant.id, secrets: [{ sealed: Buffer.from('first') }] });
      t.equal(nextDueAt, T0 + LEASE_MS);
    }
    t.match(await claim(bench, foreign), { deliveries: [], nextDueAt: null });
    t.strictSame((await bench.store.webhooks.dueWebhooks([1], null, 10)).found.length, 2);
  },

  'all who listen hear of it after the commit': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    const heard = [1, 2].map(() => new Promise((resolve) => bench.store.notices.listen({ webhooksDue: resolve })));
    bench.store.notices.listen({});
    await happen(bench, domain);
    t.strictSame(await Promise.all(heard), [[webhookId], [webhookId]]);
    t.equal((await claim(bench, webhookId)).deliveries.length, 1);
  },

  'a lease keeps others away, ends by itself, and only its own attempt ends it': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    await happen(bench, domain);
    const [first] = (await claim(bench, webhookId)).deliveries;
    t.strictSame((await claim(bench, webhookId)).deliveries, []);
    const [second] = (await claim(bench, webhookId, T0 + LEASE_MS)).deliveries;
    t.match(second, { attempt: 2, step: 2 });
    await record(bench, first!, { to: 'failed' });
    t.match(await bench.store.webhooks.listWebhookHealth(tenant.id), [{ due: 1, failed: 0, failingSince: null }]);
    await record(bench, second!, { to: 'delivered' });
    await record(bench, second!, { to: 'failed' });
    t.match(await bench.store.webhooks.listWebhookHealth(tenant.id), [{ due: 0, failed: 0 }]);
  },

  'attempts are listed newest first, with what followed': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    const eventId = await happen(bench, domain);
    await record(bench, (await claim(bench, webhookId)).deliveries[0]!, { to: 'due', dueAt: T0 + 5000 });
    t.strictSame((await claim(bench, webhookId, T0 + 4999)).deliveries, []);
    await record(bench, (await claim(bench, webhookId, T0 + 5000)).deliveries[0]!, { to: 'delivered' });
    const attempts = await bench.store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId, limit: 5 });
    t.match(attempts, [
      { number: 2, status: 200, nextAt: null, state: 'delivered', eventId, eventType: 'email.delivered' },
      { number: 1, status: 500, nextAt: T0 + 5000, elapsedMs: 12, reason: 'It was 500.', answer: 'ok' },
    ]);
    const stranger = await bench.tenant();
    t.strictSame(
      await bench.store.webhooks.listWebhookAttempts(stranger.id, { webhookId, eventId: null, limit: 5 }),
      [],
    );
  },

  'replaying begins the table anew, and only for its own tenant': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const stranger = await bench.tenant();
    const early = await happen(bench, domain);
    const webhookId = await webhookOf(bench, tenant.id);
    const eventId = await happen(bench, domain);
    const [delivery] = (await claim(bench, webhookId)).deliveries;
    const replay = (tenantId: string, id: string) =>
      bench.store.webhooks.replayDelivery(tenantId, { webhookId, eventId: id }, T0);
    t.equal(await replay(tenant.id, eventId), 'under_way');
    await record(bench, delivery!, { to: 'failed' }, T0 + 10);
    t.equal(await replay(stranger.id, eventId), 'no_webhook');
    t.equal(await replay(tenant.id, bench.id()), 'no_event');
    const failed = (since: number, tenantId = tenant.id) =>
      bench.store.webhooks.replayFailed(tenantId, { webhookId, since, limit: 10 }, T0);
    t.equal(await failed(T0, stranger.id), 0);
    t.equal(await failed(T0 + 11), 0);
    t.equal(await failed(T0 + 10), 1);
    t.match((await claim(bench, webhookId)).deliveries, [{ attempt: 2, step: 1, event: { id: eventId } }]);
    t.equal(await replay(tenant.id, early), 'due', 'an event from before the webhook');
    t.match((await claim(bench, webhookId)).deliveries, [{ attempt: 1, step: 1, event: { id: early } }]);
  },

  'a deleted webhook is out of reach at once, and erased in slices': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    for (let n = 0; n < 5; n++) await happen(bench, domain);
    const [delivery] = (await claim(bench, webhookId, T0, 1)).deliveries;
    await bench.store.webhooks.deleteWebhook(tenant.id, webhookId);
    t.match(await claim(bench, webhookId), { endpoint: null, deliveries: [], nextDueAt: null });
    await record(bench, delivery!, { to: 'failed' });
    t.strictSame((await bench.store.webhooks.dueWebhooks([1], null, 10)).found, []);
    const slices: number[] = [];
    while (slices.at(-1) !== 0) slices.push(await bench.store.webhooks.forgetDeletedWebhooks(2));
    t.strictSame(slices, [2, 2, 1, 1, 0], 'five deliveries and the note of the webhook');
  },

  'where events go is read again, also while others are claimed': async (t: Test, bench: Bench) => {
    const { webhooks } = bench.store;
    const { tenant, domain } = await bench.sender('acme.test');
    const [one, other] = [await webhookOf(bench, tenant.id), await webhookOf(bench, tenant.id, 'https://b.test/')];
    await happen(bench, domain);
    const { endpoint } = await claim(bench, one);
    const read = () => webhooks.readEndpoints([other, bench.id(), one], T0);
    t.strictSame((await read()).slice(1), [null, endpoint], 'as it was claimed, in the order of the IDs');
    await webhooks.changeWebhook(tenant.id, one, { url: { url: 'https://c.test', target: 'https://c.test/' } });
    const secret = { masterKeyId: 'master1', sealed: Buffer.from('second') };
    await webhooks.rotateWebhookSecret(tenant.id, one, { secret, at: T0, previousUntil: T0 + 1 });
    await webhooks.deleteWebhook(tenant.id, other);
    const [deleted, , changed] = await read();
    t.equal(deleted, null);
    t.strictSame(changed, { ...endpoint, target: 'https://c.test/', secrets: [secret, ...endpoint!.secrets] });
    t.match(await webhooks.readEndpoints([one], T0 + 1), [{ secrets: [secret] }]);
    t.strictSame(await webhooks.readEndpoints([], T0), []);
  },

  'failing for long is told once, until it works again': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    const round = async (at: number, end: DeliveryEnd) => {
      await happen(bench, domain);
      await record(bench, (await claim(bench, webhookId, T0 + 9e6)).deliveries[0]!, end, at);
      const failing = await bench.store.webhooks.listFailingWebhooks(at - TOLD_AFTER_MS);
      for (const failure of failing) t.equal(await bench.store.webhooks.noteFailureTold(failure, at), true);
      return failing;
    };
    t.strictSame(await round(T0, { to: 'failed' }), []);
    t.strictSame(await round(T0 + 999, { to: 'failed' }), []);
    t.match(await round(T0 + 1000, { to: 'failed' }), [{ webhookId, tenantId: tenant.id, failingSince: T0 }]);
    t.strictSame(await round(T0 + 5000, { to: 'failed' }), []);
    const note = (failingSince: number) => bench.store.webhooks.noteFailureTold({ webhookId, failingSince }, T0 + 5000);
    t.equal(await note(T0), false, 'it was told');
    t.match(await bench.store.webhooks.listWebhookHealth(tenant.id), [{ failingSince: T0, failed: 4 }]);
    await round(T0 + 6000, { to: 'delivered' });
    t.match(await bench.store.webhooks.listWebhookHealth(null), [{ failingSince: null }]);
    t.strictSame(await round(T0 + 7000, { to: 'failed' }), []);
    t.equal(await note(T0), false, 'that failure is over');
    t.match(await round(T0 + 8000, { to: 'failed' }), [{ failingSince: T0 + 7000 }]);

    const { webhooks } = bench.store;
    const [url, target] = ['https://other.test', 'https://other.test/'];
    await webhooks.changeWebhook(tenant.id, webhookId, { description: 'still failing' });
    t.match(await webhooks.listWebhookHealth(tenant.id), [{ failingSince: T0 + 7000 }]);
    await webhooks.changeWebhook(tenant.id, webhookId, { url: { url, target } });
    t.match(
      await webhooks.listWebhookHealth(tenant.id),
      [{ url, failingSince: null }],
      'of another target nothing is known',
    );
    t.strictSame(await round(T0 + 9000, { to: 'failed' }), []);
    t.match(await round(T0 + 10_000, { to: 'failed' }), [{ url, failingSince: T0 + 9000 }], 'and it is told again');
  },

  'a replaced secret is handed out until its end': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const webhookId = await webhookOf(bench, tenant.id);
    const sealed = async (now: number) => {
      await happen(bench, domain);
      return (await claim(bench, webhookId, now)).endpoint!.secrets.map((secret) => String(secret.sealed));
    };
    const rotate = (tenantId: string, text: string, previousUntil: number, at = T0) =>
      bench.store.webhooks.rotateWebhookSecret(tenantId, webhookId, {
        secret: { masterKeyId: 'master1', sealed: Buffer.from(text) },
        ...{ at, previousUntil },
      });
    t.equal(await rotate(bench.id(), 'stolen', T0 + 100), false);
    t.equal(await rotate(tenant.id, 'second', T0 + 100), true);
    t.strictSame(await sealed(T0), ['second', 'first']);
    t.equal(await rotate(tenant.id, 'third', T0 + 150, T0 + 50), true);
    t.strictSame(await sealed(T0 + 99), ['third', 'second', 'first'], 'the first one keeps its end');
    t.strictSame(await sealed(T0 + 100), ['third', 'second']);
    t.strictSame(await sealed(T0 + 150), ['third']);
    t.equal(await rotate(tenant.id, 'fourth', T0 + 250, T0 + 120), true);
    const kept = await bench.store.webhooks.listWebhookSecrets(tenant.id, webhookId, T0);
    t.strictSame(
      kept.map(({ expiresAt }) => expiresAt),
      [null, T0 + 250, T0 + 150],
      'what had ended is erased',
    );
    for (const text of ['fifth', 'sixth', 'seventh']) await rotate(tenant.id, text, T0 + 260, T0 + 130);
    t.strictSame(await sealed(T0 + 130), ['seventh', 'sixth', 'fifth', 'fourth', 'third'], 'never more than five');
    t.equal(await bench.store.webhooks.ownerOfWebhook(webhookId), tenant.id);
    t.equal(await bench.store.webhooks.ownerOfWebhook(bench.id()), null);
  },
};
