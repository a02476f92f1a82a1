// Steps of the walk: mail is accepted, claimed, recorded, given back, recovered, paused and ended.
import { atStep } from '../../../src/base/backoff.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts';
import { Fault } from '../../../src/base/errors.ts';
import { noPeer, type PeerFacts } from '../../../src/base/outcome.ts';
import { deliveredEvent } from '../../../src/events/delivery-events.ts';
import type { EventType, NewEvent } from '../../../src/store/events.ts';
import type { Owner } from '../../../src/store/owners.ts';
import type { HardBounceNote, MessageUpdate, Transition } from '../../../src/store/queue.ts';
import type { AcceptResult, NewSubmission } from '../../../src/store/submissions.ts';
import { dueAgainFrom } from '../conformance/harness.ts';
import type { ModelMessage } from './model.ts';
import { ADDRESSES, GROUPS } from './tenant-steps.ts';
import type { Step, Walk } from './walk.ts';
import { asWritten, becomeAccepted, lacksPieces } from './written-steps.ts';

export function newEvent(walk: Walk, type: EventType, data: Record<string, unknown> = {}): NewEvent {
  return { id: walk.id(), type, at: walk.now, data };
}

export function newNote(walk: Walk, message: ModelMessage): HardBounceNote {
  const platformExpiresAt = walk.chance(0.8) ? walk.now + DAY_MS : null;
  const needsSecondTenant = walk.chance(0.5);
  const said = { suppressionKey: message.recipient, mxGroup: walk.oneOf(...GROUPS), rule: 'smtp 5.1.1' };
  return { ...said, platformExpiresAt, needsSecondTenant };
}

async function accept(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const domain = walk.pick(model.domains.values());
  if (!domain) return;
  const tenant = model.tenants.get(domain.tenantId)!;
  const addresses = ADDRESSES.filter(() => walk.chance(0.4));
  if (addresses.length === 0) return;
  const idempotencyKey = walk.chance(0.3) ? walk.oneOf('k1', 'k2') : null;
  const sendAt = walk.chance(0.2) ? walk.now + walk.oneOf(1000, HOUR_MS) : null;
  const expiresAt = (sendAt ?? walk.now) + walk.oneOf(HOUR_MS, DAY_MS);
  const submission = {
    ...{ id: walk.id(), tenantId: tenant.id, apiKeyId: walk.id(), domainId: domain.id, idempotencyKey },
    ...{ from: { address: `me@${domain.name}`, name: null }, subject: 'Hello', html: null, text: 'Hello', headers: [] },
    recipients: addresses.map((address) => ({
      ...{ messageId: walk.id(), address, name: null, domain: address.split('@')[1]!, suppressionKey: address },
    })),
    ...{ acceptedAt: walk.now, sendAt, expiresAt },
    ...asWritten(walk, tenant.id),
    ...(sendAt === null &&
      walk.chance(0.3) && { begin: { owner: randomOwner(walk), dueAgainAt: walk.now + MINUTE_MS } }),
  };
  const isBatch = idempotencyKey === null && walk.chance(0.2);
  const answer = isBatch ? acceptInBatch(walk, submission) : store.submissions.accept(submission);
  const result = await answer.catch((error: unknown) => {
    if (error instanceof Fault && lacksPieces(model, submission)) return null;
    throw error;
  });
  if (result === null) return;
  const first = [...model.submissions.values()].find(
    (one) => idempotencyKey !== null && one.tenantId === tenant.id && one.idempotencyKey === idempotencyKey,
  );
  if (first) {
    const receipt = result.kind === 'replayed' && { id: result.receipt.id, messageIds: result.receipt.messageIds };
    return walk.same(receipt, { id: first.id, messageIds: first.messageIds }, 'accept again');
  }
  if (tenant.status !== 'active') return walk.same(result.kind, 'tenant_not_active', 'accept');
  const reasonOf = (address: string) => model.suppressionReason(tenant.id, address, walk.now);
  const rejected = addresses.filter(reasonOf).map((to) => ({ to, reason: reasonOf(to) }));
  if (domain.state !== 'verified') return walk.same(result.kind, 'domain_not_verified', 'accept');
  if (rejected.length === addresses.length) return walk.same(result, { kind: 'all_suppressed', rejected }, 'accept');
  const taken = submission.recipients.filter(({ address }) => !reasonOf(address));
  const messageIds = taken.map(({ messageId }) => messageId);
  if (result.kind !== 'accepted') throw new Error(`not accepted: ${result.kind}`);
  walk.same(lacksPieces(model, submission), false, 'pieces are missing');
  if (submission.written) becomeAccepted(model, submission);
  walk.same(result.receipt, { id: submission.id, messageIds, rejected }, 'accept');
  model.submissions.set(submission.id, { id: submission.id, tenantId: tenant.id, idempotencyKey, messageIds });
  walk.same(result.lanes.length, sendAt === null ? taken.length : 0, 'lanes of what goes at once');
  const { begin } = submission;
  const begun = begin?.owner === walk.owner && taken.length === 1;
  walk.same(result.begun, begun, 'begun');
  for (const [index, { messageId: id, address: recipient }] of taken.entries()) {
    const lane = result.lanes[index]?.lane ?? (await store.queue.findWaiting(id))!.lane;
    model.messages.set(id, {
      ...{ id, tenantId: tenant.id, submissionId: submission.id, domainId: domain.id, recipient, expiresAt },
      ...{
        lane,
        state: begun ? 'sending' : sendAt === null ? 'queued' : 'scheduled',
        attempts: begun ? 1 : 0,
        dueAt: begun ? begin.dueAgainAt : (sendAt ?? walk.now),
        parked: false,
      },
      ...{ bounce: null, ambiguous: false, finishedAt: null, complained: false, recorded: new Set() },
      opens: { hits: 0, lastEventAt: null },
    });
  }
}

