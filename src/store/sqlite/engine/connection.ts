// What the verbs of the driver need of a connection. There are two: the one that writes, and the main
// thread's own, which only reads. A verb is a plain function of a transaction; whether it runs between
// commits or in one is said by the table of verbs, and done by whoever binds it (bind-verbs.ts).
import type { DueNotices } from './due-notices.ts';
import type { Queries } from './statements.ts';

/** What a verb's work may touch, and nothing else: it may be run a second time. */
export interface Transaction extends Queries {
  readonly dueNotices: DueNotices;

  /**
   * What `look` finds about tenants, their keys, domains and lanes, looked up once until a verb runs
   * that may change it. Nothing is kept when it finds null.
   */
  cached<T>(name: string, look: () => T): T;

  /**
   * For a counter that many verbs of a group change: adds up what they say and writes it once, inside
   * the transaction, before its commit and before any verb of the kind `write`.
   */
  addUp(name: string, by: number, write: (sum: number) => void): void;
}

/** For verbs that look at much, in slices: each `read` is a transaction. */
export interface Connection extends Transaction {
  read<T>(work: () => T): Promise<T>;
}

/** Verbs as the driver writes them: at once, and with the answer itself. */
export type Work<Verbs> = {
  [Name in keyof Verbs]: Verbs[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => Answer
    : never;
};
