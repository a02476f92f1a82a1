// The queue as operators see it: how much waits per lane, and the list of unfinished messages, those that expire first on
// top. The index by expiry holds unfinished messages of all tenants; the lanes lead to a tenant's, a domain's or an MX
// group's messages, but not by expiry. Few messages are gathered lane by lane and sorted; many are found soon along the
// index by expiry. All of it runs in slices, with a turn of the event loop between them: not a snapshot.

import { setImmediate as turn } from 'node:timers/promises';
import type { QueuedMessage, QueueLane, QueueStore } from '../../../queue.ts';
import type { LaneCursor, LanePage } from '../../../shaping.ts';
import { eachOf, type Steps } from '../../steps.ts';
import type { Connection, Transaction } from '../../transaction.ts';
import { type Row, toId } from '../../values.ts';
import { laneFromRow, WAITING } from './queue.ts';
import { groupOfDomain, lanesOf } from './queue-pauses.ts';
import { messageFromRow } from './queue-views.ts';

export function queueListVerbs(db: Connection): Pick<QueueStore, 'queueSummary' | 'listQueue'> {
  return { queueSummary: () => queueSummary(db), listQueue: (filter) => listQueue(db, filter) };
}

// About 2 ms where each lane has few messages.
const SLICE_LANES = 500;

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

function* summaryOf(db: Transaction, after: number): Steps<Row[]> {
  const rows = db.sql(
    `SELECT q.lane, l.id, l.slot, l.tenant_id, l.domain, q.due_at, q.waiting FROM
       (SELECT m.lane, min(m.due_at) AS due_at, count(*) AS waiting FROM messages m WHERE m.lane > +? AND ${WAITING}
        GROUP BY m.lane ORDER BY m.lane LIMIT +?) q
     LEFT JOIN lanes l ON l.id = q.lane`,
  );
  return (yield* rows.all(after, SLICE_LANES)) as Row[];
}

// Some milliseconds per slice.
const SLICE_MESSAGES = 1000;
/** A filter that matches more than this matches a good part of any queue, so a scan by expiry finds them soon. */
const MAX_GATHERED = 5000;

export interface QueueFilter {
  tenantId?: string;
  domain?: string;
  group?: string;
  limit: number;
}

/** Tests set `maxGathered`. */
export async function listQueue(
  db: Connection,
  filter: QueueFilter,
  maxGathered = MAX_GATHERED,
): Promise<QueuedMessage[]> {
  if (filter.tenantId === undefined && filter.domain === undefined && filter.group === undefined) {
    return await db.read(function* () {
      return (yield* firstToExpire(db, filter.limit)).map(messageFromRow);
    });
  }
  const gathered = await gather(db, filter, maxGathered);
  if (gathered === null) return scanByExpiry(db, filter);
  const messages: QueuedMessage[] = [];
  for (let at = 0; at < gathered.length; at += SLICE_MESSAGES) {
    if (at > 0) await turn();
    const slice = gathered.slice(at, at + SLICE_MESSAGES);
    // Some may have finished since their IDs were read.
    messages.push(
      ...(await db.read(function* () {
        return (yield* eachOf(slice, (id) => unfinished(db, id))).flat();
      })),
    );
  }
  return messages.sort(byExpiry).slice(0, filter.limit);
}

function byExpiry(a: QueuedMessage, b: QueuedMessage): number {
  return a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1);
}

function* firstToExpire(db: Transaction, limit: number): Steps<Row[]> {
  const rows = db.sql('SELECT m.* FROM messages m WHERE m.finished_at IS NULL ORDER BY m.expires_at, m.id LIMIT +?');
  return (yield* rows.all(limit)) as Row[];
}

function* unfinished(db: Transaction, id: Buffer): Steps<QueuedMessage[]> {
  const row = (yield* db.sql('SELECT m.* FROM messages m WHERE m.id = +? AND m.finished_at IS NULL').get(id)) as
    | Row
    | undefined;
  return row ? [messageFromRow(row)] : [];
}

