// Cursors of walks that go on for longer than a run, by name.
import type { Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';

/** Undefined: the walk has not begun. */
export function* keptCursor(db: Transaction, name: string): Steps<string | undefined> {
  return (yield* db.sql('SELECT value FROM meta WHERE name = +?', 'column').get(name)) as string | undefined;
}

export function* keepCursor(db: Transaction, name: string, cursor: string): Steps<void> {
  yield* db
    .sql('INSERT INTO meta (name, value) VALUES (+?, +?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, cursor);
}

/** The walk starts over. */
export function* dropCursor(db: Transaction, name: string): Steps<void> {
  yield* db.sql('DELETE FROM meta WHERE name = +?').run(name);
}
