// Queries for reading.test.ts, loaded by the reading process: one that never ends, one that takes the
// process with it, and some that behave.
import type { ReadingConnection } from '../../src/store/sqlite/engine/reading-connection.ts';
import type { QueryRegistry } from '../../src/store/sqlite/reading/reading-messages.ts';
import { stepless } from './at-once.ts';

const ENDLESS = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
  SELECT count(*) FROM numbers`;

export const QUERIES: QueryRegistry = {
  count: (db: ReadingConnection, _tenant: string, table: string) =>
    db.sql(`SELECT count(*) FROM ${table}`, 'column').get(),
  /** In SQLite's own code, where JavaScript cannot be stopped. */
  hang: (db: ReadingConnection, _tenant: string) => db.sql(ENDLESS).get(),
  die: () => stepless(() => process.kill(process.pid, 'SIGSEGV')),
  write: (db: ReadingConnection, _tenant: string) => db.sql("INSERT INTO meta VALUES ('a', 'b')").run(),
  environment: () => stepless(() => Object.keys(process.env)),
  nodeArguments: () => stepless(() => process.execArgv),
  pid: () => stepless(() => process.pid),
};