/** The one of now, or sometimes the one before. */
function randomOwner(walk: Walk): Owner {
  return walk.chance(0.2) ? walk.formerOwner : walk.owner;
}

/** A batch of one is answered as the submission alone would be. */
async function acceptInBatch(walk: Walk, submission: NewSubmission): Promise<AcceptResult> {
  const words = { error: 'refused', message: 'Refused.' };
  const refusalOf = { all_suppressed: words, domain_not_verified: words, tenant_not_active: words };
  const result = await walk.store.submissions.acceptBatch({
    ...{ tenantId: submission.tenantId, idempotencyKey: null, acceptedAt: walk.now, skipsRefused: walk.chance(0.5) },
    entries: [{ kind: 'submission', submission, refusalOf }],
  });
  if (result.kind === 'refused') return result.why;
  if (result.kind !== 'accepted') throw new Error(`not accepted: ${result.kind}`);
  return result.results[0]!;
}

function byDueTime(a: ModelMessage, b: ModelMessage): number {
  return a.dueAt! - b.dueAt! || (a.id < b.id ? -1 : 1);
}

async function claim(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const some = walk.pick(model.messages.values());
  if (!some) return;
  const limit = walk.oneOf(1, 2, 10);
  const dueAgainAt = dueAgainFrom(walk.now);
  const claimed = await store.queue.claim(some.lane, limit, { owner: walk.owner, now: walk.now, dueAgainAt });
  const ofLane = () =>
    [...model.messages.values()].filter(
      (one) => one.lane === some.lane && model.waiting(one) && one.expiresAt > walk.now,
    );
  const isActive = model.tenants.get(some.tenantId)!.status === 'active';
  const due = isActive ? ofLane().filter(({ dueAt }) => dueAt! <= walk.now) : [];
  const wanted = due.sort(byDueTime).slice(0, limit);
  for (const message of wanted) {
    message.state = 'sending';
    message.attempts++;
    message.dueAt = atStep(dueAgainAt, message.attempts)!;
  }
  const found = claimed.messages.map(({ id, attempt }) => ({ id, attempt }));
  walk.same(
    found,
    wanted.map(({ id, attempts: attempt }) => ({ id, attempt })),
    'claim',
  );
  const next = isActive ? Math.min(...ofLane().map(({ dueAt }) => dueAt!)) : Number.POSITIVE_INFINITY;
  walk.same(claimed.nextDueAt, Number.isFinite(next) ? next : null, 'the next that is due');
}

