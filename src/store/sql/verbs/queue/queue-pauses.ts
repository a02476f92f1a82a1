// Operators' pauses. A paused message is marked as parked, so that no query for due
// messages finds it; its row in queue_pauses says who paused it and when it was due.

import type { WaitingMessage } from '../../../queue.ts';
import type {
  DomainNote,
  DueBatch,
  LaneCursor,
  LanePage,
  LanesTarget,
  QueuePause,
  QueueTarget,
  ShapingStore,
} from '../../../shaping.ts';
import type { LaneNotice } from '../../../submissions.ts';
import { eachOf, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { findClaimable, laneFromRow, WAITING } from './queue.ts';

type PauseVerbs = Work<Pick<ShapingStore, 'pauseQueue' | 'resumeQueue' | 'findPause' | 'listPauses'>>;

export function pauseVerbs(db: Transaction): PauseVerbs {
  return {
    pauseQueue: (pause) => pauseQueue(db, pause),
    resumeQueue: (target) => resumeQueue(db, target),
    findPause: (target) => findPause(db, target),
    *listPauses(limit) {
      const rows = yield* db
        .sql('SELECT * FROM queue_pauses ORDER BY paused_at DESC, kind, target LIMIT +?')
        .all(limit);
      return (rows as Row[]).map(pauseFromRow);
    },
  };
}

function* pauseQueue(db: Transaction, pause: QueuePause): Steps<boolean> {
  const { kind, key, by, note, at } = pause;
  if (yield* findPause(db, pause)) return false;
  const add = db.sql(
    `INSERT INTO queue_pauses (kind, target, paused_by, note, paused_at, due_at) VALUES (+?, +?, +?, +?, +?, +?)`,
  );
  if (kind !== 'message') return (yield* add.run(kind, key, by, note, at, null)).changes === 1;
  const message = (yield* db
    .sql(`SELECT due_at, put_off FROM messages WHERE id = +? AND state IN ('queued', 'deferred') AND parked = 0`)
    .get(toId(key))) as { due_at: number; put_off: number } | undefined;
  if (!message) return false;
  yield* db.sql('UPDATE messages SET parked = 1, due_at = NULL, put_off = 0 WHERE id = +?').run(toId(key));
  // It was due: whether the reason that put it off still applies is decided when it is resumed.
  const dueAt = message.put_off === 1 ? at : message.due_at;
  return (yield* add.run(kind, key, by, note, at, dueAt)).changes === 1;
}

function* resumeQueue(
  db: Transaction,
  target: QueueTarget,
): Steps<{ pause: QueuePause; lane: LaneNotice | null } | null> {
  const row = (yield* db
    .sql('DELETE FROM queue_pauses WHERE kind = +? AND target = +? RETURNING *')
    .get(target.kind, target.key)) as Row | undefined;
  if (!row) return null;
  const lane = target.kind === 'message' ? yield* unpark(db, target.key, row.due_at as number) : null;
  return { pause: pauseFromRow(row), lane };
}

/** The message may have ended meanwhile, since its lifetime goes on. */
function* unpark(db: Transaction, messageId: string, dueAt: number): Steps<LaneNotice | null> {
  const id = toId(messageId);
  const back = db.sql(
    `UPDATE messages SET parked = 0, due_at = +? WHERE id = +? AND state IN ('queued', 'deferred') AND parked = 1`,
  );
  if ((yield* back.run(dueAt, id)).changes === 0) return null;
  const lane = (yield* db
    .sql(
      'SELECT l.id, l.slot, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = +?',
    )
    .get(id)) as Row;
  return laneFromRow(lane);
}

function* findPause(db: Transaction, { kind, key }: QueueTarget): Steps<QueuePause | null> {
  const row = (yield* db.sql('SELECT * FROM queue_pauses WHERE kind = +? AND target = +?').get(kind, key)) as
    | Row
    | undefined;
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

// Operations on whole lanes of the queue: which lanes lead to a target, and their waiting
// messages in batches.

type TargetVerbs = Work<
  Pick<ShapingStore, 'noteDomains' | 'groupOfDomain' | 'lanesOf' | 'makeLaneDue' | 'waitingOfLane' | 'forgetDomains'>
>;

export function targetVerbs(db: Transaction): TargetVerbs {
  return {
    noteDomains: (notes, freshSince) => noteDomains(db, notes, freshSince),
    groupOfDomain: (domain) => groupOfDomain(db, domain),
    lanesOf: (target, after, limit) => lanesOf(db, target, { after, limit }),
    makeLaneDue: (lane, portion) => makeLaneDue(db, lane, portion),
    waitingOfLane: (lane, limit) => waitingOfLane(db, lane, limit),
    forgetDomains: (seenBefore, limit) => forgetDomains(db, seenBefore, limit),
  };
}

/** In the order of their names: two nodes that lock the same rows in turn would wait for each other. */
function* noteDomains(db: Transaction, notes: readonly DomainNote[], freshSince: number): Steps<void> {
  const known = db.sql('SELECT 1 FROM groups_of_domains WHERE domain = +? AND mx_group = +? AND seen_at >= +?');
  const note = db.sql(
    `INSERT INTO groups_of_domains (domain, mx_group, seen_at) VALUES (+?, +?, +?)
     ON CONFLICT (domain) DO UPDATE SET mx_group = excluded.mx_group, seen_at = excluded.seen_at`,
  );
  const inOrder = notes.toSorted((one, other) => (one.domain < other.domain ? -1 : 1));
  yield* db.forAll(inOrder, function* ({ domain, mxGroup, at }) {
    if ((yield* known.get(domain, mxGroup, freshSince)) === undefined) yield* note.run(domain, mxGroup, at);
  });
}

export function* groupOfDomain(db: Transaction, domain: string): Steps<string | null> {
  const row = (yield* db.sql('SELECT mx_group FROM groups_of_domains WHERE domain = +?').get(domain)) as
    | Row
    | undefined;
  return (row?.mx_group as string | undefined) ?? null;
}

/** Each kind in the order of the index that leads to it, so that no page needs a sort. */
export function* lanesOf(db: Transaction, { kind, key }: LanesTarget, { after, limit }: Page): Steps<LanePage> {
  if (kind === 'group') return yield* lanesOfGroup(db, key, { after, limit });
  if (kind === 'domain') {
    const rows = (yield* db
      .sql('SELECT id FROM lanes WHERE domain = +? AND id > +? ORDER BY id LIMIT +?')
      .all(key, after ?? -1, limit)) as { id: number }[];
    return { lanes: rows.map(({ id }) => id), next: rows.length < limit ? null : rows.at(-1)!.id };
  }
  const rows = yield* lanesOfTenant(db, key, { after: typeof after === 'string' ? keyFromCursor(after) : null, limit });
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { lanes: rows.map(({ id }) => id), next: last ? `${last.domain} ${last.slot}` : null };
}

/** A lane in the order of its tenant's. */
interface LaneKey {
  id: number;
  domain: string;
  slot: number;
}

function* lanesOfTenant(
  db: Transaction,
  tenantId: string,
  { after, limit }: { after: Pick<LaneKey, 'domain' | 'slot'> | null; limit: number },
): Steps<LaneKey[]> {
  const rows = db.sql(
    `SELECT id, domain, slot FROM lanes WHERE tenant_id = +? AND (domain, slot) > (+?, +?)
     ORDER BY domain, slot LIMIT +?`,
  );
  return (yield* rows.all(toId(tenantId), after?.domain ?? '', after?.slot ?? 0, limit)) as LaneKey[];
}

function keyFromCursor(cursor: string): Pick<LaneKey, 'domain' | 'slot'> {
  const [domain, slot] = cursor.split(' ');
  return { domain: domain!, slot: Number(slot) };
}

interface Page {
  after: LaneCursor | null;
  limit: number;
}

/** A page of the group's domains, with the lanes of each. */
function* lanesOfGroup(db: Transaction, group: string, { after, limit }: Page): Steps<LanePage> {
  const domains = (yield* db
    .sql('SELECT domain FROM groups_of_domains WHERE mx_group = +? AND domain > +? ORDER BY domain LIMIT +?')
    .all(group, after ?? '', limit)) as { domain: string }[];
  const ofDomain = db.sql('SELECT id FROM lanes WHERE domain = +?');
  const lanes = (yield* eachOf(domains, function* ({ domain }) {
    return (yield* ofDomain.all(domain)) as { id: number }[];
  })).flat();
  return { lanes: lanes.map(({ id }) => id), next: domains.length < limit ? null : domains.at(-1)!.domain };
}

function* makeLaneDue(
  db: Transaction,
  lane: number,
  { at, limit, putOff = false }: DueBatch,
): Steps<{ moved: number; notice: LaneNotice | null }> {
  const which = putOff ? 'm.put_off = 1' : 'm.due_at > +@at';
  const update = db.sql(
    `UPDATE messages SET due_at = +@at, put_off = 0 WHERE id IN
       (SELECT m.id FROM messages m WHERE m.lane = +@lane AND ${WAITING} AND ${which} LIMIT +@limit)`,
  );
  const moved = (yield* update.run({ at, lane, limit })).changes;
  const due = db.sql(
    `SELECT l.id, l.slot, l.tenant_id, l.domain, CAST(+@at AS BIGINT) AS due_at FROM lanes l WHERE l.id = +@lane AND EXISTS
       (SELECT 1 FROM messages m WHERE m.lane = l.id AND ${WAITING} AND m.due_at <= +@at)`,
  );
  const row = (yield* due.get({ at, lane })) as Row | undefined;
  return { moved, notice: row ? laneFromRow(row) : null };
}

function* waitingOfLane(db: Transaction, lane: number, limit: number): Steps<WaitingMessage[]> {
  const due = (yield* db
    .sql(`SELECT m.id FROM messages m WHERE m.lane = +? AND ${WAITING} LIMIT +?`)
    .all(lane, limit)) as Row[];
  const parked = (yield* db
    .sql(`SELECT m.id FROM messages m WHERE m.lane = +? AND m.parked = 1 LIMIT +?`)
    .all(lane, limit - due.length)) as Row[];
  const scheduled = (yield* db
    .sql(`SELECT m.id FROM messages m WHERE m.lane = +? AND m.state = 'scheduled' ORDER BY m.id LIMIT +?`)
    .all(lane, limit - due.length - parked.length)) as Row[];
  return (yield* eachOf([...due, ...parked, ...scheduled], function* ({ id }) {
    return (yield* findClaimable(db, fromId(id))) ?? [];
  })).flat();
}

function* forgetDomains(db: Transaction, seenBefore: number, limit: number): Steps<number> {
  const forget = db.sql(
    `DELETE FROM groups_of_domains WHERE domain IN (SELECT domain FROM groups_of_domains WHERE seen_at < +? LIMIT +?)`,
  );
  return (yield* forget.run(seenBefore, limit)).changes;
}
