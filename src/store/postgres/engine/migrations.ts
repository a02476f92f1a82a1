// Numbered migrations from schema/postgres/NNNN-name.sql, applied in order (apply-migrations.ts). They only add, so that nodes
// of the version before go on working beside one of this version, and start beside it: the rules are in docs/development.md.
import { Fault } from '../../../base/errors.ts';
import { type Migration, migrationsIn } from '../../sql/known-migrations.ts';
import { applyMigrations } from './apply-migrations.ts';
import { type PostgresConnection, SCHEMA } from './connection.ts';
import { beginUse, readCopyMark, refuseUnfinishedCopy } from './copied-from.ts';
import { codeOf, sentenceOf } from './database-fault.ts';
import { connect, type Tell } from './primary.ts';
import { describeServer, type ServerAddress } from './server-address.ts';
import { forgetOldMarks } from './write-transaction.ts';

const FOLDER = new URL('../../../../schema/postgres/', import.meta.url);
/**
 * Versions of Postrider that know this schema work on the newest one as well. A migration that does more than add raises it to
 * its own number, and all daemons must be stopped for that upgrade.
 */
const USABLE_FROM = 1;

export function knownMigrations(): Migration[] {
  return migrationsIn(FOLDER);
}

export function newestSchema(): number {
  return knownMigrations().at(-1)!.version;
}

/**
 * Brings the database up to date before it is written; refuses one that another program has made, or a newer Postrider that
 * this one can't work beside, and an unfinished copy. Returns what it applied.
 */
export async function migrate(address: ServerAddress, tell: Tell = () => {}): Promise<string[]> {
  const connection = await connect(address, { applicationName: 'postrider-migration', patient: true });
  try {
    const { version, by } = await compatibleSchema(connection, address);
    if (version > 0) refuseUnfinishedCopy(await readCopyMark(connection), address);
    const applied = version > newestSchema() ? [] : await bringUpToDate(connection, address, tell);
    if (version > newestSchema()) tell(besideNewer(version, by), true);
    await beginUse(connection, address);
    await forgetOldMarks(connection);
    return applied;
  } catch (error) {
    throw lackOfRights(error, address) ?? error;
  } finally {
    await connection.end();
  }
}

/** The same for a copy that is being made, which nothing uses yet. It must have exactly this version's schema. */
export async function bringUpToDate(
  connection: PostgresConnection,
  address: ServerAddress,
  tell: Tell = () => {},
): Promise<string[]> {
  const found = await compatibleSchema(connection, address);
  const newest = newestSchema();
  if (found.version > newest) throw tooNew(found, address);
  if (found.version === newest) return [];
  const currentVersion = async () => (await compatibleSchema(connection, address)).version;
  try {
    const due = { migrations: knownMigrations(), usableFrom: USABLE_FROM };
    const applied = await applyMigrations(connection, due, { currentVersion, tell });
    if (applied.length > 0) tell(`the database was migrated to schema ${newest}: ${applied.join(', ')}`, false);
    return applied;
  } catch (error) {
    throw migrationFault(error, address);
  }
}

/** For commands that only read: whether there is anything to read. Refuses an older schema as well, and leaves it as it is. */
export async function isMigrated(address: ServerAddress): Promise<boolean> {
  const version = await presentSchema(address);
  if (version === 0 || version >= newestSchema()) return version > 0;
  throw refusal(
    `the database ${describeServer(address)} has the older schema ${version}: start the daemon, which brings it up to date`,
  );
}

/** 0: none yet. */
export async function presentSchema(address: ServerAddress): Promise<number> {
  const connection = await connect(address, { applicationName: 'postrider-inspection' });
  try {
    const { version } = await compatibleSchema(connection, address);
    if (version > 0) refuseUnfinishedCopy(await readCopyMark(connection), address);
    return version;
  } catch (error) {
    throw lackOfRights(error, address) ?? error;
  } finally {
    await connection.end();
  }
}

interface FoundSchema {
  /** 0: nothing is there yet. More than this version knows: of a newer one, which this one may work beside. */
  version: number;
  /** The version of Postrider that made it; undefined: unknown. */
  by: string | undefined;
}

/** Throws when this Postrider must not use what is there. */
async function compatibleSchema(connection: PostgresConnection, address: ServerAddress): Promise<FoundSchema> {
  const found =
    await connection.sendText(`SELECT count(*) AS things, to_regclass('${SCHEMA}.meta') IS NOT NULL AS has_meta
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${SCHEMA}'`);
  const { things, has_meta: hasMeta } = found.rows[0] as { things: number; has_meta: 0 | 1 };
  if (things === 0) return { version: 0, by: undefined };
  const foreign = refusal(
    `the schema ${SCHEMA} in the database ${describeServer(address)} was not made by Postrider: name another database in store.url`,
  );
  if (!hasMeta) throw foreign;
  const { version, by, usableFrom } = await readMeta(connection).catch((error) => {
    throw /^42(?:703|P01|883)$/.test(codeOf(error)) ? foreign : error;
  });
  if (!Number.isInteger(version) || version < 1) throw foreign;
  // Not a number: nobody has promised anything.
  if (version <= newestSchema() || newestSchema() >= usableFrom) return { version, by };
  throw tooNew({ version, by }, address);
}

async function readMeta(connection: PostgresConnection): Promise<FoundSchema & { usableFrom: number }> {
  const names = `'schema_version', 'migrated_by', 'usable_from'`;
  const text = `SELECT name, value FROM ${SCHEMA}.meta WHERE name IN (${names})`;
  const rows = (await connection.sendText(text)).rows as { name: string; value: string }[];
  const value = (name: string) => rows.find((row) => row.name === name)?.value;
  return {
    version: Number(value('schema_version')),
    by: value('migrated_by'),
    usableFrom: Number(value('usable_from')),
  };
}

function besideNewer(version: number, by: string | undefined): string {
  return `the database has the newer schema ${version}${ofPostrider(by)}, and this version works on it: upgrade this daemon, too`;
}

function tooNew({ version, by }: FoundSchema, address: ServerAddress): Fault {
  return refusal(
    `the database ${describeServer(address)} has schema ${version}${ofPostrider(by)}, and this Postrider knows schemas up to ${newestSchema()}: start the newer version, or restore a backup of the older one`,
  );
}

function ofPostrider(version: string | undefined): string {
  return version ? ` (of Postrider ${version})` : '';
}

function migrationFault(error: unknown, address: ServerAddress): unknown {
  if (codeOf(error) !== '42501') return error;
  const { user, database } = address;
  return refusal(
    `the user ${user} may not create the schema ${SCHEMA} in the database ${database}, or change it: let an administrator run GRANT CREATE ON DATABASE "${database}" TO "${user}", and make that user the schema's owner`,
  );
}

function lackOfRights(error: unknown, address: ServerAddress): Fault | null {
  return codeOf(error) === '42501' ? refusal(`the database ${describeServer(address)}: ${sentenceOf(error)}`) : null;
}

function refusal(message: string): Fault {
  return new Fault(message, { permanence: 'permanent' });
}