function randomTransition(walk: Walk, message: ModelMessage): Transition {
  const to = walk.oneOf('delivered', 'delivered', 'deferred', 'deferred', 'bounced', 'failed', 'parked');
  switch (to) {
    case 'delivered':
      return { to };
    case 'deferred':
      return { to, dueAt: walk.now + walk.oneOf(0, 1000, HOUR_MS), reason: '451', ambiguous: walk.chance(0.2) };
    case 'bounced': {
      const suppress = walk.chance(0.6) ? newNote(walk, message) : null;
      return { to, bounce: suppress ? 'hard' : 'soft', reason: '550', suppress };
    }
    case 'failed':
    case 'parked':
      return { to, reason: 'because' };
  }
}

const EVENT_OF = {
  delivered: 'email.delivered',
  deferred: 'email.deferred',
  bounced: 'email.bounced',
  failed: 'email.failed',
  canceled: 'email.canceled',
} as const;

/** Some of deliveries tell all of their attempt, as couriers' do; then it is kept in another way. */
function eventOf(walk: Walk, { to }: Transition, facts: { peer: PeerFacts; attempt: number }): NewEvent | null {
  if (to === 'parked' || (to === 'deferred' && walk.chance(0.5))) return null;
  const event = newEvent(walk, EVENT_OF[to]);
  return to === 'delivered' && walk.chance(0.7) ? deliveredEvent(event, NO_SUBJECT, facts) : event;
}

const NO_SUBJECT = { id: '', submissionId: '', from: '', recipient: '', subject: '', labels: null, fromDomain: '' };

function randomUpdate(walk: Walk, message: ModelMessage): MessageUpdate {
  const { id: messageId, tenantId, attempts: number } = message;
  const transition = randomTransition(walk, message);
  const outcome = transition.to === 'delivered' ? 'delivered' : transition.to === 'bounced' ? 'permanent' : 'temporary';
  const attempt = {
    messageId,
    tenantId,
    attempt: number,
    startedAt: walk.now,
    outcome,
    peer: noPeer('dot', 'said'),
  } as const;
  const event = eventOf(walk, transition, attempt);
  return {
    messageId,
    tenantId,
    at: walk.tick(),
    attempt: transition.to === 'parked' ? null : attempt,
    transition,
    event,
  };
}

/** What `record` is to do with a message that is not finished. */
function apply(walk: Walk, message: ModelMessage, { transition, event, attempt, at }: MessageUpdate): void {
  if (message.finishedAt !== null) return;
  if (attempt) message.recorded.add(attempt.attempt);
  if (transition.to === 'parked') Object.assign(message, { state: 'deferred', parked: true, dueAt: null });
  else if (transition.to === 'deferred') {
    Object.assign(message, { state: 'deferred', dueAt: transition.dueAt, ambiguous: transition.ambiguous });
  } else {
    Object.assign(message, { state: transition.to, dueAt: null, ambiguous: false, parked: false, finishedAt: at });
    if (transition.to === 'bounced') {
      message.bounce = transition.bounce;
      if (transition.suppress) walk.model.suppressHardBounce(message, at, transition.suppress);
    }
  }
  if (event) walk.model.addEvent(message, event);
}

function inState(walk: Walk, ...states: string[]): ModelMessage[] {
  return [...walk.model.messages.values()].filter(({ state }) => states.includes(state));
}

