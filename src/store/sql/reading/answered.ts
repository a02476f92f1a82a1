// What a file of queries for the reading process looks like.
import type { Queries, Steps } from '../steps.ts';

/** The queries of a contract as they are written in SQL. */
export type Answered<Contract> = {
  [Name in keyof Contract]: Contract[Name] extends (...args: infer Args) => infer Answer
    ? (db: Queries, ...args: Args) => Steps<Answer>
    : never;
};
