// Mail for later. The indexes of `scheduled` messages make each of these cost what it returns.

import type { DueScheduled, ScheduledTimes, ScheduleStore, SuppressedLater, WaitingMessage } from '../../../queue.ts';
import type { LaneNotice } from '../../../submissions.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { type Row, toId } from '../../values.ts';
import { OF_SUBMISSION } from '../message/submission-messages.ts';
import { reasonAgainst } from '../submission/submissions.ts';
import { laneFromRow, MESSAGE_COLUMNS, waitingFromRow } from './queue.ts';

export function scheduleVerbs(db: Transaction): Work<ScheduleStore> {
  return {
    nextScheduled: () => nextScheduled(db),
    dueScheduled: (now, limit) => dueScheduled(db, now, limit),
    queueScheduled: (due, now) => queueScheduled(db, due, now),
    moveScheduled: (tenantId, submissionId, times) => moveScheduled(db, { tenantId, submissionId }, times),
    findWaitingOf: (tenantId, submissionId) => findWaitingOf(db, tenantId, submissionId),
  };
}

function* nextScheduled(db: Transaction): Steps<number | null> {
  const next = db.sql(`SELECT m.due_at FROM messages m WHERE m.state = 'scheduled' ORDER BY m.due_at, m.id LIMIT 1`);
  return ((yield* next.get()) as { due_at: number } | undefined)?.due_at ?? null;
}

function* dueScheduled(db: Transaction, now: number, limit: number): Steps<WaitingMessage[]> {
  const due = db.sql(
    `SELECT ${MESSAGE_COLUMNS} WHERE m.state = 'scheduled' AND m.due_at <= +? ORDER BY m.due_at, m.id LIMIT +?`,
  );
  return ((yield* due.all(now, limit)) as Row[]).map((row) => waitingFromRow(row));
}

function* queueScheduled(
  db: Transaction,
  due: DueScheduled[],
  now: number,
): Steps<{ lanes: LaneNotice[]; suppressed: SuppressedLater[] }> {
  const lanes: LaneNotice[] = [];
  const suppressed: SuppressedLater[] = [];
  for (const outcome of yield* db.forAll(due, (message) => queueIfDue(db, message, now))) {
    if (outcome === null) continue;
    if ('reason' in outcome) suppressed.push(outcome);
    else lanes.push(...outcome.lanes);
  }
  return { lanes, suppressed };
}

/** Null: someone has moved or canceled it since it was found. */
function* queueIfDue(
  db: Transaction,
  { id, tenantId, suppressionKey, staysUsable = false }: DueScheduled,
  now: number,
): Steps<{ lanes: LaneNotice[] } | SuppressedLater | null> {
  // An outer join: its lane may be lost.
  const find = db.sql(
    `SELECT l.id, l.slot, l.tenant_id, l.domain, m.due_at FROM messages m LEFT JOIN lanes l ON l.id = m.lane
     WHERE m.id = +? AND m.tenant_id = +? AND m.state = 'scheduled' AND m.due_at <= +?`,
  );
  const found = (yield* find.get(toId(id), toId(tenantId), now)) as Row | undefined;
  if (!found) return null;
  const reason = yield* reasonAgainst(db, { tenantId, at: now }, { suppressionKey, staysUsable });
  if (reason) return { id, reason };
  yield* db.sql(`UPDATE messages SET state = 'queued' WHERE id = +?`).run(toId(id));
  return { lanes: found.id === null ? [] : [laneFromRow(found)] };
}

function* moveScheduled(
  db: Transaction,
  { tenantId, submissionId }: { tenantId: string; submissionId: string },
  { sendAt, expiresAt }: ScheduledTimes,
): Steps<number> {
  const move = db.sql(
    `UPDATE messages AS m SET due_at = +?, expires_at = +? FROM submissions s
     WHERE s.tenant_id = +? AND s.id = +? AND ${OF_SUBMISSION} AND m.state = 'scheduled'`,
  );
  const moved = (yield* move.run(sendAt, expiresAt, toId(tenantId), toId(submissionId))).changes;
  if (moved > 0) {
    const note = db.sql('UPDATE submissions SET send_at = +? WHERE tenant_id = +? AND id = +?');
    yield* note.run(sendAt, toId(tenantId), toId(submissionId));
  }
  return moved;
}

function* findWaitingOf(db: Transaction, tenantId: string, submissionId: string): Steps<WaitingMessage[]> {
  const rows = db.sql(
    `SELECT ${MESSAGE_COLUMNS} WHERE s.tenant_id = +? AND s.id = +? AND ${OF_SUBMISSION} AND m.finished_at IS NULL
       AND m.state <> 'sending' ORDER BY m.id`,
  );
  return ((yield* rows.all(toId(tenantId), toId(submissionId))) as Row[]).map((row) => waitingFromRow(row));
}
