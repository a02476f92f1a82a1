// Operators' pauses in SQLite. A paused message is marked as parked, so that nothing that looks
// for due messages meets it; its row in queue_pauses says who did it and when it was due.
import type { QueuePause, QueueTarget, ShapingStore } from '../../shaping.ts';
import type { LaneNotice } from '../../submissions.ts';
import type { Connection } from '../engine/connection.ts';
import { type Row, toId } from '../engine/values.ts';
import { laneFromRow } from './queue.ts';

type PauseVerbs = Pick<ShapingStore, 'pauseQueue' | 'resumeQueue' | 'findPause' | 'listPauses'>;

export function pauseVerbs(db: Connection): PauseVerbs {
  return {
    pauseQueue: (pause) => db.write(() => pauseQueue(db, pause)),
    resumeQueue: (target) => db.write(() => resumeQueue(db, target)),
    findPause: (target) => db.read(() => findPause(db, target)),
    listPauses: (limit) =>
      db.read(() => {
        const rows = db.sql('SELECT * FROM queue_pauses ORDER BY paused_at DESC, kind, target LIMIT ?').all(limit);
        return (rows as Row[]).map(pauseFromRow);
      }),
  };
}

function pauseQueue(db: Connection, pause: QueuePause): boolean {
  const { kind, key, by, note, at } = pause;
  if (findPause(db, pause)) return false;
  const add = db.sql(
    `INSERT INTO queue_pauses (kind, target, paused_by, note, paused_at, due_at) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  if (kind !== 'message') return add.run(kind, key, by, note, at, null).changes === 1;
  const message = db
    .sql(`SELECT due_at, put_off FROM messages WHERE id = ? AND state IN ('queued', 'deferred') AND parked = 0`)
    .get(toId(key)) as { due_at: number; put_off: number } | undefined;
  if (!message) return false;
  db.sql('UPDATE messages SET parked = 1, due_at = NULL, put_off = 0 WHERE id = ?').run(toId(key));
  // It was due: whether what put it off is over by then is asked when it goes on.
  const dueAt = message.put_off === 1 ? at : message.due_at;
  return add.run(kind, key, by, note, at, dueAt).changes === 1;
}

function resumeQueue(db: Connection, target: QueueTarget): { pause: QueuePause; lane: LaneNotice | null } | null {
  const row = db
    .sql('DELETE FROM queue_pauses WHERE kind = ? AND target = ? RETURNING *')
    .get(target.kind, target.key) as Row | undefined;
  if (!row) return null;
  const lane = target.kind === 'message' ? unpark(db, target.key, row.due_at as number) : null;
  return { pause: pauseFromRow(row), lane };
}

/** It may have ended meanwhile: its lifetime goes on. */
function unpark(db: Connection, messageId: string, dueAt: number): LaneNotice | null {
  const id = toId(messageId);
  const back = db.sql(
    `UPDATE messages SET parked = 0, due_at = ? WHERE id = ? AND state IN ('queued', 'deferred') AND parked = 1`,
  );
  if (back.run(dueAt, id).changes === 0) return null;
  const lane = db
    .sql('SELECT l.id, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = ?')
    .get(id) as Row;
  return laneFromRow(lane);
}

function findPause(db: Connection, { kind, key }: QueueTarget): QueuePause | null {
  const row = db.sql('SELECT * FROM queue_pauses WHERE kind = ? AND target = ?').get(kind, key) as Row | undefined;
  return row ? pauseFromRow(row) : null;
}

export function pauseFromRow(row: Row): QueuePause {
  return {
    kind: row.kind as QueuePause['kind'],
    key: row.target as string,
    by: row.paused_by as string,
    note: row.note as string,
    at: row.paused_at as number,
  };
}
