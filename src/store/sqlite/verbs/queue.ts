// The queue in SQLite: returning what was claimed, and recording results.
import type {
  AttemptRecord,
  ClaimedMessage,
  HardBounceNote,
  MessageUpdate,
  QueueStore,
  Transition,
} from '../../queue.ts';
import type { LaneNotice } from '../../submissions.ts';
import type { Transaction, Work } from '../engine/connection.ts';
import { fromId, type Row, toFlag, toId } from '../engine/values.ts';
import { countOpenMessages } from './domains.ts';
import { insertEvent } from './events.ts';
import { labelsFromRow } from './letters.ts';
import { insertPlatformSuppression, insertSuppression } from './suppressions.ts';

type QueueVerbs = Work<
  Pick<QueueStore, 'release' | 'record' | 'recordEarlier' | 'endWaiting' | 'recoverInterrupted' | 'expired'>
>;

// Repeated verbatim in every query that must use the index messages_due.
export const WAITING = `m.state IN ('queued', 'deferred') AND m.parked = 0`;

export function queueVerbs(db: Transaction): QueueVerbs {
  return {
    release: (ids, at, putOff = false) => ids.flatMap((id) => release(db, id, { at, putOff })),
    record: (updates) => updates.flatMap((update) => recordUpdate(db, update)),
    recordEarlier: (updates) => updates.filter((update) => recordEarlier(db, update)).length,
    endWaiting: (update) => endWaiting(db, update),
    recoverInterrupted: (at, except = []) => recoverInterrupted(db, at, except),
    expired: (now, limit) => expired(db, now, limit),
  };
}

export function laneFromRow(row: Row): LaneNotice {
  return {
    lane: row.id as number,
    tenantId: fromId(row.tenant_id),
    domain: row.domain as string,
    dueAt: row.due_at as number,
  };
}

// Outer joins: a message whose other rows are damaged must be found too, to be parked with a reason.
export const CLAIMED_COLUMNS = `m.id, m.tenant_id, m.submission_id, m.lane, m.recipient, m.attempts, m.created_at,
  m.expires_at, m.notices, m.source_address, coalesce(s.from_address, '') AS from_address, coalesce(s.subject, '') AS subject,
  s.labels, s.header_message_id, s.send_at, coalesce(d.name, '') AS from_domain
  FROM messages m LEFT JOIN submissions s ON s.id = m.submission_id LEFT JOIN domains d ON d.id = s.domain_id`;

/** `attemptStep` 1: the attempt that begins now; 0: the last one made. */
export function claimedFromRow(row: Row, attemptStep: 0 | 1): ClaimedMessage {
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
    attempt: (row.attempts as number) + attemptStep,
    createdAt: row.created_at as number,
    sendAt: row.send_at as number | null,
    expiresAt: row.expires_at as number,
    notices: row.notices as number,
    sourceAddress: row.source_address as string | null,
  };
}

/** Returns claimed messages that were never tried, as if they had not been claimed. */
function release(db: Transaction, id: string, { at, putOff }: { at: number; putOff: boolean }): LaneNotice[] {
  const release = db.sql(
    `UPDATE messages SET state = CASE WHEN attempts > 1 THEN 'deferred' ELSE 'queued' END, attempts = attempts - 1,
       due_at = +?, put_off = +? WHERE id = +? AND state = 'sending'`,
  );
  return release.run(at, toFlag(putOff), toId(id)).changes === 1 ? laneOf(db, id) : [];
}

export function laneOf(db: Transaction, messageId: string): LaneNotice[] {
  const row = db
    .sql(`SELECT l.id, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = +?`)
    .get(toId(messageId)) as Row | undefined;
  return row && row.due_at !== null ? [laneFromRow(row)] : [];
}

function endWaiting(db: Transaction, update: MessageUpdate): boolean {
  return findClaimable(db, update.messageId) !== null && applyUpdate(db, update);
}

function recordUpdate(db: Transaction, update: MessageUpdate): LaneNotice[] {
  const applied = applyUpdate(db, update);
  return applied && update.transition.to === 'deferred' ? laneOf(db, update.messageId) : [];
}

function recordEarlier(db: Transaction, update: MessageUpdate): boolean {
  const attempt = update.attempt?.attempt ?? null;
  const open = db.sql(
    `SELECT 1 FROM messages m WHERE m.id = +@id AND m.tenant_id = +@tenant AND m.attempts = +@attempt
       AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.message_id = +@id AND a.number = +@attempt)`,
  );
  const of = { id: toId(update.messageId), tenant: toId(update.tenantId), attempt };
  return open.get(of) !== undefined && applyUpdate(db, update);
}

function applyUpdate(db: Transaction, update: MessageUpdate): boolean {
  if (!moveMessage(db, update)) return false;
  if (update.attempt) insertAttempt(db, update.attempt);
  if (update.event) insertEvent(db, update, update.event);
  return true;
}

/*
 * States of a message. scheduled: its time has not come; due_at is that time. queued: accepted, never tried. sending: a courier has it; due_at says when it is retried if that
 * courier vanishes. deferred: an attempt failed temporarily; it waits for a retry. delivered, bounced (a permanent
 * rejection) , failed (expired) and canceled are final; a later report can still turn delivered into bounced. parked
 * is not a state but a mark on a waiting message that can't be read: it keeps its state and waits for an operator.
 * False when the message is already finished: another caller was first, and nothing changes.
 */
