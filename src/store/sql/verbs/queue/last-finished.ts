// A tenant's last finished messages, by the order in which they were accepted: how many there are, and those that count
// against it. The messages that wait are between them, and most of them in front, since the oldest are sent first: of a large
// mailing there may be a million. No index leads past them, so they are stepped over in slices, with a turn of the event
// loop between them: not a snapshot.

import { setImmediate as turn } from 'node:timers/promises';
import type { JudgedMail, ProblemMessage, ReputationStore } from '../../../suppressions.ts';
import type { TenantStore } from '../../../tenants.ts';
import type { Steps } from '../../steps.ts';
import type { Connection, Transaction } from '../../transaction.ts';
import { BEFORE_ALL_IDS, BEHIND_ALL_IDS, type Row, toId } from '../../values.ts';

/** Some milliseconds. */
const SLICE_MESSAGES = 2000;

interface Bounds {
  /** Older messages are not looked at. */
  olderThanAll: Buffer;
  /** What was finished by then does not count. */
  finishedBy: number;
}

const EVER: Bounds = { olderThanAll: BEFORE_ALL_IDS, finishedBy: -1 };

export function recentResultVerbs(db: Connection): Pick<TenantStore, 'recentResultsOf'> {
  return {
    async recentResultsOf(tenantId, window) {
      const { messages, problems } = await lastFinished(db, { tenantId, window, bounds: EVER });
      const hardBounces = problems.filter(({ isHardBounce }) => isHardBounce).length;
      const complaints = problems.filter(({ complaintWeight }) => complaintWeight > 0).length;
      return { messages, hardBounces, complaints };
    },
  };
}

export function judgedMailVerbs(db: Connection): Pick<ReputationStore, 'resultsSinceReview'> {
  return {
    async resultsSinceReview(tenantId, window) {
      const bounds = await db.read(() => sinceReview(db, tenantId));
      return await lastFinished(db, { tenantId, window, bounds });
    },
  };
}

/**
 * What was finished when the tenant was stopped is not held against it again, what waited then is. `last_message` only ends
 * the search: nothing before it can have waited.
 */
function* sinceReview(db: Transaction, tenantId: string): Steps<Bounds> {
  const review = db.sql('SELECT at, last_message FROM tenant_reviews WHERE tenant_id = +?');
  const row = (yield* review.get(toId(tenantId))) as { at: number; last_message: Buffer } | undefined;
  return row ? { olderThanAll: row.last_message, finishedBy: row.at } : EVER;
}

/** Tests have smaller slices. */
export async function lastFinished(
  db: Connection,
  { tenantId, window, bounds }: { tenantId: string; window: number; bounds: Bounds },
  sliceMessages = SLICE_MESSAGES,
): Promise<JudgedMail> {
  const found: JudgedMail = { messages: 0, problems: [] };
  for (let newest: Buffer = BEHIND_ALL_IDS; ; await turn()) {
    const limit = window - found.messages;
    const slice = await db.read(() => readSlice(db, { tenantId, bounds, newest, sliceMessages, limit }));
    found.messages += slice.messages;
    found.problems.push(...slice.problems);
    if (slice.next === null || found.messages === window) return found;
    newest = slice.next;
  }
}

interface Asked {
  tenantId: string;
  bounds: Bounds;
  newest: Buffer;
  sliceMessages: number;
  /** Of finished messages. */
  limit: number;
}

const OF_SLICE = `FROM (SELECT recipient, bounce, complained, complaint_weight FROM messages
  WHERE tenant_id = +@tenant AND id > +@before AND id <= +@newest AND finished_at > +@finishedBy AND state <> 'canceled'
  ORDER BY id DESC LIMIT +@limit) last`;

/** `next` is the newest message of the slice behind it; null: this was the last one. */
function* readSlice(db: Transaction, asked: Asked): Steps<JudgedMail & { next: Buffer | null }> {
  const { newest, limit, bounds } = asked;
  const tenant = toId(asked.tenantId);
  const behind = db.sql(
    'SELECT id FROM messages WHERE tenant_id = +? AND id > +? AND id <= +? ORDER BY id DESC LIMIT 1 OFFSET +?',
    'column',
  );
  const { olderThanAll, finishedBy } = bounds;
  const next = ((yield* behind.get(tenant, olderThanAll, newest, asked.sliceMessages)) as Buffer | undefined) ?? null;
  const of = { tenant, before: next ?? olderThanAll, newest, finishedBy, limit };
  const messages = (yield* db.sql(`SELECT count(*) ${OF_SLICE}`, 'column').get(of)) as number;
  return { messages, problems: messages > 0 ? yield* problemsOf(db, of) : [], next };
}

function* problemsOf(db: Transaction, of: Record<string, unknown>): Steps<ProblemMessage[]> {
  const problems = db.sql(
    `SELECT recipient, bounce = 'hard' AS hard,
       CASE WHEN complained = 1 THEN coalesce(complaint_weight, 1) ELSE 0 END AS weight
     ${OF_SLICE} WHERE bounce = 'hard' OR complained = 1`,
  );
  return ((yield* problems.all(of)) as Row[]).map((row) => ({
    recipient: row.recipient as string,
    isHardBounce: row.hard === 1,
    complaintWeight: row.weight as number,
  }));
}
