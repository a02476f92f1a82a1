// One message of the queue in full, and retrying it now. The lists are in queue-listing.ts.

import type { MessageDetail, MessageState, QueuedMessage, QueueStore, SubmissionDetail } from '../../../queue.ts';
import type { CopyKind, LaneNotice, RejectedRecipient } from '../../../submissions.ts';
import type { Queries, Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { attemptsOf } from '../message/attempts.ts';
import { labelsFromRow } from '../message/letters.ts';
import { OF_SUBMISSION } from '../message/submission-messages.ts';
import { findClaimable, laneFromRow } from './queue.ts';

type QueueViewVerbs = Work<
  Pick<QueueStore, 'getMessage' | 'findMessage' | 'findSubmission' | 'retryNow' | 'findWaiting'>
>;

export function queueViewVerbs(db: Transaction): QueueViewVerbs {
  return {
    getMessage: (id) => getMessage(db, id),
    *findMessage(tenantId, id) {
      const message = yield* getMessage(db, id);
      return message?.tenantId === tenantId ? message : null;
    },
    findSubmission: (tenantId, id) => findSubmission(db, tenantId, id),
    retryNow: (id, at) => retryNow(db, id, at),
    findWaiting: (id) => findClaimable(db, id),
  };
}

export function* getMessage(db: Queries, id: string): Steps<MessageDetail | null> {
  const row = (yield* db
    .sql(
      `SELECT m.*, coalesce(s.from_address, '') AS from_address, coalesce(s.subject, '') AS subject, s.labels, s.source,
         s.header_message_id
       FROM messages m LEFT JOIN submissions s ON s.id = m.submission_id WHERE m.id = +?`,
    )
    .get(toId(id))) as Row | undefined;
  if (!row) return null;
  return {
    ...messageFromRow(row),
    from: row.from_address as string,
    subject: row.subject as string,
    labels: labelsFromRow(row),
    source: row.source as MessageDetail['source'],
    attemptList: yield* attemptsOf(db, row),
  };
}

function* findSubmission(db: Queries, tenantId: string, id: string): Steps<SubmissionDetail | null> {
  const row = (yield* db
    .sql(
      `SELECT created_at, send_at, from_address, subject, labels, rejected, source, header_message_id FROM submissions
       WHERE tenant_id = +? AND id = +?`,
    )
    .get(toId(tenantId), toId(id))) as Row | undefined;
  if (!row) return null;
  const messages = db.sql(
    `SELECT m.id, m.recipient, m.copy, m.state FROM submissions s JOIN messages m ON ${OF_SUBMISSION}
     WHERE s.tenant_id = +? AND s.id = +? ORDER BY m.id`,
  );
  return {
    id,
    createdAt: row.created_at as number,
    sendAt: row.send_at as number | null,
    from: row.from_address as string,
    subject: row.subject as string,
    labels: labelsFromRow(row),
    source: row.source as MessageDetail['source'],
    messages: ((yield* messages.all(toId(tenantId), toId(id))) as Row[]).map((message) => ({
      id: fromId(message.id),
      recipient: message.recipient as string,
      copy: message.copy as CopyKind | null,
      state: message.state as MessageState,
    })),
    rejected: JSON.parse(row.rejected as string) as RejectedRecipient[],
  };
}

function* retryNow(db: Transaction, id: string, at: number): Steps<LaneNotice | null> {
  const retry = db.sql(
    `UPDATE messages SET due_at = +?, parked = 0, put_off = 0
     WHERE id = +? AND state IN ('scheduled', 'queued', 'deferred')`,
  );
  if ((yield* retry.run(at, toId(id))).changes === 0) return null;
  const row = (yield* db
    .sql(
      'SELECT l.id, l.slot, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = +?',
    )
    .get(toId(id))) as Row;
  return laneFromRow(row);
}

// A row of the queue as the contract's record.

export function messageFromRow(row: Row): QueuedMessage {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    submissionId: fromId(row.submission_id),
    recipient: row.recipient as string,
    state: row.state as QueuedMessage['state'],
    attempts: row.attempts as number,
    dueAt: row.due_at as number | null,
    expiresAt: row.expires_at as number,
    lastReason: row.last_reason as string | null,
    ambiguous: row.ambiguous === 1,
    parked: row.parked === 1,
    sourceAddress: row.source_address as string | null,
    createdAt: row.created_at as number,
    finishedAt: row.finished_at as number | null,
  };
}
