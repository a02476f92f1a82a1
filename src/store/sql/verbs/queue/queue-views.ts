// The queue as operators see it: waiting messages, one message in full, retrying now.

import { setImmediate as turn } from 'node:timers/promises';
import type {
  MessageDetail,
  MessageState,
  QueuedMessage,
  QueueLane,
  QueueStore,
  SubmissionDetail,
} from '../../../queue.ts';
import type { CopyKind, LaneNotice, RejectedRecipient } from '../../../submissions.ts';
import { eachOf, type Queries, type Steps } from '../../steps.ts';
import type { Connection, Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { attemptsOf } from '../message/attempts.ts';
import { labelsFromRow } from '../message/letters.ts';
import { OF_SUBMISSION } from '../message/submission-messages.ts';
import { findClaimable, laneFromRow, WAITING } from './queue.ts';
import { type LaneKey, lanesOfTenant } from './queue-pauses.ts';

type QueueViewVerbs = Work<
  Pick<QueueStore, 'getMessage' | 'findMessage' | 'findSubmission' | 'retryNow' | 'findWaiting'>
>;

export function queueViewVerbs(db: Transaction): QueueViewVerbs {
  return {
    getMessage: (id) => getMessage(db, id),
    *findMessage(tenantId, id) {
      const message = yield* getMessage(db, id);
      return message?.tenantId === tenantId ? message : null;
    },
    findSubmission: (tenantId, id) => findSubmission(db, tenantId, id),
    retryNow: (id, at) => retryNow(db, id, at),
    findWaiting: (id) => findClaimable(db, id),
  };
}

export function queueListVerbs(db: Connection): Pick<QueueStore, 'queueSummary' | 'listQueue'> {
  return { queueSummary: () => queueSummary(db), listQueue: (filter) => listQueue(db, filter) };
}

// About 2 ms where each lane has few messages.
const SLICE_LANES = 500;

/** In slices, with a turn of the event loop between them: not a snapshot. */
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

export function* getMessage(db: Queries, id: string): Steps<MessageDetail | null> {
  const row = (yield* db
    .sql(
      `SELECT m.*, coalesce(s.from_address, '') AS from_address, coalesce(s.subject, '') AS subject, s.labels, s.source,
         s.header_message_id
       FROM messages m LEFT JOIN submissions s ON s.id = m.submission_id WHERE m.id = +?`,
    )
    .get(toId(id))) as Row | undefined;
  if (!row) return null;
  return {
    ...messageFromRow(row),
    from: row.from_address as string,
    subject: row.subject as string,
    labels: labelsFromRow(row),
    source: row.source as MessageDetail['source'],
    attemptList: yield* attemptsOf(db, row),
  };
}

function* findSubmission(db: Queries, tenantId: string, id: string): Steps<SubmissionDetail | null> {
  const row = (yield* db
    .sql(
      `SELECT created_at, send_at, from_address, subject, labels, rejected, source, header_message_id FROM submissions
       WHERE tenant_id = +? AND id = +?`,
    )
    .get(toId(tenantId), toId(id))) as Row | undefined;
  if (!row) return null;
  const messages = db.sql(
    `SELECT m.id, m.recipient, m.copy, m.state FROM submissions s JOIN messages m ON ${OF_SUBMISSION}
     WHERE s.tenant_id = +? AND s.id = +? ORDER BY m.id`,
  );
  return {
    id,
    createdAt: row.created_at as number,
    sendAt: row.send_at as number | null,
    from: row.from_address as string,
    subject: row.subject as string,
    labels: labelsFromRow(row),
    source: row.source as MessageDetail['source'],
    messages: ((yield* messages.all(toId(tenantId), toId(id))) as Row[]).map((message) => ({
      id: fromId(message.id),
      recipient: message.recipient as string,
      copy: message.copy as CopyKind | null,
      state: message.state as MessageState,
    })),
    rejected: JSON.parse(row.rejected as string) as RejectedRecipient[],
  };
}

function* retryNow(db: Transaction, id: string, at: number): Steps<LaneNotice | null> {
  const retry = db.sql(
    `UPDATE messages SET due_at = +?, parked = 0, put_off = 0
     WHERE id = +? AND state IN ('scheduled', 'queued', 'deferred')`,
  );
  if ((yield* retry.run(at, toId(id))).changes === 0) return null;
  const row = (yield* db
    .sql(
      'SELECT l.id, l.slot, l.tenant_id, l.domain, m.due_at FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.id = +?',
    )
    .get(toId(id))) as Row;
  return laneFromRow(row);
}

// Rows of the queue as the contract's records.

function messageFromRow(row: Row): QueuedMessage {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    submissionId: fromId(row.submission_id),
    recipient: row.recipient as string,
    state: row.state as QueuedMessage['state'],
    attempts: row.attempts as number,
    dueAt: row.due_at as number | null,
    expiresAt: row.expires_at as number,
    lastReason: row.last_reason as string | null,
    ambiguous: row.ambiguous === 1,
    parked: row.parked === 1,
    sourceAddress: row.source_address as string | null,
    createdAt: row.created_at as number,
    finishedAt: row.finished_at as number | null,
  };
}

