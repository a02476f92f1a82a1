// Claiming: due messages of a lane are marked as being sent. If the session uses one specific
// source address, the address of each message is chosen first: messages for this address are claimed,
// those that must wait are put off, the others stay due.

import { setImmediate as turn } from 'node:timers/promises';
import { atStep } from '../../../../base/backoff.ts';
import type { ClaimedMessage, ClaimResult, ClaimTerms, QueueStore, WaitingMessage } from '../../../queue.ts';
import {
  type ClaimSource,
  chooseSource,
  type DueMessage,
  dayOf,
  type PeekedLane,
  type SourceStore,
  type SourceUsage,
} from '../../../source-addresses.ts';
import type { LaneNotice } from '../../../submissions.ts';
import type { Steps } from '../../steps.ts';
import type { Connection, Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { isCurrent } from '../nodes/owners.ts';
import { laneFromRow, MESSAGE_COLUMNS, WAITING, waitingFromRow } from './queue.ts';

// Enough for a session to find its share of a lane whose messages use many addresses.
const SCANNED_PER_CLAIM = 4;
const MIN_SCANNED = 200;

interface ClaimRequest {
  lane: number;
  limit: number;
  terms: ClaimTerms;
}

export function claimVerbs(db: Transaction): Work<Pick<QueueStore, 'claim'>> {
  return { claim: (lane, limit, terms) => claim(db, { lane, limit, terms }) };
}

export function sourceVerbs(db: Transaction): Work<SourceStore> {
  return {
    peekDue: (lane, of) => peekDue(db, lane, of),
    forgetSourceUsage: (beforeDay, limit) => forgetSourceUsage(db, beforeDay, limit),
  };
}

function* claim(db: Transaction, request: ClaimRequest): Steps<ClaimResult> {
  const { lane, terms } = request;
  if (!(yield* isCurrent(db, terms.owner))) return { messages: [], nextDueAt: null, isOver: true };
  const active = db.sql(
    `SELECT 1 FROM lanes l JOIN tenants t ON t.id = l.tenant_id WHERE l.id = +? AND l.slot = +? AND t.status = 'active'`,
  );
  if ((yield* active.get(lane, terms.owner.slot)) === undefined)
    return { messages: [], nextDueAt: null, isOver: false };
  const messages = terms.from ? yield* claimFrom(db, request, terms.from) : yield* claimAny(db, request);
  return { messages, nextDueAt: yield* nextDueAt(db, lane, terms), isOver: false };
}

function* claimAny(db: Transaction, { lane, limit, terms }: ClaimRequest): Steps<ClaimedMessage[]> {
  const rows = yield* dueRows(db, { lane, limit, terms });
  // While the system picks, an address of earlier attempts does not matter.
  return yield* db.forAll(rows, (row) => markSending(db, waitingFromRow(row), { terms, sourceAddress: null }));
}

function* dueRows(db: Transaction, { lane, limit, terms }: ClaimRequest): Steps<Row[]> {
  const due = db.sql(
    `SELECT ${MESSAGE_COLUMNS} WHERE m.lane = +? AND ${WAITING} AND m.due_at >= +? AND m.due_at <= +? AND m.expires_at > +?
     ORDER BY m.due_at, m.id LIMIT +?`,
  );
  return (yield* due.all(lane, terms.dueFrom ?? 0, terms.now, terms.now, limit)) as Row[];
}

function* markSending(
  db: Transaction,
  message: WaitingMessage,
  { terms, sourceAddress }: { terms: ClaimTerms; sourceAddress: string | null },
): Steps<ClaimedMessage> {
  const attempt = message.attempt + 1;
  const mark = db.sql(`UPDATE messages SET state = 'sending', attempts = +?, due_at = +?, put_off = 0 WHERE id = +?`);
  yield* mark.run(attempt, atStep(terms.dueAgainAt, attempt) ?? terms.now, toId(message.id));
  return Object.assign(message, { attempt, sourceAddress, owner: terms.owner });
}

/** Without messages past their lifetime: the sweeper handles those. */
function* nextDueAt(db: Transaction, lane: number, { now, dueFrom = 0 }: ClaimTerms): Steps<number | null> {
  const next = db.sql(
    `SELECT min(m.due_at) AS due_at FROM messages m
     WHERE m.lane = +? AND ${WAITING} AND m.due_at >= +? AND m.expires_at > +?`,
  );
  return ((yield* next.get(lane, dueFrom, now)) as { due_at: number | null }).due_at;
}

function* peekDue(
  db: Transaction,
  lane: number,
  { now, dueFrom, mxGroup, limit }: { now: number; dueFrom?: number; mxGroup: string; limit: number },
): Steps<PeekedLane> {
  return {
    due: yield* dueMessages(db, { lane, now, dueFrom, limit }),
    usages: (yield* openLedger(db, mxGroup, 0)).usages,
  };
}

function* dueMessages(
  db: Transaction,
  { lane, now, dueFrom = 0, limit }: { lane: number; now: number; dueFrom?: number | undefined; limit: number },
): Steps<DueMessage[]> {
  const due = db.sql(
    `SELECT m.id, m.source_address FROM messages m
     WHERE m.lane = +? AND ${WAITING} AND m.due_at >= +? AND m.due_at <= +? AND m.expires_at > +?
     ORDER BY m.due_at, m.id LIMIT +?`,
  );
  const rows = (yield* due.all(lane, dueFrom, now, now, limit)) as Row[];
  return rows.map((row) => ({ id: fromId(row.id), sourceAddress: row.source_address as string | null }));
}

function* claimFrom(db: Transaction, { lane, limit, terms }: ClaimRequest, from: ClaimSource): Steps<ClaimedMessage[]> {
  const ledger = yield* openLedger(db, from.facts.mxGroup, dayOf(terms.now));
  const scanned = Math.max(limit * SCANNED_PER_CLAIM, MIN_SCANNED);
  const due = yield* dueMessages(db, { lane, now: terms.now, dueFrom: terms.dueFrom, limit: scanned });
  const { later, ours } = divide(due, { ledger, from, now: terms.now, limit });
  const putOff = db.sql('UPDATE messages SET due_at = +?, last_reason = +?, put_off = 1 WHERE id = +?');
  yield* db.forAll(later, ({ id, until, reason }) => putOff.run(Math.max(until, terms.now + 1), reason, toId(id)));
  const bind = db.sql('UPDATE messages SET source_address = +? WHERE id = +?');
  const whole = db.sql(`SELECT ${MESSAGE_COLUMNS} WHERE m.id = +?`);
  const claimed = yield* db.forAll(ours, function* ({ id, sourceAddress }) {
    if (sourceAddress !== from.address) yield* bind.run(from.address, toId(id));
    const message = waitingFromRow((yield* whole.get(toId(id))) as Row);
    return yield* markSending(db, message, { terms, sourceAddress: from.address });
  });
  yield* ledger.write();
  return claimed;
}

/** Which must wait, and which may go from the session's address: the ledger counts each before the next one is decided. */
function divide(
  due: readonly DueMessage[],
  { ledger, from, now, limit }: { ledger: UsageLedger; from: ClaimSource; now: number; limit: number },
): { later: { id: string; until: number; reason: string }[]; ours: DueMessage[] } {
  const later: { id: string; until: number; reason: string }[] = [];
  const ours: DueMessage[] = [];
  for (const message of due) {
    if (ours.length === limit) break;
    const choice = chooseSource(message, ledger.usages, from.facts, now);
    if (choice.decision === 'wait') later.push({ id: message.id, until: choice.until, reason: choice.reason });
    else if (choice.address === from.address) {
      if (choice.counted) ledger.count(choice.address);
      ours.push(message);
    }
  }
  return { later, ours };
}

function* openLedger(db: Transaction, mxGroup: string, day: number): Steps<UsageLedger> {
  const rows = (yield* db.sql('SELECT * FROM source_usage WHERE mx_group = +? ORDER BY address').all(mxGroup)) as Row[];
  return new UsageLedger(db, { mxGroup, day, usages: rows.map(usageFromRow) });
}

function usageFromRow(row: Row): SourceUsage {
  return {
    address: row.address as string,
    day: row.day as number,
    usedToday: row.used_today as number,
    daysUsed: row.days_used as number,
  };
}

/** How much each address has sent to one group, updated during a claim. */
class UsageLedger {
  readonly usages: Map<string, SourceUsage>;
  readonly #db: Transaction;
  readonly #mxGroup: string;
  readonly #day: number;
  readonly #changed = new Set<string>();

  constructor(db: Transaction, { mxGroup, day, usages }: { mxGroup: string; day: number; usages: SourceUsage[] }) {
    this.#db = db;
    this.#mxGroup = mxGroup;
    this.#day = day;
    this.usages = new Map(usages.map((usage) => [usage.address, usage]));
  }

  count(address: string): void {
    const known = this.usages.get(address);
    const today = known?.day === this.#day;
    this.usages.set(address, {
      address,
      day: this.#day,
      usedToday: (today ? known.usedToday : 0) + 1,
      daysUsed: (known?.daysUsed ?? 0) + (today ? 0 : 1),
    });
    this.#changed.add(address);
  }

  *write(): Steps<void> {
    const write = this.#db.sql(
      `INSERT INTO source_usage (mx_group, address, day, used_today, days_used) VALUES (+?, +?, +?, +?, +?)
       ON CONFLICT (mx_group, address)
       DO UPDATE SET day = excluded.day, used_today = excluded.used_today, days_used = excluded.days_used`,
    );
    for (const address of this.#changed) {
      const { day, usedToday, daysUsed } = this.usages.get(address)!;
      yield* write.run(this.#mxGroup, address, day, usedToday, daysUsed);
    }
  }
}

function* forgetSourceUsage(db: Transaction, beforeDay: number, limit: number): Steps<number> {
  const forget = db.sql(
    `DELETE FROM source_usage WHERE (mx_group, address) IN
       (SELECT mx_group, address FROM source_usage WHERE day < +? LIMIT +?)`,
  );
  return (yield* forget.run(beforeDay, limit)).changes;
}

// Which lanes have something to send. The query goes from one waiting lane to the next along the index of waiting
// messages, so its cost grows with the number of waiting lanes, not with all lanes that ever existed, nor with
// messages. It runs in slices, with a turn of the event loop between them.

// About 5 ms.
const SLICE_LANES = 500;

export function dueLaneVerbs(db: Connection): Pick<QueueStore, 'dueLanes'> {
  return { dueLanes: (slots) => dueLanes(db, new Set(slots)) };
}

/** Not a snapshot: the scheduler is notified separately of changes between two slices. */
async function dueLanes(db: Connection, slots: ReadonlySet<number>): Promise<LaneNotice[]> {
  const lanes: LaneNotice[] = [];
  for (let after = 0; ; await turn()) {
    const slice = await db.read(() => waitingLanes(db, after));
    for (const row of slice) if (row.due_at !== null && slots.has(row.slot as number)) lanes.push(laneFromRow(row));
    if (slice.length < SLICE_LANES) return lanes;
    after = slice.at(-1)!.lane as number;
  }
}

/** One step down the index per lane (a loose index scan), for which SQLite needs a recursive query. */
function* waitingLanes(db: Transaction, after: number): Steps<Row[]> {
  const rows = db.sql(
    `WITH RECURSIVE waiting (lane, number) AS (
       SELECT min(m.lane), 1 FROM messages m WHERE m.lane > +? AND ${WAITING}
       UNION ALL
       SELECT (SELECT min(m.lane) FROM messages m WHERE m.lane > waiting.lane AND ${WAITING}), waiting.number + 1
       FROM waiting WHERE waiting.lane IS NOT NULL AND waiting.number < +?)
     SELECT w.lane, l.id, l.slot, l.tenant_id, l.domain, CASE WHEN t.status = 'active' THEN
       (SELECT min(m.due_at) FROM messages m WHERE m.lane = w.lane AND ${WAITING}) END AS due_at
     FROM waiting w LEFT JOIN lanes l ON l.id = w.lane LEFT JOIN tenants t ON t.id = l.tenant_id
     WHERE w.lane IS NOT NULL`,
  );
  return (yield* rows.all(after, SLICE_LANES)) as Row[];
}
