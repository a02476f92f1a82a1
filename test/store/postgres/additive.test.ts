// Migrations of PostgreSQL run beside daemons of the version before, under locks on what they touch: they only add, and none
// of their statements takes long on a table that has grown (docs/development.md).
import t from 'tap';
import { knownMigrations } from '../../../src/store/postgres/engine/migrations.ts';

const NEVER: readonly RegExp[] = [
  /\bDROP\b/i,
  /\bRENAME\b/i,
  /\bTYPE\b/i,
  /\bSET NOT NULL\b/i,
  /\bADD (?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)\b/i,
  /\bCONCURRENTLY\b/i,
  /^\s*(?:UPDATE|DELETE|TRUNCATE|VACUUM|CLUSTER|REINDEX|LOCK)\b/i,
];

/** What is wrong with a migration that comes after others. */
function problems(sql: string): string[] {
  const statements = sql
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const made = new Set(statements.map((statement) => /^CREATE TABLE (\w+)/i.exec(statement)?.[1]));
  return statements.filter((statement) => {
    const indexed = /^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/i.exec(statement)?.[1];
    if (indexed !== undefined) return !made.has(indexed);
    const isAdded = /\bADD COLUMN\b/i.test(statement);
    const needsValue = isAdded && /\bNOT NULL\b/i.test(statement) && !/\bDEFAULT\b/i.test(statement);
    // A default that differs from row to row, or a reference, makes PostgreSQL look at each row.
    const looksAtRows =
      isAdded && /\bDEFAULT\s+\w+\s*\(|\bREFERENCES\b|\bCHECK\b|\bUNIQUE\b|\bGENERATED\b/i.test(statement);
    return needsValue || looksAtRows || NEVER.some((never) => never.test(statement));
  });
}

t.test('migrations only add', async (t) => {
  for (const { name, sql } of knownMigrations().slice(1)) t.strictSame(problems(sql), [], name);
});

t.test('and the rule knows what does not', async (t) => {
  const good = `CREATE TABLE more (id bigint PRIMARY KEY, x text UNIQUE); -- DROP
    CREATE INDEX more_x ON more (x); ALTER TABLE messages ADD COLUMN x bigint NOT NULL DEFAULT 7;
    ALTER TABLE messages ADD COLUMN y text`;
  t.strictSame(problems(good), []);
  for (const bad of [
    'CREATE INDEX messages_x ON messages (x)',
    'ALTER TABLE messages ADD COLUMN x bigint NOT NULL',
    'ALTER TABLE messages ADD COLUMN x bigint DEFAULT floor(random())',
    'ALTER TABLE messages ADD COLUMN x bigint REFERENCES others',
    'ALTER TABLE messages ALTER COLUMN x TYPE text',
    'ALTER TABLE messages ADD CONSTRAINT x CHECK (y > 1)',
    'ALTER TABLE messages RENAME TO letters',
    'DROP TABLE messages',
    'UPDATE messages SET x = 1',
  ]) {
    t.strictSame(problems(bad), [bad]);
  }
});
