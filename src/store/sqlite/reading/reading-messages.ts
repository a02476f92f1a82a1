// Messages between the main process and the reading process. Plain data only, since it is cloned.
import type { ReadingConnection } from '../engine/reading-connection.ts';

export interface ReadingOrder {
  name: string;
  args: unknown[];
}

export type ReadingReport = { kind: 'ready' } | { kind: 'answer'; value: unknown } | { kind: 'failed'; reason: string };

/** Queries by name; the module that the process loads exports one as `QUERIES`. */
// biome-ignore lint/suspicious/noExplicitAny: each query has arguments of its own
export type QueryRegistry = Record<string, (db: ReadingConnection, ...args: any[]) => unknown>;

/** The queries of a contract as the driver implements them. */
export type Answered<Contract> = {
  [Name in keyof Contract]: Contract[Name] extends (...args: infer Args) => infer Answer
    ? (db: ReadingConnection, ...args: Args) => Answer
    : never;
};
