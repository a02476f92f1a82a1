// What the main process and the reading process say to each other. Plain data only: it is cloned.
import type { ReadingConnection } from '../engine/reading-connection.ts';

export interface ReadingOrder {
  name: string;
  asked: unknown[];
}

export type ReadingReport = { kind: 'ready' } | { kind: 'answer'; value: unknown } | { kind: 'failed'; reason: string };

/** By name, what the process answers; the module that it loads exports one as `QUERIES`. */
// biome-ignore lint/suspicious/noExplicitAny: each query has arguments of its own
export type QueryRegistry = Record<string, (db: ReadingConnection, ...asked: any[]) => unknown>;

/** The queries of a contract as the driver answers them. */
export type Answered<Contract> = {
  [Name in keyof Contract]: Contract[Name] extends (...asked: infer Asked) => infer Answer
    ? (db: ReadingConnection, ...asked: Asked) => Answer
    : never;
};
