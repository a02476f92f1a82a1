// Messages between the main process and the reading process. Plain data only, since it is cloned.
import type { Steps } from '../../sql/steps.ts';
import type { ReadingConnection } from '../engine/reading-connection.ts';

export interface ReadingOrder {
  name: string;
  args: unknown[];
}

export type ReadingReport = { kind: 'ready' } | { kind: 'answer'; value: unknown } | { kind: 'failed'; reason: string };

/** Queries by name; the module that the process loads exports one as `QUERIES`. */
// biome-ignore lint/suspicious/noExplicitAny: each query has arguments of its own
export type QueryRegistry = Record<string, (db: ReadingConnection, ...args: any[]) => Steps<unknown>>;
