// Entry of the reading process: answers one query after the other over a read-only connection, until its parent goes
// away. A process and not a thread, because SQLite's native code cannot be interrupted: a thread in it outlives
// terminate(), and would keep the daemon from ending.
import { describeError } from '../../../base/errors.ts';
import { lowerPriority } from '../../../threads/lower-priority.ts';
import { ReadingConnection } from '../engine/reading-connection.ts';
import type { QueryRegistry, ReadingOrder, ReadingReport } from './reading-messages.ts';

/** Mail has priority when processors are busy. */
const NICENESS = 5;
lowerPriority(NICENESS);

const [file, module] = process.argv.slice(2) as [string, string];
const { QUERIES } = (await import(module)) as { QUERIES: QueryRegistry };
// Lists scan many rows, and the next page reads the same ones again.
const CACHE_KIB = 16 * 1024;
const db = new ReadingConnection(file, { cacheKib: CACHE_KIB });

process.on('message', ({ name, args }: ReadingOrder) => report(answer(name, args)));
report({ kind: 'ready' });

function answer(name: string, args: unknown[]): ReadingReport {
  try {
    return { kind: 'answer', value: db.snapshot(() => QUERIES[name]!(db, ...args)) };
  } catch (error) {
    return { kind: 'failed', reason: describeError(error) };
  }
}

function report(message: ReadingReport): void {
  process.send!(message);
}
