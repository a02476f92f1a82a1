// Entry of the reading process: answers one query after the other over a read-only connection, until
// nobody is there to ask. A process and not a thread, because SQLite's work in native code cannot be
// stopped: a thread in it outlives terminate(), and holds up the end of the daemon as well.
import { setPriority } from 'node:os';
import { describeError } from '../../../base/errors.ts';
import { ReadingConnection } from '../engine/reading-connection.ts';
import type { QueryRegistry, ReadingOrder, ReadingReport } from './reading-messages.ts';

/** Mail goes first when processors are short. */
const NICENESS = 5;
setPriority(NICENESS);

const [file, module] = process.argv.slice(2) as [string, string];
const { QUERIES } = (await import(module)) as { QUERIES: QueryRegistry };
const db = new ReadingConnection(file);

process.on('message', ({ name, asked }: ReadingOrder) => report(answer(name, asked)));
report({ kind: 'ready' });

function answer(name: string, asked: unknown[]): ReadingReport {
  try {
    return { kind: 'answer', value: db.snapshot(() => QUERIES[name]!(db, ...asked)) };
  } catch (error) {
    return { kind: 'failed', reason: describeError(error) };
  }
}

function report(message: ReadingReport): void {
  process.send!(message);
}