/** Null: more than `max`. Messages that change state meanwhile may be found twice, or missed. */
async function gather(db: Connection, filter: QueueFilter, max: number): Promise<Buffer[] | null> {
  const found = new Map<string, Buffer>();
  const add = (ids: Buffer[]) => {
    for (const id of ids) found.set(id.toString('latin1'), id);
  };
  // Messages being sent are few, even over all tenants.
  add(await db.read(() => sending(db, filter)));
  for (let after: LaneCursor | null = null; ; ) {
    const { lanes, next }: LanePage = await db.read(() => pageOfLanes(db, filter, after));
    // A page of a group's domains may have many lanes.
    for (let at = 0; at < lanes.length; at += SLICE_LANES) {
      await db.read(function* () {
        for (const lane of lanes.slice(at, at + SLICE_LANES)) {
          if (found.size > max) return;
          add(yield* inLane(db, lane, max + 1 - found.size));
        }
      });
      if (found.size > max) return null;
      await turn();
    }
    if (next === null) return [...found.values()];
    after = next;
  }
}

function* pageOfLanes(db: Transaction, filter: QueueFilter, after: LaneCursor | null): Steps<LanePage> {
  const { tenantId, domain, group } = filter;
  if (domain !== undefined && group !== undefined && (yield* groupOfDomain(db, domain)) !== group) return NO_LANES;
  const page = { after, limit: SLICE_LANES };
  if (tenantId === undefined) {
    const target =
      domain === undefined ? { kind: 'group' as const, key: group! } : { kind: 'domain' as const, key: domain };
    return yield* lanesOf(db, target, page);
  }
  if (domain !== undefined) {
    const rows = db.sql('SELECT id FROM lanes WHERE tenant_id = +? AND domain = +?');
    return { lanes: idsOf(yield* rows.all(toId(tenantId), domain)), next: null };
  }
  if (group === undefined) return yield* lanesOf(db, { kind: 'tenant', key: tenantId }, page);
  const { lanes, next } = yield* lanesOf(db, { kind: 'group', key: group }, page);
  const own = db.sql('SELECT id FROM lanes WHERE id = +? AND tenant_id = +?');
  return { lanes: idsOf((yield* eachOf(lanes, (lane) => own.all(lane, toId(tenantId)))).flat()), next };
}

const NO_LANES: LanePage = { lanes: [], next: null };

function idsOf(rows: unknown[]): number[] {
  return (rows as { id: number }[]).map(({ id }) => id);
}

function* inLane(db: Transaction, lane: number, limit: number): Steps<Buffer[]> {
  const found: Buffer[] = [];
  for (const which of [WAITING, 'm.parked = 1', `m.state = 'scheduled'`]) {
    const rows = db.sql(`SELECT m.id FROM messages m WHERE m.lane = +? AND ${which} LIMIT +?`);
    for (const { id } of (yield* rows.all(lane, limit)) as Row[]) found.push(id as Buffer);
  }
  return found;
}

function* sending(db: Transaction, filter: QueueFilter): Steps<Buffer[]> {
  const rows = (yield* db
    .sql(`SELECT m.id, m.tenant_id, l.domain, g.mx_group FROM messages m ${WITH_TARGETS} WHERE m.state = 'sending'`)
    .all()) as Row[];
  return rows.filter(matching(filter)).map((row) => row.id as Buffer);
}

async function scanByExpiry(db: Connection, filter: QueueFilter): Promise<QueuedMessage[]> {
  const found: QueuedMessage[] = [];
  const matches = matching(filter);
  for (let after: Row | null = null; ; await turn()) {
    const slice: Row[] = await db.read(() => sliceByExpiry(db, after));
    for (const row of slice) if (found.length < filter.limit && matches(row)) found.push(messageFromRow(row));
    if (found.length === filter.limit || slice.length < SLICE_MESSAGES) return found;
    after = slice.at(-1)!;
  }
}

function* sliceByExpiry(db: Transaction, after: Row | null): Steps<Row[]> {
  const rows = db.sql(
    `SELECT m.*, l.domain, g.mx_group FROM messages m ${WITH_TARGETS}
     WHERE m.finished_at IS NULL AND (m.expires_at, m.id) > (+?, +?) ORDER BY m.expires_at, m.id LIMIT +?`,
  );
  return (yield* rows.all(after?.expires_at ?? -1, after?.id ?? Buffer.alloc(0), SLICE_MESSAGES)) as Row[];
}

const WITH_TARGETS = 'LEFT JOIN lanes l ON l.id = m.lane LEFT JOIN groups_of_domains g ON g.domain = l.domain';

function matching({ tenantId, domain, group }: QueueFilter): (row: Row) => boolean {
  const tenant = tenantId === undefined ? null : toId(tenantId);
  return (row) =>
    (tenant === null || tenant.equals(row.tenant_id as Buffer)) &&
    (domain === undefined || row.domain === domain) &&
    (group === undefined || row.mx_group === group);
}
