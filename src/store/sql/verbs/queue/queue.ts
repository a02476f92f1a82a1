// The queue: returning what was claimed, and recording results.

import { type Claim, FIRST_SLOT } from '../../../owners.ts';
import type {
  ClaimedUpdate,
  ClaimsEnded,
  HardBounceNote,
  MessageUpdate,
  QueueStore,
  Transition,
  UntriedMessage,
  WaitingMessage,
} from '../../../queue.ts';
import type { LaneNotice } from '../../../submissions.ts';
import { only, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toFlag, toId } from '../../values.ts';
import { countOpenMessages } from '../domains/domains.ts';
import { insertAttempt, startOfFirstAttempt } from '../message/attempts.ts';
import { insertEvent } from '../message/events.ts';
import { labelsFromRow } from '../message/letters.ts';
import { insertPlatformSuppression, insertSuppression } from '../message/suppressions.ts';
import { CurrentOwners, LISTED } from '../nodes/owners.ts';

type QueueVerbs = Work<Pick<QueueStore, 'release' | 'record' | 'recordLate' | 'endWaiting' | 'expired'>>;

// Repeated verbatim in every query that must use the index messages_due.
export const WAITING = `m.state IN ('queued', 'deferred') AND m.parked = 0`;

/** Messages whose lane is lost count as the first slot's. */
export const SLOT_OF_LANE = `coalesce(l.slot, ${FIRST_SLOT})`;

export function queueVerbs(db: Transaction): QueueVerbs {
  return {
    release: (messages, at, putOff = false) => release(db, messages, { at, putOff }),
    record: (updates) => record(db, updates),
    *recordLate(updates) {
      return (yield* only(updates, (update) => recordLate(db, update))).length;
    },
    endWaiting: (update) => applyUpdate(db, update, 'waiting'),
    expired: (slots, now, limit) => expired(db, slots, { now, limit }),
  };
}

export function laneFromRow(row: Row): LaneNotice {
  return {
    lane: row.id as number,
    slot: row.slot as number,
    tenantId: fromId(row.tenant_id),
    domain: row.domain as string,
    dueAt: row.due_at as number,
  };
}

// Outer joins: a message whose other rows are damaged must be found too, to be parked with a reason.
export const MESSAGE_COLUMNS = `m.id, m.tenant_id, m.submission_id, m.lane, m.recipient, m.attempts, m.created_at,
  m.expires_at, m.notices, m.source_address, coalesce(s.from_address, '') AS from_address, coalesce(s.subject, '') AS subject,
  s.labels, s.header_message_id, s.send_at, coalesce(d.name, '') AS from_domain
  FROM messages m LEFT JOIN submissions s ON s.id = m.submission_id LEFT JOIN domains d ON d.id = s.domain_id`;

export function waitingFromRow(row: Row): WaitingMessage {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    submissionId: fromId(row.submission_id),
    lane: row.lane as number,
    recipient: row.recipient as string,
    from: row.from_address as string,
    fromDomain: row.from_domain as string,
    subject: row.subject as string,
    labels: labelsFromRow(row),
    attempt: row.attempts as number,
    createdAt: row.created_at as number,
    sendAt: row.send_at as number | null,
    expiresAt: row.expires_at as number,
    notices: row.notices as number,
    sourceAddress: row.source_address as string | null,
  };
}

/** Returns claimed messages that were never tried, as if they had not been claimed. */
function* release(
  db: Transaction,
  messages: UntriedMessage[],
  { at, putOff }: { at: number; putOff: boolean },
): Steps<ClaimsEnded> {
  const back = db.sql(
    `UPDATE messages SET state = CASE WHEN attempts > 1 THEN 'deferred' ELSE 'queued' END, attempts = attempts - 1,
       due_at = +?, put_off = +? WHERE id = +? AND state = 'sending' AND attempts = +?`,
  );
  const owners = new CurrentOwners(db);
  const ended: ClaimsEnded = { lanes: [], over: [] };
  yield* db.forAll(messages, function* ({ id, claim }) {
    const isOurs =
      (yield* owners.has(claim)) && (yield* back.run(at, toFlag(putOff), toId(id), claim.attempt)).changes === 1;
    if (isOurs) ended.lanes.push(...(yield* laneOf(db, id)));
    else ended.over.push(id);
  });
  return ended;
}

