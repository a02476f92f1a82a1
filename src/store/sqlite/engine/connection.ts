// What the verbs of the driver need of a connection. There are two: the one that writes, and the main
// thread's own, which reads and leaves what writes to the other.
import type { DueNotices } from './due-notices.ts';
import type { Queries } from './statements.ts';

export interface Connection extends Queries {
  readonly dueNotices: DueNotices;

  /** `work` must touch nothing but the database: it may be run a second time. */
  write<T>(work: () => T): Promise<T>;

  /** As `write`, for work that changes nothing that `recall` keeps, except that it may add lanes. */
  writeMail<T>(work: () => T): Promise<T>;

  /** As `writeMail`, for what came of deliveries: while much of it comes, groups keep a distance. */
  writeResults<T>(work: () => T): Promise<T>;

  read<T>(work: () => T): Promise<T>;

  /**
   * What `look` finds about tenants, their keys, domains and lanes, looked up once until a verb runs
   * that may change it. Nothing is kept when it finds null.
   */
  recall<T>(name: string, look: () => T): T;

  /**
   * For a counter that many verbs of a group change: adds up what they say and writes it once, inside
   * the transaction, before its commit and before any verb that is not `writeMail`.
   */
  addUp(name: string, by: number, write: (sum: number) => void): void;
}
