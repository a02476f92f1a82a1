// Conformance: opens and clicks.
import type { Test } from 'tap';
import { MINUTE_MS } from '../../../src/base/clock.ts';
import type { MachineTiming, NewHits } from '../../../src/store/tracking.ts';
import { type Bench, T0 } from './harness.ts';

/** A delivered message. */
async function delivered(bench: Bench) {
  const { domain, tenant } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'Jo@x.test');
  await bench.store.queue.record([bench.attempted(message, { to: 'delivered' })]);
  return { tenant, message };
}

/** Timing by which nothing is suspicious. */
export const UNSUSPICIOUS: MachineTiming = {
  beforeDeliveryMs: MINUTE_MS,
  burstLinks: 100,
  burstWithinMs: 0,
  burstAfterDeliveryMs: 0,
};

export function newHits(bench: Pick<Bench, 'id'>, change: Partial<NewHits> = {}): NewHits {
  const { firstAt: at = T0 } = change;
  return {
    link: 0,
    url: change.link === null ? '' : 'https://acme.test/',
    linkCount: change.link === null ? 0 : 9,
    hits: 1,
    firstAt: at,
    lastAt: at,
    shown: { at, ip: '192.0.2.1', userAgent: 'Firefox', machineReason: null },
    eventId: bench.id(),
    ...change,
  };
}

export const trackingCases = {
  'a message as events quote it': async (t: Test, bench: Bench) => {
    const { tenant, message } = await delivered(bench);
    t.strictSame(await bench.store.tracking.findTracked(tenant.id, message.id), {
      id: message.id,
      tenantId: tenant.id,
      submissionId: message.submissionId,
      from: 'news@acme.test',
      fromDomain: 'acme.test',
      recipient: 'Jo@x.test',
      subject: 'Hello',
      labels: null,
      state: 'delivered',
      finishedAt: T0 + 1000,
      attempts: 1,
      links: [],
    });
    t.equal(await bench.store.tracking.findTracked(tenant.id, bench.id()), null);
    t.equal(await bench.store.tracking.findTracked(bench.id(), message.id), null, "another tenant's");
  },

  'fetches add up, link by link, and one a minute becomes an event': async (t: Test, bench: Bench) => {
    const { tenant, message } = await delivered(bench);
    const of = { tenantId: tenant.id, messageId: message.id };
    const record = (...links: NewHits[]) => bench.store.tracking.recordHits([{ ...of, links }], UNSUSPICIOUS);
    const at = T0 + MINUTE_MS;
    const clicked = newHits(bench, { hits: 3, firstAt: at, lastAt: at + 9 });
    const opened = newHits(bench, { link: null, firstAt: at + 1 });
    await record(clicked, opened, newHits(bench, { link: 7, firstAt: at + 2 }));
    await record(newHits(bench, { hits: 2, firstAt: at + 20, lastAt: at + 30 }));
    const found = await bench.store.tracking.findTracked(tenant.id, message.id);
    const byLink = found!.links.toSorted((one, other) => (one.link ?? -1) - (other.link ?? -1));
    t.strictSame(byLink, [
      { link: null, hits: 1, events: 1, lastAt: at + 1, lastEventAt: at + 1 },
      { link: 0, hits: 5, events: 1, lastAt: at + 30, lastEventAt: at },
      { link: 7, hits: 1, events: 1, lastAt: at + 2, lastEventAt: at + 2 },
    ]);
    await record(newHits(bench, { firstAt: at + MINUTE_MS }));
    const events = await bench.store.events.eventsOfMessage(tenant.id, message.id);
    t.match(events, [
      {
        id: clicked.eventId,
        type: 'email.clicked',
        at,
        data: { message_id: message.id, to: 'Jo@x.test', click: { link_index: 0, first: true, machine: false } },
      },
      { id: opened.eventId, type: 'email.opened', at: at + 1, data: { open: { first: true } } },
      { type: 'email.clicked', data: { click: { link_index: 7, first: true } } },
      { type: 'email.clicked', at: at + MINUTE_MS, data: { click: { link_index: 0, first: false } } },
    ]);
    t.equal(events.length, 4);
  },

  'fetches recorded at the same moment make one event, and all count': async (t: Test, bench: Bench) => {
    const { tenant, message } = await delivered(bench);
    const record = () => {
      const links = [newHits(bench, { firstAt: T0 + MINUTE_MS })];
      return bench.store.tracking.recordHits([{ tenantId: tenant.id, messageId: message.id, links }], UNSUSPICIOUS);
    };
    await Promise.all(Array.from({ length: 5 }, record));
    t.match(await bench.store.tracking.findTracked(tenant.id, message.id), { links: [{ hits: 5, events: 1 }] });
    t.equal((await bench.store.events.eventsOfMessage(tenant.id, message.id)).length, 1);
  },

  'the time of a fetch can show a machine': async (t: Test, bench: Bench) => {
    const { tenant, message } = await delivered(bench);
    const links = [newHits(bench, { link: null, firstAt: T0 - 1 })];
    const timing = { ...UNSUSPICIOUS, beforeDeliveryMs: 1000 };
    await bench.store.tracking.recordHits([{ tenantId: tenant.id, messageId: message.id, links }], timing);
    const [event] = await bench.store.events.eventsOfMessage(tenant.id, message.id);
    const reason = 'The receiving server had not accepted the message yet.';
    t.match(event, { data: { open: { machine: true, machine_reason: reason } } });
  },

  'what belongs to no message of that tenant is left out, and takes nothing with it': async (t: Test, bench: Bench) => {
    const { tenant, message } = await delivered(bench);
    const stranger = await bench.tenant();
    const hits = (tenantId: string, messageId: string) => ({ tenantId, messageId, links: [newHits(bench)] });
    await bench.store.tracking.recordHits(
      [hits(tenant.id, bench.id()), hits(stranger.id, message.id), hits(tenant.id, message.id)],
      UNSUSPICIOUS,
    );
    t.match(await bench.store.tracking.findTracked(tenant.id, message.id), { links: [{ link: 0, hits: 1 }] });
    t.equal((await bench.store.events.listEvents(tenant.id, { after: null, limit: 10 })).length, 1);
    t.strictSame(await bench.store.events.listEvents(stranger.id, { after: null, limit: 10 }), []);
  },
};