function* laneOf(db: Transaction, messageId: string): Steps<LaneNotice[]> {
  const row = (yield* db
    .sql(
      `SELECT l.id, l.slot, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = +?`,
    )
    .get(toId(messageId))) as Row | undefined;
  return row && row.due_at !== null ? [laneFromRow(row)] : [];
}

function* record(db: Transaction, updates: ClaimedUpdate[]): Steps<ClaimsEnded> {
  const owners = new CurrentOwners(db);
  const ended: ClaimsEnded = { lanes: [], over: [] };
  yield* db.forAll(updates, function* (update) {
    if (!(yield* owners.has(update.claim)) || !(yield* applyUpdate(db, update, update.claim)))
      ended.over.push(update.messageId);
    else if (update.transition.to === 'deferred') ended.lanes.push(...(yield* laneOf(db, update.messageId)));
  });
  return ended;
}

/** An attempt that has a result already is left alone. */
function* recordLate(db: Transaction, update: MessageUpdate): Steps<boolean> {
  const { attempt } = update;
  if (attempt === null) return false;
  const open = db.sql(
    `SELECT m.attempts FROM messages m WHERE m.id = +@id AND m.tenant_id = +@tenant AND m.attempts >= +@attempt
       AND (m.first_attempt_at IS NULL OR +@attempt > 1) AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.message_id = +@id AND a.number = +@attempt)`,
    'column',
  );
  const of = { id: toId(update.messageId), tenant: toId(update.tenantId), attempt: attempt.attempt };
  const attempts = (yield* open.get(of)) as number | undefined;
  if (attempts === undefined) return false;
  if (attempts === attempt.attempt && (yield* applyUpdate(db, update, null))) return true;
  yield* insertAttempt(db, attempt);
  return false;
}

/** In which state it may change a message: while it is in this claim, while it waits, or until it is finished. */
type During = Claim | 'waiting' | null;

function* applyUpdate(db: Transaction, update: MessageUpdate, during: During): Steps<boolean> {
  const firstAttemptAt = startOfFirstAttempt(update);
  if (!(yield* moveMessage(db, update, { during, firstAttemptAt }))) return false;
  if (update.attempt && firstAttemptAt === null) yield* insertAttempt(db, update.attempt);
  if (update.event) yield* insertEvent(db, update, update.event);
  return true;
}

/*
 * States of a message. scheduled: its time has not come; due_at is that time. queued: accepted, never tried. sending: its
 * lane's owner has it, in the attempt that `attempts` counts; due_at says when it is retried if that attempt vanishes.
 * deferred: an attempt failed temporarily; it waits for a retry. delivered, bounced (a permanent rejection), failed
 * (expired) and canceled are final; a later report can still turn delivered into bounced. parked is not a state but a mark
 * on a waiting message that can't be read: it keeps its state and waits for an operator.
 * False when the message is already finished, or not in this claim any more: another caller was first, and nothing changes.
 */
function* moveMessage(
  db: Transaction,
  update: MessageUpdate,
  { during, firstAttemptAt }: { during: During; firstAttemptAt: number | null },
): Steps<boolean> {
  const { transition, event } = update;
  const key = keyOf(update, during);
  if (transition.to === 'parked') {
    const park = db.sql(
      `UPDATE messages SET state = 'deferred', parked = 1, due_at = NULL, last_reason = +?
       ${whereOf(during)}`,
    );
    return (yield* park.run(transition.reason, ...key)).changes === 1;
  }
  if (transition.to === 'deferred') {
    const defer = db.sql(
      `UPDATE messages SET state = 'deferred', due_at = +?, last_reason = +?, ambiguous = +?, notices = notices + +?
       ${whereOf(during)}`,
    );
    const { dueAt, reason, ambiguous } = transition;
    return (yield* defer.run(dueAt, reason, toFlag(ambiguous), toFlag(event !== null), ...key)).changes === 1;
  }
  return yield* finish(db, update, { transition, during, firstAttemptAt });
}

const OPEN = 'WHERE id = +? AND tenant_id = +? AND finished_at IS NULL';
const CLAIMED = `${OPEN} AND state = 'sending' AND attempts = +?`;

function whereOf(during: During): string {
  if (during === 'waiting') return `${OPEN} AND state <> 'sending'`;
  return during === null ? OPEN : CLAIMED;
}

