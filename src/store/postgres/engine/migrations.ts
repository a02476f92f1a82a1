// Numbered migrations from schema/postgres/NNNN-name.sql, applied in order, all that are due in one transaction. They only
// add, so that a node of the version before goes on working beside one of this version. One node migrates at a time, under
// an advisory lock; the others wait for it and find nothing left to do.
import { Fault } from '../../../base/errors.ts';
import { programVersion } from '../../../base/program-version.ts';
import { type Migration, migrationsIn } from '../../sql/known-migrations.ts';
import { connect, type PostgresConnection, SCHEMA } from './connection.ts';
import { beginUse, readCopyMark, refuseUnfinishedCopy } from './copied-from.ts';
import { codeOf } from './database-fault.ts';
import { describeServer, type ServerAddress } from './server-address.ts';

const FOLDER = new URL('../../../../schema/postgres/', import.meta.url);
/** "POST" in ASCII, as SQLite's application_id: locks of other programs in the same database have other numbers. */
const LOCK = 0x504f5354;

export function knownMigrations(): Migration[] {
  return migrationsIn(FOLDER);
}

export function newestSchema(): number {
  return knownMigrations().at(-1)!.version;
}

/**
 * Brings the database up to date before it is written; refuses one that a newer Postrider or another program has made, and an
 * unfinished copy. Returns what it applied.
 */
export async function migrate(address: ServerAddress): Promise<string[]> {
  const connection = await connect(address, { applicationName: 'postrider-migration', patient: true });
  try {
    const found = await compatibleVersion(connection, address);
    if (found > 0) refuseUnfinishedCopy(await readCopyMark(connection), address);
    const applied = await bringUpToDate(connection, address);
    await beginUse(connection, address);
    return applied;
  } finally {
    await connection.end();
  }
}

/** The same for a copy that is being made, which nothing uses yet. */
export async function bringUpToDate(connection: PostgresConnection, address: ServerAddress): Promise<string[]> {
  if ((await compatibleVersion(connection, address)) === newestSchema()) return [];
  return migrateAlone(connection, address);
}

/** For commands that only read: whether there is anything to read. Refuses an older schema as well, and leaves it as it is. */
export async function isMigrated(address: ServerAddress): Promise<boolean> {
  const version = await presentSchema(address);
  if (version === 0 || version === newestSchema()) return version > 0;
  throw refusal(
    `the database ${describeServer(address)} has the older schema ${version}: start the daemon, which brings it up to date`,
  );
}

/** 0: none yet. */
export async function presentSchema(address: ServerAddress): Promise<number> {
  const connection = await connect(address, { applicationName: 'postrider-inspection' });
  try {
    const version = await compatibleVersion(connection, address);
    if (version > 0) refuseUnfinishedCopy(await readCopyMark(connection), address);
    return version;
  } finally {
    await connection.end();
  }
}

async function migrateAlone(connection: PostgresConnection, address: ServerAddress): Promise<string[]> {
  try {
    await connection.sendText(`BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${LOCK})`);
    // Again, since another node may have migrated while this one waited.
    const current = await compatibleVersion(connection, address);
    const due = knownMigrations().filter(({ version }) => version > current);
    await connection.sendText(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
    for (const { sql } of due) await connection.sendText(sql);
    await noteVersion(connection);
    await connection.sendText('COMMIT');
    return due.map(({ name }) => name);
  } catch (error) {
    await connection.sendText('ROLLBACK').catch(() => {}); // the server does it when the connection is lost
    throw migrationFault(error, address);
  }
}

async function noteVersion(connection: PostgresConnection): Promise<void> {
  const note = `INSERT INTO meta (name, value) VALUES ('schema_version', $1), ('migrated_by', $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  const values = [String(newestSchema()), programVersion()];
  await connection.send({ name: 'note_version', text: note, names: [] }, values, 'arrays');
}

/** 0: nothing is there yet. Throws when this Postrider must not use what is there. */
async function compatibleVersion(connection: PostgresConnection, address: ServerAddress): Promise<number> {
  const found =
    await connection.sendText(`SELECT count(*) AS things, to_regclass('${SCHEMA}.meta') IS NOT NULL AS has_meta
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${SCHEMA}'`);
  const { things, has_meta: hasMeta } = found.rows[0] as { things: number; has_meta: 0 | 1 };
  if (things === 0) return 0;
  const foreign = refusal(
    `the schema ${SCHEMA} in the database ${describeServer(address)} was not made by Postrider: name another database in store.url`,
  );
  if (!hasMeta) throw foreign;
  const { version, by } = await readMeta(connection).catch((error) => {
    throw /^42(?:703|P01|883)$/.test(codeOf(error)) ? foreign : error;
  });
  if (!Number.isInteger(version) || version < 1) throw foreign;
  const newest = newestSchema();
  if (version <= newest) return version;
  const writer = by ? ` (of Postrider ${by})` : '';
  throw refusal(
    `the database ${describeServer(address)} has schema ${version}${writer}, and this Postrider knows schemas up to ${newest}: start the newer version, or restore a backup of the older one`,
  );
}

async function readMeta(connection: PostgresConnection): Promise<{ version: number; by: string | undefined }> {
  const text = `SELECT name, value FROM ${SCHEMA}.meta WHERE name IN ('schema_version', 'migrated_by')`;
  const rows = (await connection.sendText(text)).rows as { name: string; value: string }[];
  const value = (name: string) => rows.find((row) => row.name === name)?.value;
  return { version: Number(value('schema_version')), by: value('migrated_by') };
}

function migrationFault(error: unknown, address: ServerAddress): unknown {
  if (codeOf(error) !== '42501') return error;
  const { user, database } = address;
  return refusal(
    `the user ${user} may not create the schema ${SCHEMA} in the database ${database}, or change it: let an administrator run GRANT CREATE ON DATABASE "${database}" TO "${user}", and make that user the schema's owner`,
  );
}

function refusal(message: string): Fault {
  return new Fault(message, { permanence: 'permanent' });
}
