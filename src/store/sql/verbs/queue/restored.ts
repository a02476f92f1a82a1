// Mail of a restored database. Held messages are found along the index of parked ones, so that nothing that
// looks for due mail sees them.

import { HELD_AFTER_RESTORE, type HeldMail, type ReleasedMail, type RestoredMailStore } from '../../../restored.ts';
import { eachOf, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { type Row, toId } from '../../values.ts';
import { laneFromRow } from './queue.ts';

export function restoredMailVerbs(db: Transaction): Work<RestoredMailStore> {
  return {
    holdUnfinished: (times) => holdUnfinished(db, times),
    countHeld: (most) => countHeld(db, most),
    releaseHeld: (release) => releaseHeld(db, release),
  };
}

function* holdUnfinished(db: Transaction, { now, notBefore }: { now: number; notBefore: number }): Steps<HeldMail> {
  const found = (yield* db
    .sql('SELECT m.state, count(*) AS messages FROM messages m WHERE m.finished_at IS NULL AND m.parked = 0 GROUP BY 1')
    .all()) as { state: keyof HeldMail; messages: number }[];
  const held: HeldMail = { scheduled: 0, queued: 0, sending: 0, deferred: 0 };
  for (const { state, messages } of found) held[state] = messages;
  // What was being sent may have arrived before the backup, too. What is scheduled gets its state back when it is
  // released: until then, nothing may find it among what becomes due.
  const hold = db.sql(
    `UPDATE messages SET parked = 1, put_off = 0, last_reason = +@reason, due_at = coalesce(due_at, +@now),
       expires_at = max(expires_at, +@notBefore), ambiguous = CASE state WHEN 'sending' THEN 1 ELSE ambiguous END,
       state = CASE state WHEN 'sending' THEN 'deferred' WHEN 'scheduled' THEN 'queued' ELSE state END
     WHERE finished_at IS NULL AND parked = 0`,
  );
  yield* hold.run({ reason: HELD_AFTER_RESTORE, now, notBefore });
  return held;
}

function* countHeld(db: Transaction, most: number): Steps<number> {
  const count = db.sql(
    'SELECT count(*) FROM (SELECT 1 FROM messages m WHERE m.parked = 1 AND m.last_reason = +? LIMIT +?) held',
    'column',
  );
  return (yield* count.get(HELD_AFTER_RESTORE, most)) as number;
}

function* releaseHeld(
  db: Transaction,
  { now, limit, tenantId }: { now: number; limit: number; tenantId?: string },
): Steps<ReleasedMail> {
  const held = tenantId === undefined ? yield* heldOfAll(db, limit) : yield* heldOf(db, tenantId, limit);
  const release = db.sql(
    `UPDATE messages SET parked = 0, due_at = coalesce(due_at, +@now), last_reason = NULL, state = CASE WHEN attempts = 0 AND EXISTS
         (SELECT 1 FROM submissions s WHERE s.id = submission_id AND s.send_at IS NOT NULL) THEN 'scheduled' ELSE state END
     WHERE id = +@id`,
  );
  for (const { id } of held) yield* release.run({ now, id });
  const lane = db.sql(
    `SELECT l.id, l.slot, l.tenant_id, l.domain, min(m.due_at) AS due_at FROM messages m JOIN lanes l ON l.id = m.lane
     WHERE m.lane = +? AND m.state IN ('queued', 'deferred') AND m.parked = 0 GROUP BY l.id`,
  );
  const lanes = (yield* eachOf([...new Set(held.map((row) => row.lane))], function* (id) {
    return ((yield* lane.all(id)) as Row[]).map(laneFromRow);
  })).flat();
  return { messages: held.length, lanes };
}

function* heldOfAll(db: Transaction, limit: number): Steps<Row[]> {
  const held = db.sql(
    'SELECT m.id, m.lane FROM messages m WHERE m.parked = 1 AND m.last_reason = +? ORDER BY m.lane, m.id LIMIT +?',
  );
  return (yield* held.all(HELD_AFTER_RESTORE, limit)) as Row[];
}

/** Lane by lane: another tenant may have very many. */
function* heldOf(db: Transaction, tenantId: string, limit: number): Steps<Row[]> {
  const held = db.sql(
    `SELECT m.id, m.lane FROM lanes l CROSS JOIN messages m ON m.lane = l.id AND m.parked = 1
     WHERE l.tenant_id = +? AND m.last_reason = +? LIMIT +?`,
  );
  return (yield* held.all(toId(tenantId), HELD_AFTER_RESTORE, limit)) as Row[];
}