async function record(walk: Walk): Promise<void> {
  const messages = inState(walk, 'sending').filter(() => walk.chance(0.7));
  // A result that comes after the end of its message changes nothing.
  const finished = walk.chance(0.2) && walk.pick(inState(walk, 'delivered', 'bounced', 'failed', 'canceled'));
  const chosen = finished ? [...messages, finished] : messages;
  if (chosen.length === 0) return;
  const owner = randomOwner(walk);
  const updates = chosen.map((message) => {
    return { ...randomUpdate(walk, message), claim: { ...owner, attempt: message.attempts } };
  });
  const counts = ({ state }: ModelMessage) => state === 'sending' && owner === walk.owner;
  const dropped = chosen.filter((message) => !counts(message)).map(({ id }) => id);
  const { over } = await walk.store.queue.record(updates);
  walk.same(over, dropped, 'record');
  for (const [index, message] of chosen.entries()) if (counts(message)) apply(walk, message, updates[index]!);
}

async function recordLate(walk: Walk): Promise<void> {
  const message = walk.pick(inState(walk, 'sending', 'deferred', 'delivered'));
  if (!message || message.attempts === 0 || message.parked) return;
  const update = randomUpdate(walk, message);
  if (update.attempt === null) return;
  if (message.attempts > 1 && walk.chance(0.3)) update.attempt.attempt--;
  const { attempt } = update.attempt;
  const counts = attempt === message.attempts && !message.recorded.has(attempt) && message.finishedAt === null;
  walk.same(await walk.store.queue.recordLate([update]), counts ? 1 : 0, 'recordLate');
  if (counts) apply(walk, message, update);
  else message.recorded.add(attempt);
}

async function release(walk: Walk): Promise<void> {
  const message = walk.pick(inState(walk, 'sending'));
  if (!message) return;
  const claim = { ...(walk.chance(0.1) ? walk.formerOwner : walk.owner), attempt: message.attempts };
  const counts = claim.epoch === walk.owner.epoch;
  const { lanes, over } = await walk.store.queue.release([{ id: message.id, claim }], walk.now);
  walk.same(
    lanes.map(({ lane }) => lane),
    counts ? [message.lane] : [],
    'release',
  );
  walk.same(over, counts ? [] : [message.id], 'what could not be released');
  if (!counts) return;
  message.attempts--;
  Object.assign(message, { state: message.attempts > 0 ? 'deferred' : 'queued', dueAt: walk.now });
}

/** As when the daemon starts again: what its last run had begun waits again, and its claims are over. */
export async function takeSlots(walk: Walk): Promise<void> {
  const sending = inState(walk, 'sending');
  const spared = sending.filter(() => walk.chance(0.2)).map(({ id }) => id);
  const recovered = sending.filter(({ id }) => !spared.includes(id));
  const leased = [...walk.model.webhooks.values()].flatMap(({ deliveries }) =>
    [...deliveries.values()].filter((one) => one.leased),
  );
  // Those of deleted webhooks count as well, until they are erased.
  while ((await walk.store.webhooks.forgetDeletedWebhooks(100)) > 0);
  const request = { node: 'test', slots: 1, now: walk.now, leaseUntil: null, spare: spared };
  const { owners, returned } = await walk.store.owners.takeSlots(request);
  walk.same(owners, [{ slot: 1, epoch: walk.owner.epoch + 1 }], 'takeSlots');
  walk.same(returned, { messages: recovered.length, deliveries: leased.length }, 'what waits again');
  walk.formerOwner = walk.owner;
  walk.owner = owners[0]!;
  for (const delivery of leased) {
    delivery.leased = false;
    delivery.attempts--;
    delivery.dueAt = Math.min(delivery.dueAt!, walk.now);
  }
  for (const message of recovered) {
    const dueAt = message.attempts === 1 ? walk.now : message.dueAt;
    Object.assign(message, { state: 'deferred', dueAt, ambiguous: true });
  }
}

