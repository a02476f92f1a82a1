// The prepared statements of a connection, by their text: each is prepared once, and planned once.
import type Database from 'better-sqlite3';
import { steadyPlan } from './steady-plan.ts';

/** What a query needs of a connection, be it the writing one or one that only reads. */
export interface Queries {
  sql(text: string): Database.Statement;
}

export class Statements implements Queries {
  readonly #db: Database.Database;
  readonly #prepared = new Map<string, Database.Statement>();

  constructor(db: Database.Database) {
    this.#db = db;
  }

  sql(text: string): Database.Statement {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = this.#db.prepare(steadyPlan(text));
    this.#prepared.set(text, statement);
    return statement;
  }
}
