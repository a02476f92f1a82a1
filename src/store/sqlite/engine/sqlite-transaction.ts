// What both connections have alike. SQLite answers each statement where it stands, so what verbs may do side by side is done
// at once, in order.
import type { Query, RowShape, Steps } from '../../sql/steps.ts';
import type { Transaction } from '../../sql/transaction.ts';
import { DueNotices } from './due-notices.ts';
import { reusableBytes } from './free-pages.ts';
import { answered, perform, performAll } from './statements.ts';

export abstract class SqliteTransaction implements Transaction {
  readonly dueNotices = new DueNotices();

  abstract sql(text: string, shape?: RowShape): Query;
  abstract cached<T>(name: string, look: () => Steps<T>): Steps<T>;
  abstract beginEvents(): Steps<void>;
  abstract addUp(name: string, by: number, write: (sum: number) => Steps<void>): void;

  /** All who open the file are on one machine. */
  clock(): Steps<number> {
    return answered(Date.now());
  }

  reusableBytes(): Steps<number> {
    return reusableBytes(this);
  }

  ensured<T>(name: string, make: () => Steps<T>): Steps<T> {
    return this.cached(name, make);
  }

  forAll<Item, Answer>(items: readonly Item[], work: (item: Item) => Steps<Answer>): Steps<Answer[]> {
    return performAll(items, work);
  }

  asTimeAllows<Item>(
    items: readonly Item[],
    budgetMs: number,
    work: (items: readonly Item[]) => Steps<number>,
  ): Steps<number> {
    const endsAt = performance.now() + budgetMs;
    let done = 0;
    for (const item of items) {
      if (perform(work([item])) === 0) break;
      done++;
      if (performance.now() >= endsAt) break;
    }
    return answered(done);
  }

  both<One, Other>(one: Steps<One>, other: Steps<Other>): Steps<[One, Other]> {
    return answered([perform(one), perform(other)]);
  }
}
