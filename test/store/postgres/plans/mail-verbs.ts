// The verbs that run for every message, and what operators do to the queue.
import { deliveredEvent } from '../../../../src/events/delivery-events.ts';
import type { ClaimedMessage } from '../../../../src/store/queue.ts';
import { untried } from '../../../support/first-slot.ts';
import { type Bench, dueAgainFrom, T0 } from '../../conformance/harness.ts';
import { gate } from '../../conformance/limits.ts';
import { type Asked, HOUR_MS, type HotVerbs, together } from './asked.ts';
import { BEGIN, BIG_TENANT, DOMAIN_OF_BIG_TENANT, idOf, QUIET_NODE } from './filled.ts';

export function acceptVerbs({ bench, samples }: Asked): HotVerbs {
  const { store } = bench;
  const domain = { id: DOMAIN_OF_BIG_TENANT, tenantId: BIG_TENANT, name: 'sender0.test' } as Parameters<
    Bench['submission']
  >[0];
  const submission = (to: string[], change = {}) => bench.submission(domain, to, change);
  const accept = (to: string[], change = {}) => store.submissions.accept(submission(to, change));
  return {
    accept: () => together((n) => accept([`new-${n}@in${n}.test`])),
    'accept, begun': async () => {
      const begin = { owner: await bench.owner(), dueAgainAt: T0 + HOUR_MS };
      await together((n) => accept([`begun-${n}@in0.test`], { begin, slot: begin.owner.slot }));
    },
    'accept again': () => together((n) => accept([`new-${n}@in${n}.test`], { idempotencyKey: `call ${4 * n}` })),
    'accept for suppressed addresses': () => together((n) => accept([`gone-${4 * n}@in.test`])),
    'accept with labels': () => accept(['a@in0.test', 'b@in1.test'], { labels: { tags: { a: 'b' }, metadata: null } }),
    'accept for later': () => accept(['a@in0.test'], { sendAt: T0 + HOUR_MS }),
    acceptBatch: () => {
      const refusal = { error: 'x', message: 'x' };
      const refusalOf = { all_suppressed: refusal, domain_not_verified: refusal, tenant_not_active: refusal };
      const entry = { kind: 'submission' as const, submission: submission(['c@in0.test']), refusalOf };
      const batch = { tenantId: BIG_TENANT, idempotencyKey: bench.id(), acceptedAt: T0 };
      return store.submissions.acceptBatch({ ...batch, entries: [entry], skipsRefused: true });
    },
    findReceipt: () => together((n) => store.submissions.findReceipt(BIG_TENANT, `call ${4 * n}`)),
    findBatch: () => store.submissions.findBatch(BIG_TENANT, 'batch 0'),
    findSendingFacts: () => store.submissions.findSendingFacts(BIG_TENANT, DOMAIN_OF_BIG_TENANT),
    findApiKey: () => store.keys.findApiKey('00000000000000000000000000000000'),
    findApiKeyBySecret: () => store.keys.findApiKeyBySecret('x', Buffer.alloc(32)),
    noteKeyUses: () => store.keys.noteKeyUses([{ keyId: idOf('key 0'), at: T0 }]),
    findVerifiedDomain: () => store.domains.findVerifiedDomain(BIG_TENANT, 'sender0.test'),
    findLiveDomain: () => store.domains.findLiveDomain(BIG_TENANT, 'sender0.test'),
    spendCalls: () => store.limits.spendCalls([{ id: idOf('bucket 7'), costMs: 10 }]),
    takePortions: () =>
      store.limits.takePortions([
        { subject: 'tenant 7', limit: 1e9, spanMs: HOUR_MS, wanted: 5, returned: 1 },
        { subject: 'group 8', limit: 1e9, spanMs: HOUR_MS, wanted: 5, returned: 0 },
      ]),
    shareConnections: () =>
      store.limits.shareConnections([
        { mxGroup: 'mx7.test', node: 'test', limit: 9, kept: 0, wanted: 5, leaseMs: HOUR_MS },
        { mxGroup: 'mx8.test', node: 'test', limit: 9, kept: 0, wanted: 0, leaseMs: HOUR_MS },
      ]),
    takeAttempt: () => store.limits.takeAttempt([gate('one')], T0),
    cancel: async () => {
      const [id] = samples.scheduled;
      await store.queue.findWaiting(id!);
      await store.queue.endWaiting(bench.update({ id: id!, tenantId: BIG_TENANT }, { to: 'canceled', reason: 'x' }));
    },
    moveScheduled: () =>
      store.queue.moveScheduled(BIG_TENANT, samples.submissions[0]!, { sendAt: T0 + 5, expiresAt: T0 + HOUR_MS }),
  };
}

