// Operators' queries over many rows. Only waiting messages are read, along their index, never finished ones.

import type {
  OperatorQueries,
  QueueGroupSums,
  QueueLaneView,
  QueueMessageView,
  QueueOverview,
  QueueSlice,
  QueueSliceView,
  TenantResults,
} from '../../reads.ts';
import { eachOf, type Queries, type Steps } from '../steps.ts';
import { fromId, type Row, toId } from '../values.ts';
import { serviceFiguresOf } from '../verbs/figures/service-figures.ts';
import { WAITING } from '../verbs/queue/queue.ts';
import type { Answered } from './answered.ts';

export const OPERATOR_QUERIES: Answered<OperatorQueries> = {
  queueOverview,
  queueSlice,
  parkedMessages,
  recentResultsOf: recentResultsOf,
  serviceFigures: serviceFiguresOf,
};

/** The condition on the lane makes SQLite use the index of waiting messages, which is read in full. */
const LANES = `SELECT m.lane, min(m.due_at) AS due_at, count(*) AS waiting FROM messages m
  WHERE m.lane > -1 AND ${WAITING} GROUP BY m.lane`;

function* queueOverview(db: Queries): Steps<QueueOverview> {
  const rows = (yield* db
    .sql(
      `SELECT g.mx_group, sum(q.waiting) AS waiting, count(*) AS lanes, count(DISTINCT l.tenant_id) AS tenants,
         min(q.due_at) AS due_at, min(q.lane) AS lane
       FROM (${LANES}) q LEFT JOIN lanes l ON l.id = q.lane LEFT JOIN groups_of_domains g ON g.domain = l.domain
       GROUP BY g.mx_group ORDER BY waiting DESC, g.mx_group`,
    )
    .all()) as Row[];
  const count = function* (where: string) {
    return ((yield* db.sql(`SELECT count(*) AS n FROM messages m WHERE ${where}`).get()) as Row).n as number;
  };
  const oldest = (yield* db
    .sql('SELECT m.created_at FROM messages m WHERE m.finished_at IS NULL ORDER BY m.expires_at, m.id LIMIT 1')
    .get()) as Row | undefined;
  return {
    groups: yield* eachOf(rows, function* (row) {
      return groupFromRow(row, yield* lastReasonIn(db, row.lane));
    }),
    parked: yield* count('m.parked = 1'),
    sending: yield* count(`m.state = 'sending'`),
    oldestCreatedAt: (oldest?.created_at as number | undefined) ?? null,
  };
}

/** Of the lane's message that is due last: it is the most likely to have been tried. */
function* lastReasonIn(db: Queries, lane: unknown): Steps<string | null> {
  const last = db.sql(
    `SELECT m.last_reason FROM messages m WHERE m.lane = +? AND ${WAITING} ORDER BY m.due_at DESC, m.id DESC LIMIT 1`,
  );
  return ((yield* last.get(lane)) as Row | undefined)?.last_reason as string | null;
}

function groupFromRow(row: Row, lastReason: string | null): QueueGroupSums {
  return {
    mxGroup: row.mx_group as string | null,
    waiting: row.waiting as number,
    lanes: row.lanes as number,
    tenants: row.tenants as number,
    nextDueAt: row.due_at as number,
    lastReason,
  };
}

function* queueSlice(db: Queries, _: null, slice: QueueSlice): Steps<QueueSliceView> {
  const { where, values } = conditionsOf(slice);
  const found = `FROM (${LANES}) q JOIN lanes l ON l.id = q.lane LEFT JOIN groups_of_domains g ON g.domain = l.domain
    LEFT JOIN tenants t ON t.id = l.tenant_id WHERE ${where}`;
  const sums = db.sql(`SELECT count(*) AS lanes, coalesce(sum(q.waiting), 0) AS waiting ${found}`);
  const { lanes: laneCount, waiting } = (yield* sums.get(...values)) as { lanes: number; waiting: number };
  const rows = (yield* db
    .sql(
      `SELECT q.lane, q.due_at, q.waiting, l.tenant_id, l.domain, g.mx_group, coalesce(t.name, '') AS name ${found}
       ORDER BY q.waiting DESC, q.lane LIMIT +?`,
    )
    .all(...values, slice.lanes)) as Row[];
  return { lanes: rows.map(laneFromRow), laneCount, waiting, messages: yield* messagesOf(db, rows, slice) };
}