async function returnOrphan(walk: Walk): Promise<void> {
  const marks = await walk.store.queue.listSending([1], null, 1000);
  const sending = inState(walk, 'sending').sort((a, b) => (a.id < b.id ? -1 : 1));
  walk.same(
    marks,
    sending.map(({ id, attempts: attempt }) => ({ id, slot: 1, attempt })),
    'listSending',
  );
  const message = walk.pick(sending);
  if (!message) return;
  const [late] = await walk.store.queue.returnOrphans(
    [{ id: message.id, claim: { ...walk.owner, attempt: message.attempts + 1 } }],
    walk.now,
    'lost',
  );
  walk.same(late, undefined, 'an attempt that is not the last');
  const claim = { ...walk.owner, attempt: message.attempts };
  await walk.store.queue.returnOrphans([{ id: message.id, claim }], walk.now, 'lost');
  Object.assign(message, { state: 'deferred', ambiguous: true });
}

async function endExpired(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const expired = [...model.messages.values()]
    .filter((one) => one.finishedAt === null && one.state !== 'sending' && one.expiresAt <= walk.now)
    .map(({ id }) => id);
  const found = (await store.queue.expired([1], walk.now, 1000)).map(({ id }) => id);
  walk.same(found.toSorted(), expired.toSorted(), 'expired');
  const message = model.messages.get(found[0] ?? '');
  if (!message) return;
  const transition = { to: 'failed', reason: 'its lifetime is over' } as const;
  const { id: messageId, tenantId } = message;
  const event = newEvent(walk, 'email.failed');
  const update = { messageId, tenantId, at: walk.tick(), attempt: null, transition, event };
  walk.same(await store.queue.endWaiting(update), true, 'endWaiting');
  apply(walk, message, update);
  walk.same(await store.queue.endWaiting(update), false, 'endWaiting of what has ended');
}

async function retryNow(walk: Walk): Promise<void> {
  const message = walk.pick(walk.model.messages.values());
  if (!message) return;
  const lane = await walk.store.queue.retryNow(message.id, walk.now);
  const waits = isWaiting(message);
  walk.same(lane?.lane, waits ? message.lane : undefined, 'retryNow');
  if (waits) Object.assign(message, { dueAt: walk.now, parked: false });
}

export function isWaiting({ state }: ModelMessage): boolean {
  return state === 'scheduled' || state === 'queued' || state === 'deferred';
}

/** Some of what is due is queued, and what is suppressed stays. */
async function queueScheduled(walk: Walk): Promise<void> {
  const { model, store, now } = walk;
  const scheduled = inState(walk, 'scheduled').sort(byDueTime);
  walk.same(await store.queue.nextScheduled(), scheduled[0]?.dueAt ?? null, 'nextScheduled');
  const due = scheduled.filter(({ dueAt }) => dueAt! <= now);
  const found = (await store.queue.dueScheduled(now, 1000)).map(({ id }) => id);
  walk.same(
    found,
    due.map(({ id }) => id),
    'dueScheduled',
  );
  // What is not due, too: the verb looks again.
  const some = scheduled.filter(() => walk.chance(0.6));
  const asked = some.map(({ id, tenantId, recipient }) => ({ id, tenantId, suppressionKey: recipient }));
  const { lanes, suppressed } = await store.queue.queueScheduled(asked, now);
  const reasonOf = ({ tenantId, recipient }: ModelMessage) => model.suppressionReason(tenantId, recipient, now);
  const ripe = some.filter(({ dueAt }) => dueAt! <= now);
  const stays = ripe.filter(reasonOf).map((message) => ({ id: message.id, reason: reasonOf(message) }));
  walk.same(suppressed, stays, 'suppressed when its time came');
  const goes = ripe.filter((message) => !reasonOf(message));
  walk.same(
    lanes.map(({ lane }) => lane),
    goes.map(({ lane }) => lane),
    'queueScheduled',
  );
  for (const message of goes) message.state = 'queued';
}

