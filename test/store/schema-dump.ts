// The schema of a database as text, for comparison: tables and indexes by name, one column or
// clause per line as the migrations wrote them, without the comments.
import type Database from 'better-sqlite3';

export function dumpSchema(db: Database.Database): string {
  const rows = db
    .prepare(`SELECT tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name`)
    .all() as { tbl_name: string; sql: string }[];
  return rows
    .filter((row) => !row.tbl_name.startsWith('sqlite_'))
    .map((row) => `${normalise(row.sql)};\n`)
    .join('\n');
}

function normalise(sql: string): string {
  return sql
    .split('\n')
    .map((line) => line.replace(/--.*$/, '').replace(/\s+/g, ' ').trimEnd())
    .filter((line) => line.trim() !== '')
    .join('\n');
}
