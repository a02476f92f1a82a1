// Which lanes have something to send. The walk goes from one waiting lane to the next along the index
// of what waits, so its cost grows with the lanes that wait, not with those that there have ever been,
// nor with messages; and in slices, between which the event loop turns.
import { setImmediate as turn } from 'node:timers/promises';
import type { QueueStore } from '../../queue.ts';
import type { LaneNotice } from '../../submissions.ts';
import type { Connection } from '../engine/connection.ts';
import type { Row } from '../engine/values.ts';
import { laneFromRow, WAITING } from './queue.ts';

// About 5 ms.
const SLICE_LANES = 500;

export function dueLaneVerbs(db: Connection): Pick<QueueStore, 'dueLanes'> {
  return { dueLanes: () => dueLanes(db) };
}

/** No snapshot: what changes between two slices is announced to the scheduler by other ways. */
async function dueLanes(db: Connection): Promise<LaneNotice[]> {
  const lanes: LaneNotice[] = [];
  for (let after = 0; ; await turn()) {
    const slice = await db.read(() => waitingLanes(db, after));
    for (const row of slice) if (row.due_at !== null) lanes.push(laneFromRow(row));
    if (slice.length < SLICE_LANES) return lanes;
    after = slice.at(-1)!.lane as number;
  }
}

/** One step down the index per lane (a loose index scan): SQLite has no word for it but the recursion. */
function waitingLanes(db: Connection, after: number): Row[] {
  const rows = db.sql(
    `WITH RECURSIVE waiting (lane) AS (
       SELECT min(m.lane) FROM messages m WHERE m.lane > ? AND ${WAITING}
       UNION ALL
       SELECT (SELECT min(m.lane) FROM messages m WHERE m.lane > waiting.lane AND ${WAITING}) FROM waiting
       WHERE waiting.lane IS NOT NULL
       LIMIT ?)
     SELECT w.lane, l.id, l.tenant_id, l.domain, CASE WHEN t.status = 'active' THEN
       (SELECT min(m.due_at) FROM messages m WHERE m.lane = w.lane AND ${WAITING}) END AS due_at
     FROM waiting w LEFT JOIN lanes l ON l.id = w.lane LEFT JOIN tenants t ON t.id = l.tenant_id
     WHERE w.lane IS NOT NULL`,
  );
  return rows.all(after, SLICE_LANES) as Row[];
}
