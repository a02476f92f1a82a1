// For tests: queries answered where they are called, and work that needs no statement.
import type { Queries, Steps } from '../../src/store/sql/steps.ts';
import { perform } from '../../src/store/sqlite/engine/statements.ts';

type AtOnce<Registry> = {
  [Name in keyof Registry]: Registry[Name] extends (db: Queries, ...args: infer Args) => Steps<infer Answer>
    ? (db: Queries, ...args: Args) => Answer
    : never;
};

// biome-ignore lint/correctness/useYield: that it has none is what it is for
export function* stepless<Answer>(work: () => Answer): Steps<Answer> {
  return work();
}

export function atOnce<Registry extends object>(queries: Registry): AtOnce<Registry> {
  const answered = Object.entries(queries as Record<string, (...args: unknown[]) => Steps<unknown>>).map(
    ([name, query]) => [name, (...args: unknown[]) => perform(query(...args))],
  );
  return Object.fromEntries(answered) as AtOnce<Registry>;
}
