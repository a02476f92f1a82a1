// What the driver's verbs need of a connection. There are two: the one that writes, and the main thread's own, which
// only reads. A verb is a plain function of a transaction; the table of verbs says whether it runs between commits or
// in one, and bind-verbs.ts makes it so.
import type { DueNotices } from './due-notices.ts';
import type { Queries } from './statements.ts';

/** The only things that a verb's work may touch, since it may run twice. */
export interface Transaction extends Queries {
  readonly dueNotices: DueNotices;

  /**
   * The result of `look` about tenants, their keys, domains, webhooks and lanes, cached until a verb runs that may change it.
   * Null is not cached.
   */
  cached<T>(name: string, look: () => T): T;

  /**
   * For a counter that many verbs of a group change: sums up the changes and writes them once, inside the transaction,
   * before its commit and before any verb of the kind `write`.
   */
  addUp(name: string, by: number, write: (sum: number) => void): void;
}

/** For verbs that read much, in slices: each `read` is a transaction. */
export interface Connection extends Transaction {
  read<T>(work: () => T): Promise<T>;
}

/** Verbs as the driver writes them: synchronous. */
export type Work<Verbs> = {
  [Name in keyof Verbs]: Verbs[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => Answer
    : never;
};