async function moveScheduled(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const submission = walk.pick(model.submissions.values());
  if (!submission) return;
  const own = submission.messageIds.map((id) => model.messages.get(id)!).filter(({ state }) => state === 'scheduled');
  const sendAt = walk.now + walk.oneOf(0, HOUR_MS, DAY_MS);
  const times = { sendAt, expiresAt: sendAt + HOUR_MS };
  walk.same(await store.queue.moveScheduled(walk.id(), submission.id, times), 0, 'by a stranger');
  walk.same(await store.queue.moveScheduled(submission.tenantId, submission.id, times), own.length, 'moveScheduled');
  for (const message of own) Object.assign(message, { dueAt: sendAt, expiresAt: times.expiresAt });
}

async function cancelSubmission(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const submission = walk.pick(model.submissions.values());
  if (!submission) return;
  const { tenantId } = submission;
  const own = submission.messageIds.map((id) => model.messages.get(id)!).filter(isWaiting);
  const found = await store.queue.findWaitingOf(tenantId, submission.id);
  walk.same(
    found.map(({ id }) => id),
    own.map(({ id }) => id),
    'findWaitingOf',
  );
  const message = walk.chance(0.3) ? walk.pick(own) : undefined;
  if (!message) return;
  const transition = { to: 'canceled', reason: 'by its sender' } as const;
  const event = newEvent(walk, 'email.canceled');
  const update = { messageId: message.id, tenantId, at: walk.tick(), attempt: null, transition, event };
  walk.same(await store.queue.endWaiting(update), true, 'endWaiting');
  apply(walk, message, update);
}

async function makeLaneDue(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const some = walk.pick(model.messages.values());
  if (!some) return;
  const later = [...model.messages.values()].filter(
    (one) => one.lane === some.lane && model.waiting(one) && one.dueAt! > walk.now,
  );
  const { moved } = await store.shaping.makeLaneDue(some.lane, { at: walk.now, limit: 1000 });
  walk.same(moved, later.length, 'makeLaneDue');
  for (const message of later) message.dueAt = walk.now;
}

async function parkLane(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const some = walk.pick(model.messages.values());
  if (!some) return;
  const waiting = [...model.messages.values()].filter((one) => one.lane === some.lane && model.waiting(one));
  const parked = await store.queue.parkLane(some.lane, 1000, 'damaged');
  walk.same(parked.map(({ id }) => id).toSorted(), waiting.map(({ id }) => id).toSorted(), 'parkLane');
  for (const message of waiting) Object.assign(message, { parked: true, dueAt: null });
  let unsendable = 0;
  for (const one of model.messages.values()) {
    if (!one.parked || one.finishedAt !== null) continue;
    if ((await store.shaping.findPause({ kind: 'message', key: one.id })) === null) unsendable++;
  }
  walk.same(await store.queue.countUnsendable(1000), unsendable, 'countUnsendable');
}

export const messageSteps: readonly Step[] = [
  { name: 'accept', weight: 8, run: accept },
  { name: 'claim', weight: 10, run: claim },
  { name: 'record', weight: 8, run: record },
  { name: 'recordLate', run: recordLate },
  { name: 'release', run: release },
  { name: 'takeSlots', weight: 0.5, run: takeSlots },
  { name: 'returnStrays', weight: 0.5, run: returnOrphan },
  { name: 'endWaiting', run: endExpired },
  { name: 'retryNow', run: retryNow },
  { name: 'queueScheduled', run: queueScheduled },
  { name: 'moveScheduled', weight: 0.5, run: moveScheduled },
  { name: 'cancelSubmission', weight: 0.5, run: cancelSubmission },
  { name: 'makeLaneDue', weight: 0.5, run: makeLaneDue },
  { name: 'parkLane', weight: 0.1, run: parkLane },
];
