// Conformance: opens and clicks.
import type { Test } from 'tap';
import type { HitUpdate } from '../../../src/store/tracking.ts';
import { type Bench, T0 } from './harness.ts';

/** A delivered message. */
async function delivered(bench: Bench) {
  const { domain, tenant } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'Jo@x.test');
  await bench.store.queue.record([bench.attempted(message, { to: 'delivered' })]);
  return { tenant, message };
}

function hit(message: { id: string; tenantId: string }, change: Partial<HitUpdate> = {}): HitUpdate {
  const { id: messageId, tenantId } = message;
  return { tenantId, messageId, link: 0, hits: 1, firstAt: T0, lastAt: T0, event: null, ...change };
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

  'fetches add up, link by link': async (t: Test, bench: Bench) => {
    const { tenant, message } = await delivered(bench);
    const clicked = { ...bench.event('email.clicked', { n: 1 }), at: T0 + 5 };
    const opened = { ...bench.event('email.opened', { n: 2 }), at: T0 + 6 };
    await bench.store.tracking.recordHits([
      hit(message, { hits: 3, lastAt: T0 + 9, event: clicked }),
      hit(message, { link: null, event: opened }),
      hit(message, { link: 7 }),
    ]);
    await bench.store.tracking.recordHits([hit(message, { hits: 2, firstAt: T0 + 20, lastAt: T0 + 30 })]);
    const found = await bench.store.tracking.findTracked(tenant.id, message.id);
    const byLink = found!.links.toSorted((one, other) => (one.link ?? -1) - (other.link ?? -1));
    t.strictSame(byLink, [
      { link: null, hits: 1, events: 1, lastAt: T0, lastEventAt: T0 + 6 },
      { link: 0, hits: 5, events: 1, lastAt: T0 + 30, lastEventAt: T0 + 5 },
      { link: 7, hits: 1, events: 0, lastAt: T0, lastEventAt: null },
    ]);
    const events = await bench.store.events.eventsOfMessage(tenant.id, message.id);
    t.match(events, [
      { id: clicked.id, type: 'email.clicked', at: T0 + 5, data: { n: 1 } },
      { id: opened.id, type: 'email.opened' },
    ]);
    t.equal(events.length, 2);
  },

  'what belongs to no message of that tenant is left out, and takes nothing with it': async (t: Test, bench: Bench) => {
    const { tenant, message } = await delivered(bench);
    const stranger = await bench.tenant();
    await bench.store.tracking.recordHits([
      hit({ id: bench.id(), tenantId: tenant.id }, { event: bench.event('email.clicked') }),
      hit({ id: message.id, tenantId: stranger.id }, { event: bench.event('email.clicked') }),
      hit(message, { link: 1 }),
    ]);
    t.match(await bench.store.tracking.findTracked(tenant.id, message.id), { links: [{ link: 1, hits: 1 }] });
    t.strictSame(await bench.store.events.listEvents(tenant.id, { after: null, limit: 10 }), []);
    t.strictSame(await bench.store.events.listEvents(stranger.id, { after: null, limit: 10 }), []);
  },
};