function conditionsOf({ mxGroup, tenantId, domain }: QueueSlice): { where: string; values: unknown[] } {
  const conditions = ['TRUE'];
  const values: unknown[] = [];
  if (mxGroup === null) conditions.push('g.mx_group IS NULL');
  for (const [condition, value] of [
    ['g.mx_group = +?', mxGroup],
    ['l.tenant_id = +?', tenantId === undefined ? undefined : toId(tenantId)],
    ['l.domain = +?', domain],
  ] as const) {
    if (value === undefined || value === null) continue;
    conditions.push(condition);
    values.push(value);
  }
  return { where: conditions.join(' AND '), values };
}

function laneFromRow(row: Row): QueueLaneView {
  return {
    tenantId: fromId(row.tenant_id),
    tenantName: row.name as string,
    domain: row.domain as string,
    mxGroup: row.mx_group as string | null,
    waiting: row.waiting as number,
    nextDueAt: row.due_at as number,
  };
}

const COLUMNS = 'm.id, m.tenant_id, m.recipient, m.attempts, m.parked, m.due_at, m.created_at, m.last_reason';

/** Of the fullest lanes only: messages in others can be found by their tenant or domain. */
function* messagesOf(db: Queries, lanes: Row[], { messages: limit }: QueueSlice): Steps<QueueMessageView[]> {
  const waiting = db.sql(
    `SELECT ${COLUMNS} FROM messages m WHERE m.lane = +? AND ${WAITING} ORDER BY m.due_at, m.id LIMIT +?`,
  );
  const parked = db.sql(`SELECT ${COLUMNS} FROM messages m WHERE m.lane = +? AND m.parked = 1 LIMIT +?`);
  const found: QueueMessageView[] = [];
  for (const { lane } of lanes) {
    const rows = [...((yield* waiting.all(lane, limit)) as Row[]), ...((yield* parked.all(lane, limit)) as Row[])];
    found.push(...rows.map(messageFromRow));
  }
  const order = ({ dueAt }: QueueMessageView) => dueAt ?? Number.POSITIVE_INFINITY;
  return found.sort((a, b) => order(a) - order(b) || (a.id < b.id ? -1 : 1)).slice(0, limit);
}

function* parkedMessages(db: Queries, _: null, limit: number): Steps<QueueMessageView[]> {
  const rows = yield* db
    .sql(`SELECT ${COLUMNS} FROM messages m WHERE m.parked = 1 ORDER BY m.lane, m.id LIMIT +?`)
    .all(limit);
  return (rows as Row[]).map(messageFromRow);
}

function messageFromRow(row: Row): QueueMessageView {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    recipient: row.recipient as string,
    attempts: row.attempts as number,
    parked: row.parked === 1,
    dueAt: row.due_at as number | null,
    createdAt: row.created_at as number,
    lastReason: row.last_reason as string | null,
  };
}

function* recentResultsOf(db: Queries, _: null, tenantIds: readonly string[], window: number): Steps<TenantResults[]> {
  const standing = db.sql(
    `SELECT count(*) AS messages, count(*) FILTER (WHERE bounce = 'hard') AS hard,
       count(*) FILTER (WHERE complained = 1) AS complaints
     FROM (SELECT bounce, complained FROM messages WHERE tenant_id = +? AND finished_at IS NOT NULL
           ORDER BY id DESC LIMIT +?) last`,
  );
  return yield* eachOf(tenantIds, function* (tenantId) {
    const row = (yield* standing.get(toId(tenantId), window)) as { messages: number; hard: number; complaints: number };
    return { tenantId, messages: row.messages, hardBounces: row.hard, complaints: row.complaints };
  });
}
