// Acting on whole lanes of the queue in SQLite: which lanes lead to a target, and their waiting
// messages in portions.
import type { ClaimedMessage } from '../../queue.ts';
import type { HastenPortion, LaneCursor, LanePage, LanesTarget, ShapingStore } from '../../shaping.ts';
import type { LaneNotice } from '../../submissions.ts';
import type { Connection } from '../engine/connection.ts';
import { fromId, type Row, toId } from '../engine/values.ts';
import { findClaimable, laneFromRow, WAITING } from './queue.ts';

type TargetVerbs = Pick<ShapingStore, 'groupOfDomain' | 'lanesOf' | 'hastenLane' | 'waitingOfLane' | 'forgetDomains'>;

export function targetVerbs(db: Connection): TargetVerbs {
  return {
    groupOfDomain: (domain) => db.read(() => groupOfDomain(db, domain)),
    lanesOf: (target, after, limit) => db.read(() => lanesOf(db, target, { after, limit })),
    hastenLane: (lane, portion) => db.write(() => hastenLane(db, lane, portion)),
    waitingOfLane: (lane, limit) => db.read(() => waitingOfLane(db, lane, limit)),
    forgetDomains: (seenBefore, limit) => db.write(() => forgetDomains(db, seenBefore, limit)),
  };
}

function groupOfDomain(db: Connection, domain: string): string | null {
  const row = db.sql('SELECT mx_group FROM groups_of_domains WHERE domain = ?').get(domain) as Row | undefined;
  return (row?.mx_group as string | undefined) ?? null;
}

/** Each kind in the order of the index that leads to it, so that no page sorts anything. */
function lanesOf(db: Connection, { kind, key }: LanesTarget, { after, limit }: Page): LanePage {
  if (kind === 'group') return lanesOfGroup(db, key, { after, limit });
  if (kind === 'domain') {
    const rows = db
      .sql('SELECT id FROM lanes WHERE domain = ? AND id > ? ORDER BY id LIMIT ?')
      .all(key, after ?? -1, limit) as { id: number }[];
    return { lanes: rows.map(({ id }) => id), next: rows.length < limit ? null : rows.at(-1)!.id };
  }
  const rows = db
    .sql('SELECT id, domain FROM lanes WHERE tenant_id = ? AND domain > ? ORDER BY domain LIMIT ?')
    .all(toId(key), after ?? '', limit) as { id: number; domain: string }[];
  return { lanes: rows.map(({ id }) => id), next: rows.length < limit ? null : rows.at(-1)!.domain };
}

interface Page {
  after: LaneCursor | null;
  limit: number;
}

/** A page of its domains, with the lanes of each. */
function lanesOfGroup(db: Connection, group: string, { after, limit }: Page): LanePage {
  const domains = db
    .sql('SELECT domain FROM groups_of_domains WHERE mx_group = ? AND domain > ? ORDER BY domain LIMIT ?')
    .all(group, after ?? '', limit) as { domain: string }[];
  const ofDomain = db.sql('SELECT id FROM lanes WHERE domain = ?');
  const lanes = domains.flatMap(({ domain }) => ofDomain.all(domain) as { id: number }[]);
  return { lanes: lanes.map(({ id }) => id), next: domains.length < limit ? null : domains.at(-1)!.domain };
}

function hastenLane(
  db: Connection,
  lane: number,
  { at, limit, putOff = false }: HastenPortion,
): { moved: number; notice: LaneNotice | null } {
  const which = putOff ? 'm.put_off = 1' : 'm.due_at > @at';
  const hasten = db.sql(
    `UPDATE messages SET due_at = @at, put_off = 0 WHERE id IN
       (SELECT m.id FROM messages m WHERE m.lane = @lane AND ${WAITING} AND ${which} LIMIT @limit)`,
  );
  const moved = hasten.run({ at, lane, limit }).changes;
  const due = db.sql(
    `SELECT l.id, l.tenant_id, l.domain, @at AS due_at FROM lanes l WHERE l.id = @lane AND EXISTS
       (SELECT 1 FROM messages m WHERE m.lane = l.id AND ${WAITING} AND m.due_at <= @at)`,
  );
  const row = due.get({ at, lane }) as Row | undefined;
  return { moved, notice: row ? laneFromRow(row) : null };
}

function waitingOfLane(db: Connection, lane: number, limit: number): ClaimedMessage[] {
  const due = db.sql(`SELECT m.id FROM messages m WHERE m.lane = ? AND ${WAITING} LIMIT ?`).all(lane, limit) as Row[];
  const parked = db
    .sql(`SELECT m.id FROM messages m WHERE m.lane = ? AND m.parked = 1 LIMIT ?`)
    .all(lane, limit - due.length) as Row[];
  return [...due, ...parked].flatMap(({ id }) => findClaimable(db, fromId(id)) ?? []);
}

function forgetDomains(db: Connection, seenBefore: number, limit: number): number {
  const forget = db.sql(
    `DELETE FROM groups_of_domains WHERE domain IN (SELECT domain FROM groups_of_domains WHERE seen_at < ? LIMIT ?)`,
  );
  return forget.run(seenBefore, limit).changes;
}
