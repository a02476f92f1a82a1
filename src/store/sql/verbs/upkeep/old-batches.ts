// Erasing batches, which hold an idempotency key for all that was sent with it, once nothing of that is left.
import type { Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import { dropCursor, keepCursor, keptCursor } from './kept-cursors.ts';

const CURSOR = 'batch_walk';

/**
 * A key is free again when nothing is left of what was sent with it. Looks at the next old batches; those that still have a
 * submission are passed over until the walk has come to its end and starts over, so they hold up no others.
 */
export function* eraseBatches(
  db: Transaction,
  before: number,
  { limit, budgetMs }: { limit: number; budgetMs: number },
): Steps<{ more: boolean }> {
  const cursor = yield* keptCursor(db, CURSOR);
  const [createdAt = 0, seq = 0] = cursor?.split(' ').map(Number) ?? [];
  const next = db.sql(
    `SELECT seq, created_at FROM batches WHERE (created_at, seq) > (+?, +?) AND created_at <= +?
     ORDER BY created_at, seq LIMIT +?`,
  );
  const batches = (yield* next.all(createdAt, seq, before, limit)) as { seq: number; created_at: number }[];
  // Each submission is looked up by itself: joined, PostgreSQL may read all of them for one batch.
  const erase = db.sql(
    `DELETE FROM batches WHERE seq = +? AND NOT EXISTS (SELECT 1 FROM json_each(items) i WHERE
       (SELECT 1 FROM submissions s WHERE s.id = unhex(replace(i.value ->> 'submission', '-', ''))) = 1)`,
  );
  const seen = yield* db.asTimeAllows(batches, budgetMs, function* (visited) {
    yield* db.forAll(visited, (batch) => erase.run(batch.seq));
    return visited.length;
  });
  const more = seen < batches.length || batches.length === limit;
  const last = batches[seen - 1];
  if (more && last) yield* keepCursor(db, CURSOR, `${last.created_at} ${last.seq}`);
  else if (cursor !== undefined) yield* dropCursor(db, CURSOR);
  return { more };
}
