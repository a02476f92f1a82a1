// What verbs need of a connection. A verb is a generator of the statements of one transaction; the table of verbs says
// whether it runs between commits or in one, and bind-verbs.ts makes it so.
import type { Reads, Steps } from './steps.ts';

/** Passed on after the commit: these webhooks have deliveries. */
export interface DueNotes {
  note(webhookIds: readonly Uint8Array[]): void;
}

/** The only things that a verb's work may touch, since it may run twice. */
export interface Transaction extends Reads {
  readonly dueNotices: DueNotes;

  /** The time by the clock that all who share the database see, in milliseconds. */
  clock(): Steps<number>;

  /** Space that the database has on its disk already and gives to new rows, as far as it is known. */
  reusableBytes(): Steps<number>;

  /**
   * The result of `look` about tenants, their keys, domains, webhooks and lanes, cached until a verb runs that may change it.
   * Null is not cached.
   */
  cached<T>(name: string, look: () => Steps<T>): Steps<T>;

  /** As `cached`, where `make` writes what it does not find: of verbs that run side by side only one does. */
  ensured<T>(name: string, make: () => Steps<T>): Steps<T>;

  /** Several things, none of which depends on another one. They begin in their order. */
  both<One, Other>(one: Steps<One>, other: Steps<Other>): Steps<[One, Other]>;

  /**
   * For verbs that may end early, since their next call goes on from there. SQLite runs them in the one thread that writes: it
   * hands `work` one item after the other, until the time is over. A database at the end of a connection would spend that on
   * waiting, and is handed all of them at once. `work` returns how many it has done, from the first one on; fewer than it was
   * handed are the last ones. Returns how many were done in all.
   */
  asTimeAllows<Item>(
    items: readonly Item[],
    budgetMs: number,
    work: (items: readonly Item[]) => Steps<number>,
  ): Steps<number>;

  /**
   * From here to its commit no other transaction numbers events: the order of their numbers is the order in which they
   * are seen, so that whoever reads on after the last one misses none.
   */
  beginEvents(): Steps<void>;

  /**
   * For a counter that many verbs of a group change: sums up the changes and writes them once, inside the transaction,
   * before its commit and before any verb of the kind `write`.
   */
  addUp(name: string, by: number, write: (sum: number) => Steps<void>): void;
}

/** For verbs that read much, in slices: each `read` is a transaction. */
export interface Connection extends Transaction {
  read<T>(work: () => Steps<T>): Promise<T>;
}

/** Verbs as they are written in SQL. */
export type Work<Verbs> = {
  [Name in keyof Verbs]: Verbs[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => Steps<Answer>
    : never;
};