export function claimVerbs({ bench, contents, samples }: Asked): HotVerbs {
  const { store } = bench;
  let claimed: ClaimedMessage[] = [];
  const claim = async (limit: number, lanes = samples.lanes.slice(0, 4)) => {
    claimed = (await Promise.all(lanes.map((lane) => bench.claim(lane, T0, limit)))).flat();
    if (claimed.length < 2) throw new Error('nothing was claimed');
  };
  const record = (message: ClaimedMessage, transition: Parameters<Bench['attempted']>[1]) => {
    const update = bench.attempted(message, transition);
    const { peer, attempt } = update.attempt!;
    const event = deliveredEvent(bench.event('email.delivered'), message, { peer, attempt });
    return store.queue.record([{ ...update, event }]);
  };
  const suppress = { mxGroup: 'mx1.test', rule: 'rule-1', platformExpiresAt: T0 + HOUR_MS };
  return {
    dueLanes: () => store.queue.dueLanes([1]),
    claim: () => claim(10),
    'contents of what is claimed': async () => {
      for (const result of await contents.readSome(claimed.map(({ id }) => id))) {
        if (result.kind === 'unreadable' && !/signing|key/.test(result.reason)) throw new Error(result.reason);
      }
    },
    release: () => store.queue.release(claimed.map(untried), T0),
    'claim again': () => claim(10),
    'record as delivered': () => Promise.all(claimed.map((message) => record(message, { to: 'delivered' }))),
    'claim for retries': () => claim(5, samples.lanes.slice(14, 18)),
    'record as deferred': () =>
      Promise.all(
        claimed.map((message) =>
          record(message, { to: 'deferred', dueAt: T0 + HOUR_MS, reason: '451', ambiguous: false }),
        ),
      ),
    'claim for bounces': () => claim(5, samples.lanes.slice(10, 14)),
    'record as bounced': () =>
      Promise.all(
        claimed.map((message) => {
          const note = { ...suppress, suppressionKey: message.recipient };
          return record(message, { to: 'bounced', bounce: 'hard', reason: '550', suppress: note });
        }),
      ),
    recordLate: () => store.queue.recordLate(claimed.map((message) => bench.attempted(message, { to: 'delivered' }))),
    'claim from an address': async () => {
      const address = '192.0.2.1';
      const candidates = [{ ip: address, weight: 1, warm: false, pause: null }];
      const from = { address, facts: { mxGroup: 'mx1.test', candidates, none: '', ramp: [100] } };
      const terms = { owner: await bench.owner(), now: T0, dueAgainAt: dueAgainFrom(T0), from };
      await store.queue.claim(samples.lanes[5]!, 10, terms);
    },
    peekDue: () => store.sources.peekDue(samples.lanes[6]!, { now: T0, mxGroup: 'mx1.test', limit: 10 }),
    takeSlots: () =>
      store.owners.takeSlots({
        ...{ node: 'taker', slots: 1, newSlots: 0, now: T0 + HOUR_MS, leaseUntil: T0 + 2 * HOUR_MS },
        spare: [samples.waiting[0]!],
      }),
    isSlotIdle: () => store.owners.isSlotIdle(3),
    'isSlotIdle of one that is': () => store.owners.isSlotIdle(99),
    letGoOfIdleSlot: () => store.owners.letGoOfIdleSlot({ slot: 99, epoch: 1 }),
    keepSlots: async () => {
      const owners = [await bench.owner()];
      await store.owners.keepSlots({ owners, node: 'test', version: '1', startedAt: 0, now: T0, leaseUntil: T0 });
    },
    leadTimer: () => store.owners.leadTimer({ name: 'x', node: QUIET_NODE, now: T0, leaseUntil: T0 }),
  };
}