function moveMessage(db: Transaction, { messageId, tenantId, at, transition, event }: MessageUpdate): boolean {
  const id = toId(messageId);
  if (transition.to === 'parked') {
    const park = db.sql(
      `UPDATE messages SET state = 'deferred', parked = 1, due_at = NULL, last_reason = +?
       WHERE id = +? AND tenant_id = +? AND finished_at IS NULL`,
    );
    return park.run(transition.reason, id, toId(tenantId)).changes === 1;
  }
  if (transition.to === 'deferred') {
    const defer = db.sql(
      `UPDATE messages SET state = 'deferred', due_at = +?, last_reason = +?, ambiguous = +?, notices = notices + +?
       WHERE id = +? AND tenant_id = +? AND finished_at IS NULL`,
    );
    const { dueAt, reason, ambiguous } = transition;
    return defer.run(dueAt, reason, toFlag(ambiguous), toFlag(event !== null), id, toId(tenantId)).changes === 1;
  }
  return finish(db, { messageId, tenantId, at }, transition);
}

function finish(
  db: Transaction,
  message: { messageId: string; tenantId: string; at: number },
  transition: Exclude<Transition, { to: 'deferred' | 'parked' }>,
): boolean {
  const id = toId(message.messageId);
  const end = db.sql(
    `UPDATE messages SET state = +?, bounce = +?, due_at = NULL, last_reason = +?, ambiguous = 0, parked = 0, finished_at = +?
     WHERE id = +? AND tenant_id = +? AND finished_at IS NULL`,
  );
  const reason = transition.to === 'delivered' ? null : transition.reason;
  const bounce = transition.to === 'bounced' ? transition.bounce : null;
  if (end.run(transition.to, bounce, reason, message.at, id, toId(message.tenantId)).changes === 0) return false;
  if (transition.to === 'bounced' && transition.suppress) suppressHardBounce(db, message, transition.suppress);
  const submission = db
    .sql('SELECT s.domain_id FROM messages m JOIN submissions s ON s.id = m.submission_id WHERE m.id = +?')
    .get(id) as { domain_id: Buffer } | undefined;
  if (submission) countOpenMessages(db, fromId(submission.domain_id), -1);
  return true;
}

export function suppressHardBounce(
  db: Transaction,
  { messageId, tenantId, at }: { messageId: string; tenantId: string; at: number },
  note: HardBounceNote,
): void {
  const address = note.suppressionKey;
  const { mxGroup, rule, platformExpiresAt: expiresAt, needsSecondTenant = false } = note;
  const evidence = { rule, ...(mxGroup !== null && { mxGroup }) };
  insertSuppression(db, tenantId, { address, reason: 'hard_bounce', messageId, createdAt: at, ...evidence });
  if (expiresAt === null) return;
  const since = at - (expiresAt - at);
  if (needsSecondTenant && !hasBouncedForAnother(db, tenantId, { address, since })) return;
  insertPlatformSuppression(db, { address, mxGroup, rule, messageId, createdAt: at, expiresAt });
}

/** As long as the platform's own entries last; a result from DNS alone does not count as evidence. */
function hasBouncedForAnother(
  db: Transaction,
  tenantId: string,
  { address, since }: { address: string; since: number },
): boolean {
  const found = db.sql(
    `SELECT 1 FROM suppressions WHERE address = +? AND reason = 'hard_bounce' AND tenant_id <> +?
       AND message_id IS NOT NULL AND created_at > +? AND (rule IS NULL OR rule NOT GLOB 'route-*')`,
  );
  return found.get(address, toId(tenantId), since) !== undefined;
}

function insertAttempt(db: Transaction, attempt: AttemptRecord): void {
  const { peer } = attempt;
  db.sql(
    `INSERT INTO attempts (message_id, number, tenant_id, outcome, started_at, elapsed_ms, stage, mx, remote_ip, tls,
       tls_policy, tls_failure, smtp_code, enhanced_code, response, tried)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?) ON CONFLICT DO NOTHING`,
  ).run(
    toId(attempt.messageId),
    attempt.attempt,
    toId(attempt.tenantId),
    attempt.outcome,
    attempt.startedAt,
    Math.round(peer.elapsedMs),
    peer.stage,
    peer.mx,
    peer.remoteIp,
    peer.tls ? JSON.stringify(peer.tls) : null,
    peer.tlsPolicy.mode,
    peer.tlsPolicy.failure,
    peer.smtpCode,
    peer.enhancedCode,
    peer.response,
    peer.tried ? JSON.stringify(peer.tried) : null,
  );
}

/**
 * An interrupted first attempt is repeated at once. Later ones wait until the time that was stored before they began:
 * a message that crashes the daemon must not do so in a loop.
 */
function recoverInterrupted(db: Transaction, at: number, except: readonly string[]): number {
  const recover = db.sql(
    `UPDATE messages SET state = 'deferred', due_at = CASE WHEN attempts = 1 THEN +? ELSE due_at END,
       last_reason = 'the daemon stopped during an attempt', ambiguous = 1
     WHERE state = 'sending' AND lower(hex(id)) NOT IN (SELECT value FROM json_each(+?))`,
  );
  const spared = except.map((id) => id.replaceAll('-', ''));
  return recover.run(at, JSON.stringify(spared)).changes;
}

function expired(db: Transaction, now: number, limit: number): ClaimedMessage[] {
  const rows = db.sql(
    `SELECT ${CLAIMED_COLUMNS} WHERE m.finished_at IS NULL AND m.expires_at <= +? AND m.state <> 'sending'
     ORDER BY m.expires_at LIMIT +?`,
  );
  return (rows.all(now, limit) as Row[]).map((row) => claimedFromRow(row, 0));
}

export function findClaimable(db: Transaction, id: string): ClaimedMessage | null {
  const row = db
    .sql(`SELECT ${CLAIMED_COLUMNS} WHERE m.id = +? AND m.finished_at IS NULL AND m.state <> 'sending'`)
    .get(toId(id)) as Row | undefined;
  return row ? claimedFromRow(row, 0) : null;
}
