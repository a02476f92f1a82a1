// The queue in SQLite as operators see it: what waits, one message whole, another try now.
import { setImmediate as turn } from 'node:timers/promises';
import type { TlsFacts, TlsPolicyMode, TriedHost } from '../../../base/outcome.ts';
import type { AttemptRecord, MessageDetail, QueueLane, QueueStore } from '../../queue.ts';
import type { LaneNotice } from '../../submissions.ts';
import type { Connection } from '../engine/connection.ts';
import type { Queries } from '../engine/statements.ts';
import { fromId, type Row, toId } from '../engine/values.ts';
import { findClaimable, laneFromRow, WAITING } from './queue.ts';
import { listQueue } from './queue-listing.ts';
import { messageFromRow } from './queue-rows.ts';

type QueueViewVerbs = Pick<
  QueueStore,
  'queueSummary' | 'listQueue' | 'getMessage' | 'findMessage' | 'retryNow' | 'findWaiting'
>;

export function queueViewVerbs(db: Connection): QueueViewVerbs {
  return {
    queueSummary: () => queueSummary(db),
    listQueue: (filter) => listQueue(db, filter),
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

export function getMessage(db: Queries, id: string): MessageDetail | null {
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
  const retry = db.sql(
    `UPDATE messages SET due_at = ?, parked = 0, put_off = 0 WHERE id = ? AND state IN ('queued', 'deferred')`,
  );
  if (retry.run(at, toId(id)).changes === 0) return null;
  const row = db
    .sql('SELECT l.id, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = ?')
    .get(toId(id)) as Row;
  return laneFromRow(row);
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
      ...(row.tried !== null && { tried: JSON.parse(row.tried as string) as TriedHost[] }),
    },
  };
}
