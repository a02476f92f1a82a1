// Applies the migrations that are due in one transaction, beside daemons that are sending; one node at a time, the others
// wait. ALTER TABLE waits until nobody uses the table, and whoever comes later waits behind it. A dump or a long read can
// use a table for minutes, so each lock is waited for briefly; then all is rolled back and tried again, and mail flows
// meanwhile.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, SECOND_MS } from '../../../base/clock.ts';
import { Fault } from '../../../base/errors.ts';
import { programVersion } from '../../../base/program-version.ts';
import type { Migration } from '../../sql/known-migrations.ts';
import { type PostgresConnection, SCHEMA } from './connection.ts';
import { isConflict } from './database-fault.ts';
import { TAKE_TURN } from './write-transaction.ts';

/** "POST" in ASCII, as SQLite's application_id: locks of other programs in the same database have other numbers. */
const LOCK = 0x504f5354;
/** Below a daemon's own lock_timeout: what waits behind a migration does not fail. */
const LOCK_MS = 500;
const TRY_AGAIN_MS = { shortest: 500, longest: 2 * SECOND_MS };
const GIVE_UP_MS = 10 * MINUTE_MS;
const REMIND_MS = 30 * SECOND_MS;

const WAITS =
  'other transactions use the tables that a migration changes; it is tried again. SELECT pid, application_name, xact_start, query FROM pg_stat_activity ORDER BY xact_start shows them';

export interface DueMigrations {
  /** All that there are. */
  migrations: readonly Migration[];
  /** Versions that know this schema can work on the newest one. */
  usableFrom: number;
}

interface Applying {
  currentVersion(): Promise<number>;
  tell(text: string, isWarning: boolean): void;
}

/** Returns the names of those that it has applied. */
export async function applyMigrations(
  connection: PostgresConnection,
  due: DueMigrations,
  { currentVersion, tell }: Applying,
): Promise<string[]> {
  const startedAt = performance.now();
  let remindAt = startedAt;
  for (;;) {
    try {
      return await applyOnce(connection, due, currentVersion);
    } catch (error) {
      await connection.sendText('ROLLBACK').catch(() => {}); // the server does it when the connection is lost
      if (!isConflict(error)) throw error;
      const now = performance.now();
      if (now - startedAt >= GIVE_UP_MS)
        throw new Fault(`the database could not be migrated: ${WAITS}`, { cause: error });
      if (now >= remindAt) {
        tell(WAITS, true);
        remindAt = now + REMIND_MS;
      }
    }
    const { shortest, longest } = TRY_AGAIN_MS;
    await pause(shortest + (longest - shortest) * Math.random());
  }
}

async function applyOnce(
  connection: PostgresConnection,
  { migrations, usableFrom }: DueMigrations,
  currentVersion: () => Promise<number>,
): Promise<string[]> {
  await connection.sendText(`BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${LOCK})`);
  await connection.sendText(`SET LOCAL lock_timeout = ${LOCK_MS}`);
  // Again, since another node may have migrated while this one waited.
  const current = await currentVersion();
  const due = migrations.filter(({ version }) => version > current);
  // Between two groups of mail, which else would meet it in the middle, each with locks that the other one waits for.
  if (current > 0) await connection.sendText(TAKE_TURN);
  await connection.sendText(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
  for (const { sql } of due) await connection.sendText(sql);
  if (due.length > 0) await noteSchema(connection, due.at(-1)!.version, usableFrom);
  await connection.sendText('COMMIT');
  return due.map(({ name }) => name);
}

async function noteSchema(connection: PostgresConnection, version: number, usableFrom: number): Promise<void> {
  const note = `INSERT INTO meta (name, value) VALUES ('schema_version', $1), ('migrated_by', $2), ('usable_from', $3)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  const values = [String(version), programVersion(), String(usableFrom)];
  await connection.send({ name: 'note_schema', text: note, names: [] }, values, 'arrays');
}
