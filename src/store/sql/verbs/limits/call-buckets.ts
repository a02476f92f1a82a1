// Token buckets of API keys that all nodes take from.
import type { CallBucketStore, Spending } from '../../../limits.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId } from '../../values.ts';

export function callBucketVerbs(db: Transaction): Work<CallBucketStore> {
  return {
    spendCalls: (spendings) => spendCalls(db, spendings),
    *eraseFullBuckets(limit) {
      const erase = 'DELETE FROM call_buckets WHERE key IN (SELECT key FROM call_buckets WHERE full_at <= +? LIMIT +?)';
      return (yield* db.sql(erase).run(yield* db.clock(), limit)).changes;
    },
  };
}

/** One statement for all, in the order of their keys: two nodes that lock the same rows in turn would wait for each other. */
function* spendCalls(db: Transaction, spendings: readonly Spending[]): Steps<number[]> {
  const now = yield* db.clock();
  const spend = db.sql(
    `INSERT INTO call_buckets (key, full_at)
     SELECT unhex(replace(s.value ->> 'id', '-', '')), +@now + CAST(s.value ->> 'costMs' AS BIGINT)
       FROM json_each(+@spendings) s WHERE true ORDER BY 1
     ON CONFLICT (key) DO UPDATE SET full_at = max(call_buckets.full_at, +@now) + excluded.full_at - +@now
     RETURNING key, full_at`,
  );
  const rows = (yield* spend.all({ now, spendings: JSON.stringify(spendings) })) as { key: Buffer; full_at: number }[];
  const fullAt = new Map(rows.map((row) => [fromId(row.key), row.full_at]));
  return spendings.map(({ id }) => fullAt.get(id)! - now);
}
