// The figures of a scrape that have to be read from elsewhere, such as the database. Each is settled by itself, within a
// limit: while the database is away the others are needed most.
import { describeError } from '../base/errors.ts';
import type { Logger } from './log.ts';

type Reads = Record<string, () => Promise<unknown>>;

/** Null: it could not be read. */
export type ReadFigures<R extends Reads> = { [Name in keyof R]: Awaited<ReturnType<R[Name]>> | null };

export interface FigureReadsKit {
  /** For each of them. */
  limitMs: number;
  log: Pick<Logger, 'warn' | 'info'>;
}

/** Reads all of them at once. A failure is logged when it begins and when it has ended, not at each scrape. */
export function figureReads<R extends Reads>(
  reads: R,
  { limitMs, log }: FigureReadsKit,
): () => Promise<ReadFigures<R>> {
  const each = Object.entries(reads).map(([name, read]) => [name, oneAtATime(read)] as const);
  let isComplete = true;
  return async () => {
    const settled = await Promise.all(each.map(async ([name, read]) => ({ name, ...(await within(limitMs, read())) })));
    const failed = settled.filter(({ reason }) => reason !== null);
    const figures = failed.map(({ name }) => name);
    if (isComplete && failed[0])
      log.warn({ figures }, `some metrics are missing while they can't be read: ${failed[0].reason}`);
    if (!isComplete && failed.length === 0) log.info({}, 'all metrics can be read again');
    isComplete = failed.length === 0;
    return Object.fromEntries(settled.map(({ name, value }) => [name, value])) as ReadFigures<R>;
  };
}

/** A read that has outlived its scrape is waited for by the next one: another would only queue up behind it. */
function oneAtATime<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= read().finally(() => {
      running = null;
    });
    return running;
  };
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<{ value: T | null; reason: string | null }> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  try {
    return { value: await Promise.race([work, promise]), reason: null };
  } catch (error) {
    return { value: null, reason: describeError(error) };
  } finally {
    clearTimeout(timer);
  }
}
