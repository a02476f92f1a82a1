// migrate: the database to this version's schema, or to PostgreSQL and back. All of it needs the data folder for itself.
import path from 'node:path';
import { asTyped } from '../../base/text/as-typed.ts';
import { counted } from '../../base/text/counted.ts';
import { type Answer, done, failed, wrongUsage } from '../../operator/answer.ts';
import type { MoveProgress, WayBack } from '../../operator/copies/move-database.ts';
import {
  type DataFolder,
  type DataPlace,
  databaseProblem,
  dataFolder,
  type SqliteFolder,
  sqliteFolder,
} from '../../operator/data-folder.ts';
import { type LocalContext, localCommand } from '../command.ts';
import { type DatabaseUrl, databaseUrl, flag } from '../option.ts';
import { ownStore, recordHere } from './data.ts';

const URL_VARIABLE = 'POSTRIDER_STORE_URL';
const PROGRESS_EVERY_MS = 3000;

type Outcome =
  | { kind: 'schema'; from: number; to: number }
  | {
      kind: 'moved';
      server: string;
      tables: number;
      rows: number;
      before: boolean;
      url: string;
      file: string;
      key: string;
      /** How the URL was given, without the password. */
      to: string;
    }
  | { kind: 'back'; server: string | null; file: string };

export const migrate = localCommand({
  name: 'migrate',
  summary:
    "Migrates the database to this version's schema, as the daemon does at start; or copies it to PostgreSQL. The daemon must be stopped.",
  options: {
    to: databaseUrl(
      `copy everything to this PostgreSQL database: postgres://USER:PASSWORD@HOST/DATABASE; @FILE: the URL is in FILE; env: it is in ${URL_VARIABLE}. Other users can see a password that is an argument`,
    ),
    back: flag(
      'undo that: use SQLite again. With the same --to, unless store.url names it; possible until the first start on PostgreSQL',
    ),
    force: flag('with --back: the PostgreSQL database is lost, and is not asked whether it was used'),
  },
  check({ to, back, force }) {
    if (force && !back) return '--force needs --back';
    return back && force && to ? 'give --to or --force, not both' : null;
  },
  async run(context, { to, back = false, force = false }): Promise<Answer<Outcome>> {
    const { config } = await context.loadConfig();
    // What is moved is in the data folder, also where the configuration names its new place already.
    const folder = to || back ? sqliteFolder(config.data.dir) : dataFolder(config);
    const url = to ? await readUrl(context, to) : null;
    if (url === undefined) return wrongUsage(`--to env: ${URL_VARIABLE} is not set`);
    const problem = to || back ? databaseProblem(folder) : null;
    if (problem !== null) return failed(problem);
    const own = await ownStore();
    own.refuseEmptied(folder);
    const held = own.lockFolder(folder);
    try {
      if (folder.database === null || !(to || back)) return await migrateSchema(context, folder);
      const moved = { ...folder, database: folder.database };
      if (to && url !== null && !back) return await moveTo(context, moved, { to, url });
      return await goBack(moved, { url: url ?? configuredUrl(config), force });
    } finally {
      held.release();
    }
  },
  render(outcome) {
    switch (outcome.kind) {
      case 'schema':
        return outcome.from === outcome.to
          ? `The schema is already at version ${outcome.to}; nothing to do.`
          : `The schema was migrated from version ${outcome.from} to ${outcome.to}.`;
      case 'moved':
        return movedText(outcome);
      case 'back':
        return outcome.server === null
          ? `${outcome.file} has not been moved; nothing to do.`
          : `${outcome.file} is used again. Remove store.url from the configuration and start the daemon.\nThe copy in ${outcome.server} will not be used: drop it there when you like (DROP SCHEMA postrider CASCADE).`;
    }
  },
  toJson: ({ kind: _, ...facts }) => facts,
});

/** Undefined: it is not set. */
async function readUrl({ env }: LocalContext, to: DatabaseUrl): Promise<string | undefined> {
  switch (to.from) {
    case 'argument':
      return to.url;
    case 'environment':
      return env[URL_VARIABLE];
    case 'file':
      return (await import('../../operator/copies/move-database.ts')).readUrlFile(path.resolve(to.file));
  }
}

/** Who follows the instructions has put the address of the new database there. */
function configuredUrl(config: DataPlace): string | null {
  const { store } = dataFolder(config);
  return store.driver === 'postgres' ? store.url : null;
}

async function migrateSchema(context: LocalContext, folder: DataFolder): Promise<Answer<Outcome>> {
  const own = await ownStore();
  const { backUpBeforeUpgrade } = await import('../../operator/copies/upgrade-backup.ts');
  const { config } = await context.loadConfig();
  await backUpBeforeUpgrade(folder, config, (text) => context.complain(text));
  const from = await own.currentSchema(folder);
  await own.withOwnStore(folder, async () => {});
  const to = await own.currentSchema(folder);
  if (from !== to) await recordHere(folder, 'platform.migrated', { from, to });
  return done({ kind: 'schema', from, to });
}

async function moveTo(
  context: LocalContext,
  folder: SqliteFolder,
  { to, url }: { to: DatabaseUrl; url: string },
): Promise<Answer<Outcome>> {
  const { moveDatabase } = await import('../../operator/copies/move-database.ts');
  const moved = await moveDatabase(folder, url, progressLines(context));
  const { config } = await context.loadConfig();
  const key =
    config.secrets.master_key === null ? (config.secrets.master_key_file ?? folder.masterKey) : 'secrets.master_key';
  const given = to.from === 'argument' ? moved.url : to.from === 'file' ? `@${to.file}` : 'env';
  return done({ ...moved, kind: 'moved', file: folder.database, key, to: given });
}

async function goBack(folder: SqliteFolder, way: WayBack): Promise<Answer<Outcome>> {
  const { moveDatabaseBack } = await import('../../operator/copies/move-database.ts');
  const found = await moveDatabaseBack(folder, way);
  return done({ kind: 'back', server: found?.server ?? null, file: folder.database });
}

/** Every few seconds: which table, and how far. */
function progressLines({ complain }: LocalContext): (report: MoveProgress) => void {
  let last = performance.now();
  return ({ step, table, rows, of }) => {
    const now = performance.now();
    if (now - last < PROGRESS_EVERY_MS) return;
    last = now;
    const what = step === 'copy' ? 'copied' : 'compared';
    complain(`${table}: ${what} ${rows} of ${counted(of, 'row')}`);
  };
}

function movedText({ before, server, rows, tables, url, file, key, to }: Extract<Outcome, { kind: 'moved' }>): string {
  const first = before
    ? `The database was moved to ${server} already; nothing was copied.`
    : `Copied ${counted(rows, 'row')} of ${counted(tables, 'table')} to ${server}, and compared every value.`;
  return `${first}
What to do next:
1. Put the address into the configuration, with the password${url.includes('PASSWORD') ? ' for PASSWORD' : ''}, or into ${URL_VARIABLE}:

   [store]
   url = "${url}"

2. Give every node the same master key (here: ${key}). It was not copied.
3. Start the daemon.

Until the first start, or the first command that uses the new database, the way back is:
postrider migrate --back --to ${asTyped(to)}
After that PostgreSQL is ahead of ${file}, which is not used any more. Keep it until you are sure, then delete it: it contains mail and keys.`;
}