// The list of unfinished messages, those that expire first on top. The index by expiry holds unfinished
// messages of all tenants; the lanes lead to a tenant's or a domain's messages, but not by expiry. Few messages are
// gathered lane by lane and sorted; many are found soon along the index by expiry. Both run in slices, with a turn of
// the event loop between them: not a snapshot.

export interface QueueFilter {
  tenantId?: string;
  domain?: string;
  limit: number;
}

// Some milliseconds per slice.
const SLICE_MESSAGES = 1000;
/** A filter that matches more than this matches a good part of any queue, so a scan by expiry finds them soon. */
const MAX_GATHERED = 5000;

/** Tests set `maxGathered`. */
export async function listQueue(
  db: Connection,
  filter: QueueFilter,
  maxGathered = MAX_GATHERED,
): Promise<QueuedMessage[]> {
  if (filter.tenantId === undefined && filter.domain === undefined) {
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
  for (let after: LaneKey | null = null; ; await turn()) {
    const lanes: LaneKey[] = await db.read(() => lanesOf(db, filter, after));
    await db.read(function* () {
      for (const { id } of lanes) {
        if (found.size > max) return;
        add(yield* inLane(db, id, max + 1 - found.size));
      }
    });
    if (found.size > max) return null;
    if (lanes.length < SLICE_LANES) return [...found.values()];
    after = lanes.at(-1)!;
  }
}

function* lanesOf(db: Transaction, { tenantId, domain }: QueueFilter, after: LaneKey | null): Steps<LaneKey[]> {
  if (tenantId === undefined) {
    const rows = db.sql('SELECT id, domain, slot FROM lanes WHERE domain = +? AND id > +? ORDER BY id LIMIT +?');
    return (yield* rows.all(domain, after?.id ?? -1, SLICE_LANES)) as LaneKey[];
  }
  if (domain !== undefined) {
    return (yield* db
      .sql('SELECT id, domain, slot FROM lanes WHERE tenant_id = +? AND domain = +?')
      .all(toId(tenantId), domain)) as LaneKey[];
  }
  return yield* lanesOfTenant(db, tenantId, { after, limit: SLICE_LANES });
}

function* inLane(db: Transaction, lane: number, limit: number): Steps<Buffer[]> {
  const waiting = db.sql(`SELECT m.id FROM messages m WHERE m.lane = +? AND ${WAITING} LIMIT +?`);
  const parked = db.sql('SELECT m.id FROM messages m WHERE m.lane = +? AND m.parked = 1 LIMIT +?');
  return [...((yield* waiting.all(lane, limit)) as Row[]), ...((yield* parked.all(lane, limit)) as Row[])].map(
    ({ id }) => id as Buffer,
  );
}

function* sending(db: Transaction, { tenantId, domain }: QueueFilter): Steps<Buffer[]> {
  const rows = (yield* db
    .sql(
      `SELECT m.id, m.tenant_id, l.domain FROM messages m LEFT JOIN lanes l ON l.id = m.lane WHERE m.state = 'sending'`,
    )
    .all()) as Row[];
  const tenant = tenantId === undefined ? null : toId(tenantId);
  return rows
    .filter((row) => tenant === null || tenant.equals(row.tenant_id as Buffer))
    .filter((row) => domain === undefined || row.domain === domain)
    .map((row) => row.id as Buffer);
}

async function scanByExpiry(db: Connection, { tenantId, domain, limit }: QueueFilter): Promise<QueuedMessage[]> {
  const found: QueuedMessage[] = [];
  const tenant = tenantId === undefined ? null : toId(tenantId);
  const matches = (row: Row) =>
    (tenant === null || tenant.equals(row.tenant_id as Buffer)) && (domain === undefined || row.domain === domain);
  for (let after: Row | null = null; ; await turn()) {
    const slice: Row[] = await db.read(() => sliceByExpiry(db, after));
    for (const row of slice) if (found.length < limit && matches(row)) found.push(messageFromRow(row));
    if (found.length === limit || slice.length < SLICE_MESSAGES) return found;
    after = slice.at(-1)!;
  }
}

function* sliceByExpiry(db: Transaction, after: Row | null): Steps<Row[]> {
  const rows = db.sql(
    `SELECT m.*, l.domain FROM messages m LEFT JOIN lanes l ON l.id = m.lane
     WHERE m.finished_at IS NULL AND (m.expires_at, m.id) > (+?, +?) ORDER BY m.expires_at, m.id LIMIT +?`,
  );
  return (yield* rows.all(after?.expires_at ?? -1, after?.id ?? Buffer.alloc(0), SLICE_MESSAGES)) as Row[];
}
