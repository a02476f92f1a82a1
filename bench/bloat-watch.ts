// What dead rows there are in a database, and what its statements read, by PostgreSQL's own statistics.
import pg from 'pg';
import type { Database } from './postgres.ts';

export interface TableBloat {
  name: string;
  live: number;
  dead: number;
  tableMiB: number;
  indexMiB: number;
}

export interface StatementCost {
  text: string;
  /** Of 8 KiB, read by one call on the average. */
  blocks: number;
  us: number;
}

export interface Bloat {
  deadRows: number;
  /** Those with most dead rows first. */
  tables: TableBloat[];
  /** Of all tables and indexes. */
  sizeMiB: number;
  /** Since the last look; those that took most time first. */
  statements: StatementCost[];
}

const TABLES = `
  SELECT relname AS name, n_live_tup::float8 AS live, n_dead_tup::float8 AS dead,
    pg_table_size(relid) / 1048576.0::float8 AS "tableMiB", pg_indexes_size(relid) / 1048576.0::float8 AS "indexMiB"
  FROM pg_stat_user_tables WHERE schemaname = 'postrider' ORDER BY n_dead_tup DESC`;

const STATEMENTS = `
  SELECT query AS text, (shared_blks_hit + shared_blks_read)::float8 / calls AS blocks,
    total_exec_time * 1000 / calls AS us
  FROM pg_stat_statements WHERE calls > 0 ORDER BY total_exec_time DESC LIMIT 100`;

export interface BloatWatch {
  look(): Promise<Bloat>;
  close(): Promise<void>;
}

export async function watchBloat({ url }: Database): Promise<BloatWatch> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE EXTENSION pg_stat_statements SCHEMA public');
  return {
    async look() {
      const tables = (await client.query<TableBloat>(TABLES)).rows;
      const statements = (await client.query<StatementCost>(STATEMENTS)).rows;
      await client.query('SELECT pg_stat_statements_reset()');
      const deadRows = tables.reduce((sum, { dead }) => sum + dead, 0);
      const sizeMiB = tables.reduce((sum, { tableMiB, indexMiB }) => sum + tableMiB + indexMiB, 0);
      return { deadRows, tables, sizeMiB, statements };
    },
    close: () => client.end(),
  };
}
