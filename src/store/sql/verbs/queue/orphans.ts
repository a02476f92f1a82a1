// Orphans. The cost of a check grows with the messages being sent, and with lanes, never with all messages.

import type { OrphanStore, SendingMark, UntriedMessage, WaitingMessage } from '../../../queue.ts';
import { HELD_AFTER_RESTORE } from '../../../restored.ts';
import type { LaneNotice } from '../../../submissions.ts';
import { eachOf, only, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { CurrentOwners, LISTED } from '../nodes/owners.ts';
import { findClaimable, laneFromRow, SLOT_OF_LANE, WAITING } from './queue.ts';

/** People pause single messages one by one. */
const MOST_PAUSES = 1000;

export function orphanVerbs(db: Transaction): Work<OrphanStore> {
  return {
    listSending: (slots, after, limit) => listSending(db, slots, { after, limit }),
    *returnOrphans(orphans, at, reason) {
      const owners = new CurrentOwners(db);
      const ours = yield* only(orphans, ({ claim }) => owners.has(claim));
      return (yield* eachOf(ours, (orphan) => returnOrphan(db, orphan, { at, reason }))).flat();
    },
    findOrphanLanes: (after, limit) => findOrphanLanes(db, after, limit),
    parkLane: (lane, limit, reason) => parkLane(db, lane, { limit, reason }),
    countUnsendable: (most) => countUnsendable(db, most),
  };
}

function* listSending(
  db: Transaction,
  slots: readonly number[],
  { after, limit }: { after: string | null; limit: number },
): Steps<SendingMark[]> {
  const rows = db.sql(
    `SELECT m.id, m.attempts, ${SLOT_OF_LANE} AS slot
     FROM messages m LEFT JOIN lanes l ON l.id = m.lane
     WHERE m.state = 'sending' AND m.id > +? AND ${SLOT_OF_LANE} IN ${LISTED}
     ORDER BY m.id LIMIT +?`,
  );
  const marks = (yield* rows.all(
    after === null ? Buffer.alloc(0) : toId(after),
    JSON.stringify(slots),
    limit,
  )) as Row[];
  return marks.map((row) => ({ id: fromId(row.id), slot: row.slot as number, attempt: row.attempts as number }));
}

function* returnOrphan(
  db: Transaction,
  { id, claim }: UntriedMessage,
  { at, reason }: { at: number; reason: string },
): Steps<LaneNotice[]> {
  const back = db.sql(
    `UPDATE messages SET state = 'deferred', due_at = coalesce(due_at, +?), last_reason = +?, ambiguous = 1
     WHERE id = +? AND state = 'sending' AND attempts = +?`,
  );
  if ((yield* back.run(at, reason, toId(id), claim.attempt)).changes === 0) return [];
  const lane = (yield* db
    .sql(
      'SELECT l.id, l.slot, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = +?',
    )
    .get(toId(id))) as Row | undefined;
  return lane ? [laneFromRow(lane)] : [];
}

/** Steps from lane to lane in the index, which SQLite itself does not do for DISTINCT with a join. */
function* findOrphanLanes(db: Transaction, after: number, limit: number) {
  const rows = db.sql(
    `WITH RECURSIVE used (lane, number) AS (
       SELECT (SELECT min(m.lane) FROM messages m WHERE ${WAITING} AND m.lane > +@after), 1
       UNION ALL
       SELECT (SELECT min(m.lane) FROM messages m WHERE ${WAITING} AND m.lane > used.lane), used.number + 1
       FROM used WHERE used.lane IS NOT NULL AND used.number < +@limit)
     SELECT used.lane,
       EXISTS (SELECT 1 FROM lanes l JOIN tenants t ON t.id = l.tenant_id WHERE l.id = used.lane) AS known
     FROM used WHERE used.lane IS NOT NULL`,
  );
  const used = (yield* rows.all({ after, limit })) as { lane: number; known: number }[];
  const lanes = used.filter(({ known }) => known === 0).map(({ lane }) => lane);
  return { lanes, checkedUpTo: used.length === limit ? used.at(-1)!.lane : null };
}

/** A pause of a single message parks it as well. */
function* countUnsendable(db: Transaction, most: number): Steps<number> {
  const pauses = db.sql(`SELECT target FROM queue_pauses WHERE kind = 'message' ORDER BY target LIMIT +?`, 'column');
  const paused = new Set((yield* pauses.all(MOST_PAUSES)) as string[]);
  const parked = db.sql(
    `SELECT m.id FROM messages m WHERE m.parked = 1 AND coalesce(m.last_reason, '') <> +? ORDER BY m.lane, m.id LIMIT +?`,
    'column',
  );
  const ids = (yield* parked.all(HELD_AFTER_RESTORE, most + paused.size)) as Uint8Array[];
  return Math.min(most, ids.filter((id) => !paused.has(fromId(id))).length);
}

function* parkLane(db: Transaction, lane: number, { limit, reason }: { limit: number; reason: string }) {
  const rows = (yield* db
    .sql(`SELECT m.id FROM messages m WHERE m.lane = +? AND ${WAITING} LIMIT +?`)
    .all(lane, limit)) as Row[];
  const messages = (yield* eachOf(rows, function* ({ id }) {
    return (yield* findClaimable(db, fromId(id))) ?? [];
  })).flat();
  const park = db.sql(`UPDATE messages SET parked = 1, due_at = NULL, last_reason = +? WHERE id = +?`);
  for (const { id } of messages) yield* park.run(reason, toId(id));
  return messages satisfies WaitingMessage[];
}