function keyOf({ messageId, tenantId }: Pick<MessageUpdate, 'messageId' | 'tenantId'>, during: During): unknown[] {
  const key = [toId(messageId), toId(tenantId)];
  return during === null || during === 'waiting' ? key : [...key, during.attempt];
}

function* finish(
  db: Transaction,
  message: { messageId: string; tenantId: string; at: number },
  end: {
    transition: Exclude<Transition, { to: 'deferred' | 'parked' }>;
    during: During;
    firstAttemptAt: number | null;
  },
): Steps<boolean> {
  const { transition, during, firstAttemptAt } = end;
  const id = toId(message.messageId);
  const finish = db.sql(
    `UPDATE messages SET state = +?, bounce = +?, due_at = NULL, last_reason = +?, ambiguous = 0, parked = 0,
       first_attempt_at = +?, finished_at = +?
     ${whereOf(during)}`,
  );
  const reason = transition.to === 'delivered' ? null : transition.reason;
  const bounce = transition.to === 'bounced' ? transition.bounce : null;
  const facts = [transition.to, bounce, reason, firstAttemptAt, message.at];
  const domainOf = db.sql(
    'SELECT s.domain_id FROM messages m JOIN submissions s ON s.id = m.submission_id WHERE m.id = +?',
  );
  const [{ changes }, found] = yield* db.both(finish.run(...facts, ...keyOf(message, during)), domainOf.get(id));
  if (changes === 0) return false;
  if (transition.to === 'bounced' && transition.suppress) yield* suppressHardBounce(db, message, transition.suppress);
  const submission = found as { domain_id: Buffer } | undefined;
  if (submission) countOpenMessages(db, fromId(submission.domain_id), -1);
  return true;
}

export function* suppressHardBounce(
  db: Transaction,
  { messageId, tenantId, at }: { messageId: string; tenantId: string; at: number },
  note: HardBounceNote,
): Steps<void> {
  const address = note.suppressionKey;
  const { mxGroup, rule, platformExpiresAt: expiresAt, needsSecondTenant = false } = note;
  const evidence = { rule, ...(mxGroup !== null && { mxGroup }) };
  yield* insertSuppression(db, tenantId, { address, reason: 'hard_bounce', messageId, createdAt: at, ...evidence });
  if (expiresAt === null) return;
  const since = at - (expiresAt - at);
  if (needsSecondTenant && !(yield* hasBouncedForAnother(db, tenantId, { address, since }))) return;
  yield* insertPlatformSuppression(db, { address, mxGroup, rule, messageId, createdAt: at, expiresAt });
}

/** As long as the platform's own entries last; a result from DNS alone does not count as evidence. */
function* hasBouncedForAnother(
  db: Transaction,
  tenantId: string,
  { address, since }: { address: string; since: number },
): Steps<boolean> {
  const found = db.sql(
    `SELECT 1 FROM suppressions WHERE address = +? AND reason = 'hard_bounce' AND tenant_id <> +?
       AND message_id IS NOT NULL AND created_at > +? AND (rule IS NULL OR substr(rule, 1, 6) <> 'route-')`,
  );
  return (yield* found.get(address, toId(tenantId), since)) !== undefined;
}

function* expired(
  db: Transaction,
  slots: readonly number[],
  { now, limit }: { now: number; limit: number },
): Steps<WaitingMessage[]> {
  const rows = db.sql(
    `SELECT ${MESSAGE_COLUMNS} LEFT JOIN lanes l ON l.id = m.lane
     WHERE m.finished_at IS NULL AND m.expires_at <= +? AND m.state <> 'sending' AND ${SLOT_OF_LANE} IN ${LISTED}
     ORDER BY m.expires_at LIMIT +?`,
  );
  return ((yield* rows.all(now, JSON.stringify(slots), limit)) as Row[]).map((row) => waitingFromRow(row));
}

export function* findClaimable(db: Transaction, id: string): Steps<WaitingMessage | null> {
  const row = (yield* db
    .sql(`SELECT ${MESSAGE_COLUMNS} WHERE m.id = +? AND m.finished_at IS NULL AND m.state <> 'sending'`)
    .get(toId(id))) as Row | undefined;
  return row ? waitingFromRow(row) : null;
}