export function queueVerbs({ bench, samples }: Asked): HotVerbs {
  const { store } = bench;
  const { delivered, waiting, parked, lanes } = samples;
  return {
    expired: () => store.queue.expired([1], T0, 10),
    'expired, some': () => store.queue.expired([1], T0 + 25 * HOUR_MS, 10),
    nextScheduled: () => store.queue.nextScheduled(),
    dueScheduled: () => store.queue.dueScheduled(T0 + 5000, 10),
    queueSummary: () => store.queue.queueSummary(),
    listQueue: () => store.queue.listQueue({ limit: 10 }),
    'listQueue of a domain': () => store.queue.listQueue({ domain: 'in3.test', limit: 10 }),
    'listQueue of a tenant': () => store.queue.listQueue({ tenantId: idOf('tenant 3'), limit: 10 }),
    'listQueue of a group': () => store.queue.listQueue({ group: 'mx3.test', limit: 10 }),
    listSending: () => store.queue.listSending([1], null, 100),
    findOrphanLanes: () => store.queue.findOrphanLanes(0, 100),
    getMessage: () => together((n) => store.queue.getMessage(delivered[n]!)),
    findMessage: () => store.queue.findMessage(BIG_TENANT, waiting[0]!),
    findSubmission: () => store.queue.findSubmission(BIG_TENANT, samples.submissions[0]!),
    findWaitingOf: () => store.queue.findWaitingOf(BIG_TENANT, samples.submissions[0]!),
    findWaiting: () => store.queue.findWaiting(waiting[0]!),
    retryNow: () => store.queue.retryNow(parked[0]!, T0),
    countHeld: () => store.queue.countHeld(1000),
    countUnsendable: () => store.queue.countUnsendable(1000),
    'releaseHeld of a tenant': () => store.queue.releaseHeld({ now: T0, limit: 10, tenantId: BIG_TENANT }),
    releaseHeld: () => store.queue.releaseHeld({ now: T0, limit: 10 }),
    loadShaping: () => store.shaping.loadShaping(T0),
    'lanesOf a tenant': () => store.shaping.lanesOf({ kind: 'tenant', key: BIG_TENANT }, null, 10),
    'lanesOf a domain': () => store.shaping.lanesOf({ kind: 'domain', key: 'in3.test' }, null, 10),
    'lanesOf a group': () => store.shaping.lanesOf({ kind: 'group', key: 'mx3.test' }, null, 10),
    makeLaneDue: () => store.shaping.makeLaneDue(lanes[7]!, { at: T0, limit: 10 }),
    'makeLaneDue of what was put off': () => store.shaping.makeLaneDue(lanes[7]!, { at: T0, limit: 10, putOff: true }),
    waitingOfLane: () => store.shaping.waitingOfLane(lanes[8]!, 10),
    noteDomains: () =>
      store.shaping.noteDomains(
        [3, 4, 5].map((n) => ({ domain: `in${n}.test`, mxGroup: `mx${n}.test`, at: T0 })),
        T0,
      ),
    groupOfDomain: () => store.shaping.groupOfDomain('in3.test'),
    isKnownGroup: () => store.shaping.isKnownGroup('mx3.test'),
    forgetDomains: () => store.shaping.forgetDomains(BEGIN + 5000, 10),
    listOperatorNotes: () =>
      store.shaping.listOperatorNotes({ target: { kind: 'domain', key: 'in3.test' }, limit: 10 }),
    parkLane: () => store.queue.parkLane(lanes[9]!, 10, 'x'),
    countOpenMessages: () => store.figures.countOpenMessages(),
  };
}
