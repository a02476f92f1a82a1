// The queue in SQLite as operators see it: what waits, one message whole, another try now.
import { setImmediate as turn } from 'node:timers/promises';
import type { TlsFacts, TlsPolicyMode } from '../../base/outcome.ts';
import type { AttemptRecord, MessageDetail, QueuedMessage, QueueLane, QueueStore } from '../queue.ts';
import type { LaneNotice } from '../submissions.ts';
import type { Connection } from './connection.ts';
import { findClaimable, laneFromRow, WAITING } from './queue.ts';
import { fromId, type Row, toId } from './values.ts';

type QueueViewVerbs = Pick<
  QueueStore,
  'queueSummary' | 'listQueue' | 'getMessage' | 'findMessage' | 'retryNow' | 'findWaiting'
>;

export function queueViewVerbs(db: Connection): QueueViewVerbs {
  return {
    queueSummary: () => queueSummary(db),
    listQueue: (filter) => db.read(() => listQueue(db, filter)),
    getMessage: (id) => db.read(() => getMessage(db, id)),
    findMessage: (tenantId, id) =>
      db.read(() => {
        const message = getMessage(db, id);
        return message?.tenantId === tenantId ? message : null;
      }),
    retryNow: (id, at) => db.write(() => retryNow(db, id, at)),
    findWaiting: (id) => db.read(() => findClaimable(db, id)),
  };
}

// About 2 ms where each has few messages.
const SLICE_LANES = 500;

/** In slices, between which the event loop turns: no snapshot. */
async function queueSummary(db: Connection): Promise<QueueLane[]> {
  const lanes: QueueLane[] = [];
  for (let after = 0; ; await turn()) {
    const slice = await db.read(() => summaryOf(db, after));
    for (const row of slice) if (row.id !== null) lanes.push({ ...laneFromRow(row), waiting: row.waiting as number });
    if (slice.length < SLICE_LANES) break;
    after = Math.max(...slice.map(({ lane }) => lane as number));
  }
  return lanes.sort((a, b) => b.waiting - a.waiting || (a.domain < b.domain ? -1 : 1));
}

function summaryOf(db: Connection, after: number): Row[] {
  const rows = db.sql(
    `SELECT q.lane, l.id, l.tenant_id, l.domain, q.due_at, q.waiting FROM
       (SELECT m.lane, min(m.due_at) AS due_at, count(*) AS waiting FROM messages m WHERE m.lane > ? AND ${WAITING}
        GROUP BY m.lane ORDER BY m.lane LIMIT ?) q
     LEFT JOIN lanes l ON l.id = q.lane`,
  );
  return rows.all(after, SLICE_LANES) as Row[];
}

function listQueue(db: Connection, filter: { tenantId?: string; domain?: string; limit: number }): QueuedMessage[] {
  const conditions = ['m.finished_at IS NULL'];
  const values: unknown[] = [];
  if (filter.tenantId !== undefined) {
    conditions.push('m.tenant_id = ?');
    values.push(toId(filter.tenantId));
  }
  if (filter.domain !== undefined) {
    conditions.push('m.lane IN (SELECT id FROM lanes WHERE domain = ?)');
    values.push(filter.domain);
  }
  const rows = db.sql(
    `SELECT m.* FROM messages m WHERE ${conditions.join(' AND ')} ORDER BY m.expires_at, m.id LIMIT ?`,
  );
  return (rows.all(...values, filter.limit) as Row[]).map(messageFromRow);
}

function getMessage(db: Connection, id: string): MessageDetail | null {
  const row = db
    .sql(
      `SELECT m.*, coalesce(s.from_address, '') AS from_address, coalesce(s.subject, '') AS subject
       FROM messages m LEFT JOIN submissions s ON s.id = m.submission_id WHERE m.id = ?`,
    )
    .get(toId(id)) as Row | undefined;
  if (!row) return null;
  const attempts = db.sql('SELECT * FROM attempts WHERE message_id = ? ORDER BY number').all(toId(id)) as Row[];
  return {
    ...messageFromRow(row),
    from: row.from_address as string,
    subject: row.subject as string,
    attemptList: attempts.map(attemptFromRow),
  };
}

function retryNow(db: Connection, id: string, at: number): LaneNotice | null {
  const retry = db.sql(`UPDATE messages SET due_at = ?, parked = 0 WHERE id = ? AND state IN ('queued', 'deferred')`);
  if (retry.run(at, toId(id)).changes === 0) return null;
  const row = db
    .sql('SELECT l.id, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = ?')
    .get(toId(id)) as Row;
  return laneFromRow(row);
}

function messageFromRow(row: Row): QueuedMessage {
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

function attemptFromRow(row: Row): AttemptRecord {
  return {
    messageId: fromId(row.message_id),
    tenantId: fromId(row.tenant_id),
    attempt: row.number as number,
    startedAt: row.started_at as number,
    outcome: row.outcome as AttemptRecord['outcome'],
    peer: {
      mx: row.mx as string | null,
      remoteIp: row.remote_ip as string | null,
      stage: row.stage as AttemptRecord['peer']['stage'],
      smtpCode: row.smtp_code as number | null,
      enhancedCode: row.enhanced_code as string | null,
      response: row.response as string,
      tls: row.tls === null ? null : (JSON.parse(row.tls as string) as TlsFacts),
      tlsPolicy: { mode: row.tls_policy as TlsPolicyMode, failure: row.tls_failure as string | null },
      elapsedMs: row.elapsed_ms as number,
    },
  };
}
