// Conformance: mail for later, from its acceptance until it is queued, moved or canceled.
import type { Test } from 'tap';
import { DAY_MS, HOUR_MS } from '../../../src/base/clock.ts';
import type { Domain } from '../../../src/store/domains.ts';
import type { ContentResult } from '../../../src/store/submissions.ts';
import { type Bench, LIFETIME_MS, T0 } from './harness.ts';

export const LATER = T0 + HOUR_MS;

interface Scheduled {
  submissionId: string;
  ids: string[];
}

export async function schedule(bench: Bench, domain: Domain, to: string[], sendAt = LATER): Promise<Scheduled> {
  const { receipt, lanes } = await bench.accept(domain, to, { sendAt, expiresAt: sendAt + LIFETIME_MS });
  if (lanes.length > 0) throw new Error('lanes of mail that must wait');
  return { submissionId: receipt.id, ids: receipt.messageIds };
}

export function asDue({ tenantId }: Domain, ids: string[], suppressionKey = 'a@x.test') {
  return ids.map((id) => ({ id, tenantId, suppressionKey }));
}

export const scheduledCases = {
  'it waits outside of the queue until its time': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { queue } = bench.store;
    t.equal(await queue.nextScheduled(), null);
    const { submissionId, ids } = await schedule(bench, domain, ['a@x.test']);
    t.match(await bench.message(ids[0]!), { state: 'scheduled', dueAt: LATER, attempts: 0 });
    t.equal((await queue.findSubmission(domain.tenantId, submissionId))!.sendAt, LATER);
    t.same(await queue.dueLanes([1]), []);
    t.same(await queue.queueSummary(), []);
    t.equal(await queue.nextScheduled(), LATER);
    t.same(await queue.dueScheduled(LATER - 1, 10), []);
    const [due] = await queue.dueScheduled(LATER, 10);
    t.match(due, { id: ids[0], sendAt: LATER, expiresAt: LATER + LIFETIME_MS });
    t.equal(await bench.store.figures.countOpenMessages(), 1);
  },

  'couriers read the time that it was scheduled for as its date': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const later = await schedule(bench, domain, ['a@x.test', 'b@x.test']);
    const moved = await schedule(bench, domain, ['c@x.test']);
    const to = { sendAt: LATER + 7, expiresAt: LATER + 7 + LIFETIME_MS };
    await bench.store.queue.moveScheduled(domain.tenantId, moved.submissionId, to);
    const { receipt } = await bench.accept(domain, ['d@x.test'], { acceptedAt: T0 });
    const ids = [...later.ids, ...moved.ids, ...receipt.messageIds];
    const reader = bench.openContents();
    const dateOf = (read: ContentResult) => (read.kind === 'content' ? read.content.date : read.reason);
    const dates = [LATER, LATER, LATER + 7, T0];
    t.same((await reader.readSome(ids)).map(dateOf), dates);
    t.same((await Promise.all(ids.map((id) => reader.read(id)))).map(dateOf), dates, 'one by one');
    reader.close();
  },

  'what is due is queued, in the order of its times': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { queue } = bench.store;
    const second = await schedule(bench, domain, ['b@x.test'], LATER + 5);
    const first = await schedule(bench, domain, ['a@x.test']);
    const all = [...first.ids, ...second.ids];
    t.same(
      (await queue.dueScheduled(LATER + 5, 10)).map(({ id }) => id),
      all,
    );
    t.same(
      (await queue.dueScheduled(LATER + 5, 1)).map(({ id }) => id),
      first.ids,
    );
    const { lanes } = await queue.queueScheduled(asDue(domain, all), LATER);
    t.match(lanes, [{ domain: 'x.test', dueAt: LATER }], 'only what is due');
    t.equal(lanes.length, 1);
    const [claimed] = await bench.claim(lanes[0]!.lane, LATER);
    t.match(claimed, { id: first.ids[0], attempt: 1 });
    t.equal(await queue.nextScheduled(), LATER + 5);
  },

  'who is suppressed by then stays, and its reason is told': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { ids } = await schedule(bench, domain, ['a@x.test', 'b@x.test']);
    const entry = { address: 'a@x.test', reason: 'hard_bounce', messageId: null, createdAt: T0 } as const;
    await bench.store.suppressions.addSuppression(domain.tenantId, entry);
    const due = [...asDue(domain, ids.slice(0, 1)), ...asDue(domain, ids.slice(1), 'b@x.test')];
    const { lanes, suppressed } = await bench.store.queue.queueScheduled(due, LATER);
    t.same(suppressed, [{ id: ids[0], reason: 'hard_bounce' }]);
    t.equal(lanes.length, 1);
    t.equal((await bench.message(ids[0]!)).state, 'scheduled');
    t.equal((await bench.message(ids[1]!)).state, 'queued');
    const usable = due.slice(0, 1).map((one) => ({ ...one, staysUsable: true }));
    t.equal((await bench.store.queue.queueScheduled(usable, LATER)).lanes.length, 1, 'where bounces do not count');
  },

  'what the platform suppresses counts as well': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { ids } = await schedule(bench, domain, ['a@x.test']);
    const entry = { address: 'a@x.test', mxGroup: null, rule: 'r', messageId: null, createdAt: T0 };
    await bench.store.suppressions.addPlatformSuppression({ ...entry, expiresAt: LATER });
    const { queue } = bench.store;
    t.match(await queue.queueScheduled(asDue(domain, ids), LATER - 1), { suppressed: [], lanes: [] }, 'not due');
    t.equal((await queue.queueScheduled(asDue(domain, ids), LATER)).lanes.length, 1, 'the entry is over by then');
  },

  'it is moved as long as it is scheduled, by its tenant alone': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { queue } = bench.store;
    const { submissionId, ids } = await schedule(bench, domain, ['a@x.test', 'b@x.test']);
    const times = { sendAt: LATER + DAY_MS, expiresAt: LATER + DAY_MS + LIFETIME_MS };
    t.equal(await queue.moveScheduled(bench.id(), submissionId, times), 0, 'a stranger');
    t.equal(await queue.moveScheduled(domain.tenantId, submissionId, times), 2);
    t.same((await queue.queueScheduled(asDue(domain, ids), LATER)).lanes, [], 'the old time means nothing');
    t.equal(await queue.nextScheduled(), times.sendAt);
    t.match(await queue.findWaiting(ids[0]!), times);
    t.equal((await queue.findSubmission(domain.tenantId, submissionId))!.sendAt, times.sendAt);
    await queue.queueScheduled(asDue(domain, ids.slice(0, 1)), times.sendAt);
    t.equal(await queue.moveScheduled(domain.tenantId, submissionId, times), 1, 'what is still scheduled');
  },

  'it is canceled, retried at once, or ended with its lane': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { queue, shaping } = bench.store;
    const { submissionId, ids } = await schedule(bench, domain, ['a@x.test', 'b@x.test', 'c@x.test']);
    const waiting = await queue.findWaitingOf(domain.tenantId, submissionId);
    t.same(
      waiting.map(({ id }) => id),
      ids,
    );
    t.same(await queue.findWaitingOf(bench.id(), submissionId), []);
    const update = bench.update(waiting[0]!, { to: 'canceled', reason: 'a mistake' });
    t.equal(await queue.endWaiting(update), true);
    t.equal(await queue.endWaiting(update), false);
    t.match(await bench.message(ids[0]!), { state: 'canceled', lastReason: 'a mistake', finishedAt: update.at });
    t.match(await queue.retryNow(ids[1]!, T0), { domain: 'x.test', dueAt: T0 });
    t.equal((await bench.message(ids[1]!)).state, 'scheduled', 'it is looked at once more');
    t.match(await queue.dueScheduled(T0, 10), [{ id: ids[1] }]);
    const left = await shaping.waitingOfLane(waiting[0]!.lane, 10);
    t.same(left.map(({ id }) => id).toSorted(), ids.slice(1).toSorted());
    t.equal(await bench.store.figures.countOpenMessages(), 2);
  },

  'a batch may have it beside what goes at once': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const refusal = { error: 'refused', message: 'Refused.' };
    const refusalOf = { all_suppressed: refusal, domain_not_verified: refusal, tenant_not_active: refusal };
    const entries = [{}, { sendAt: LATER }].map((change) => ({
      ...{ kind: 'submission' as const, refusalOf, submission: bench.submission(domain, ['a@x.test'], change) },
    }));
    const { tenantId } = domain;
    const batch = { tenantId, idempotencyKey: null, entries, skipsRefused: false, acceptedAt: T0 };
    const result = await bench.store.submissions.acceptBatch(batch);
    if (result.kind !== 'accepted') throw new Error(result.kind);
    t.match(result.results, [{ lanes: [{ domain: 'x.test' }] }, { lanes: [] }]);
    t.equal(await bench.store.queue.nextScheduled(), LATER);
  },
};
