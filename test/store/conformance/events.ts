// Conformance: events in the order of their commits, and the cursor over them.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { StoredEvent } from '../../../src/store/events.ts';
import type { ClaimedMessage } from '../../../src/store/queue.ts';
import { type Bench, countAll, T0 } from './harness.ts';

const DAY = 86_400_000;

export const eventCases = {
  'events come in the order of their commits, whatever their ids': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const younger = bench.event('email.deferred', { n: 1, nested: { ключ: ['ü', null, 1.5] } });
    const older = {
      ...bench.event('email.deferred', { n: 2 }),
      at: T0 - 5000,
      id: '018bcfe5-0000-7000-8000-000000000000',
    };
    await defer(bench, message, younger);
    await defer(bench, message, older);
    const events = await bench.store.events.listEvents(tenant.id, { after: null, limit: 10 });
    const of = { tenantId: tenant.id, messageId: message.id };
    t.strictSame(events, [
      { ...younger, ...of },
      { ...older, ...of },
    ]);
    t.strictSame(await bench.store.events.eventsOfMessage(tenant.id, message.id), events);
  },

  'the cursor walks over all events once': async (t: Test, bench: Bench) => {
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    const written: string[] = [];
    for (let n = 0; n < 7; n++) {
      written.push((await deliver(bench, one.domain)).id);
      await deliver(bench, two.domain);
    }
    const seen: string[] = [];
    let after: string | null = null;
    for (;;) {
      const page: StoredEvent[] | 'unknown' = await bench.store.events.listEvents(one.tenant.id, { after, limit: 3 });
      if (page === 'unknown') throw new Error('unknown cursor');
      if (page.length === 0) break;
      t.ok(page.length <= 3);
      seen.push(...page.map((event) => event.id));
      after = page.at(-1)!.id;
    }
    t.strictSame(seen, written);
    const late = await deliver(bench, one.domain);
    const next = await bench.store.events.listEvents(one.tenant.id, { after, limit: 3 });
    t.strictSame(
      (next as StoredEvent[]).map((event) => event.id),
      [late.id],
      'what comes later is found from the same cursor',
    );
  },

  "unknown cursors, and another tenant's": async (t: Test, bench: Bench) => {
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    const event = await deliver(bench, one.domain);
    const foreign = await deliver(bench, two.domain);
    const from = (after: string) => bench.store.events.listEvents(one.tenant.id, { after, limit: 10 });
    t.strictSame(await from(event.id), []);
    t.strictSame(await from(event.id.toUpperCase()), [], 'in any case');
    t.equal(await from(bench.id()), 'unknown');
    t.equal(await from(foreign.id), 'unknown');
  },

  'the feed goes on from an erased event until an old one came after it': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    const first = await deliver(bench, one.domain);
    const last = await deliver(bench, one.domain);
    const foreign = await deliver(bench, two.domain);
    const after = (event: StoredEvent) => idsAfter(bench, event);
    const erase = async (before: number) => {
      await countAll(store);
      return (await store.upkeep.eraseRecords(before, 1000)).erased;
    };

    t.equal(await erase(T0 + DAY), 3);
    t.same(await after(last), [], 'a quiet tenant has missed nothing');
    t.same(await after(foreign), []);
    t.equal(await after(first), 'unknown', 'one was missed');
    t.equal(await after({ ...last, tenantId: two.tenant.id }), 'unknown', "another tenant's");

    const young = await deliver(bench, one.domain, T0 + 10 * DAY);
    t.same(await after(last), [young.id], 'what came since is found');
    await deliver(bench, two.domain, T0 + 2 * DAY);
    t.equal(await erase(T0 + 5 * DAY), 1);
    t.same(await after(last), [young.id], "also after another tenant's were erased");
    t.equal(await after(foreign), 'unknown');

    t.equal(await erase(T0 + 11 * DAY), 1);
    t.same(await after(young), []);
    t.equal(await after(last), 'unknown');
  },

  'the feed goes on from a young event that was erased with its old message': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const old = await deliver(bench, domain);
    const late = await deliver(bench, domain, T0, T0 + 3 * DAY);
    const next = await deliver(bench, domain, T0 + 4 * DAY);
    await countAll(bench.store);
    t.match(await bench.store.upkeep.eraseRecords(T0 + DAY, 1000), { erased: 2 });
    t.same(await idsAfter(bench, old), [next.id]);
    t.same(await idsAfter(bench, late), [next.id]);
    t.match(await bench.store.upkeep.eraseRecords(T0 + 5 * DAY, 1000), { erased: 1 });
    for (const event of [old, late]) t.equal(await idsAfter(bench, event), 'unknown');
    t.same(await idsAfter(bench, next), []);
  },

  'events that were recorded together come in the order in which they were given': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const recipients = ['a@x.test', 'b@x.test', 'c@x.test', 'd@x.test'];
    const messages = [];
    for (const recipient of recipients) messages.push(await bench.sending(domain, recipient));
    // The first has the most to write, the last the least.
    const suppress = {
      suppressionKey: 'a@x.test',
      mxGroup: 'mx.x.test',
      rule: 'smtp 5.1.1',
      platformExpiresAt: T0 * 2,
    };
    const updates = [
      bench.attempted(
        messages[0]!,
        { to: 'bounced', bounce: 'hard', reason: '550', suppress },
        bench.event('email.bounced'),
      ),
      bench.attempted(messages[1]!, { to: 'failed', reason: 'expired' }, bench.event('email.failed')),
      bench.attempted(messages[2]!, { to: 'delivered' }, bench.event('email.delivered')),
      bench.attempted(
        messages[3]!,
        { to: 'deferred', dueAt: T0, reason: '451', ambiguous: false },
        bench.event('email.deferred'),
      ),
    ];
    await bench.store.queue.record(updates);
    const events = (await bench.store.events.listEvents(tenant.id, { after: null, limit: 10 })) as StoredEvent[];
    t.strictSame(
      events.map(({ id, type }) => ({ id, type })),
      updates.map(({ event }) => ({ id: event!.id, type: event!.type })),
    );
  },

  'events of many messages written at once are all there': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const written = await Promise.all(Array.from({ length: 40 }, () => deliver(bench, domain)));
    const events = (await bench.store.events.listEvents(tenant.id, { after: null, limit: 100 })) as StoredEvent[];
    t.strictSame(events.map((event) => event.id).sort(), written.map((event) => event.id).sort());
  },
};

async function idsAfter({ store }: Bench, { tenantId, id }: StoredEvent): Promise<string[] | 'unknown'> {
  const events = await store.events.listEvents(tenantId, { after: id, limit: 10 });
  return events === 'unknown' ? events : events.map((event) => event.id);
}

/** A message from acceptance to its delivery. */
async function deliver(bench: Bench, domain: Domain, at = T0, eventAt = at): Promise<StoredEvent> {
  const { receipt } = await bench.accept(domain, ['a@x.test']);
  const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
  const event = { ...bench.event('email.delivered'), at: eventAt };
  await bench.store.queue.endWaiting({ ...bench.update(message, { to: 'delivered' }, { event }), at });
  return { ...event, tenantId: domain.tenantId, messageId: message.id };
}

async function defer(bench: Bench, message: ClaimedMessage, event: ReturnType<Bench['event']>): Promise<void> {
  const transition = { to: 'deferred', dueAt: T0, reason: '451', ambiguous: false } as const;
  const [claimed] = await bench.claim(message.lane, T0);
  await bench.store.queue.record([bench.update(claimed ?? message, transition, { event })]);
}
