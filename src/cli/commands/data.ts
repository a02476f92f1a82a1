// backup | restore | migrate: the data folder as a whole. A backup is taken from the file itself,
// beside a daemon or not; the other two need the folder for themselves.
import fs from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { counted } from '../../base/counted.ts';
import type { NewAuditEntry } from '../../store/audit.ts';
import type { DataLock } from '../../store/sqlite/data-lock.ts';
import { done, failed, type LocalContext, localCommand } from '../command.ts';
import { type DataFolder, databaseProblem, dataFolder, makeDataFolder, overDatabase } from '../data-folder.ts';
import { flag, positional, required, text } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { noteAct } from './audit-note.ts';

export const backup = localCommand({
  name: 'backup',
  summary: 'Copies the database to a new file, beside a running daemon or without one.',
  options: { file: required(positional(text('FILE', 'must not exist yet'))) },
  async run(context, { file }) {
    const folder = await folderOf(context);
    const problem = databaseProblem(folder);
    if (problem !== null) return failed(problem);
    const target = path.resolve(file);
    await refuseEmptied(folder);
    const { backupDatabase } = await import('../../store/sqlite/backup.ts');
    await overDatabase(folder.database, () => backupDatabase(folder.database, target));
    const { size: bytes } = fs.statSync(target);
    const { config } = await context.loadConfig();
    // Noting it would bring an older database to this version's schema, and a backup changes nothing.
    if (await isOfThisVersion(folder)) {
      await noteAct(context, config, { action: 'platform.backed_up', data: { file: target, bytes } });
    }
    return done({ file: target, bytes });
  },
  render: ({ file, bytes }) =>
    `${file} written, ${counted(bytes, 'byte')}. The master key is not in it: without it, private keys in the backup cannot be read.`,
});

export const restore = localCommand({
  name: 'restore',
  summary: 'Puts a backup in place of the database; no daemon may run.',
  options: {
    file: required(positional(text('FILE', 'a backup'))),
    force: flag('replace the database that is there; it is lost'),
  },
  async run(context, { file, force }) {
    const folder = await folderOf(context);
    const held = await lock(folder);
    try {
      if (!force && fs.existsSync(folder.database)) {
        return failed(`there is already a database in ${folder.dir}: back it up, then use --force to replace it`);
      }
      const { restoreDatabase } = await import('../../store/sqlite/backup.ts');
      await restoreDatabase(path.resolve(file), folder.database);
      if (await isOfThisVersion(folder)) await recordHere(folder, 'platform.restored', { file: path.resolve(file) });
      return done({ database: folder.database, schema: await currentSchema(folder) });
    } finally {
      held.release();
    }
  },
  render: ({ database }) => `${database} restored.`,
});

export const migrate = localCommand({
  name: 'migrate',
  summary: 'Brings the database to the schema of this version, as the daemon does when it starts.',
  options: {},
  async run(context) {
    const folder = await folderOf(context);
    await refuseEmptied(folder);
    const held = await lock(folder);
    try {
      const from = fs.existsSync(folder.database) ? await currentSchema(folder) : 0;
      const { openSqliteStore } = await import('../../store/sqlite/open.ts');
      const store = await overDatabase(folder.database, () => openSqliteStore({ file: folder.database }));
      await store.close();
      const to = await currentSchema(folder);
      if (from !== to) await recordHere(folder, 'platform.migrated', { from, to });
      return done({ from, to });
    } finally {
      held.release();
    }
  },
  render: ({ from, to }) =>
    from === to ? `The schema is ${to}: nothing to do.` : `The schema went from ${from} to ${to}.`,
});

async function folderOf(context: LocalContext): Promise<DataFolder> {
  return dataFolder((await context.loadConfig()).config.data.dir);
}

async function refuseEmptied({ database }: DataFolder): Promise<void> {
  const { refuseEmptiedDatabase } = await import('../../store/sqlite/emptied-database.ts');
  refuseEmptiedDatabase(database);
}

async function lock({ dir }: DataFolder): Promise<DataLock> {
  makeDataFolder(dir);
  const { lockDataFolder } = await import('../../store/sqlite/data-lock.ts');
  return lockDataFolder(dir);
}

async function isOfThisVersion(folder: DataFolder): Promise<boolean> {
  const { newestSchema } = await import('../../store/sqlite/migrations.ts');
  return (await currentSchema(folder)) === newestSchema();
}

/** With the lock held. */
async function recordHere(folder: DataFolder, action: string, data: NewAuditEntry['data']): Promise<void> {
  const { openSqliteStore } = await import('../../store/sqlite/open.ts');
  const store = await overDatabase(folder.database, () => openSqliteStore({ file: folder.database }));
  try {
    await recordAct({ store, clock: systemClock }, null, action, data);
  } finally {
    await store.close();
  }
}

async function currentSchema(folder: DataFolder): Promise<number> {
  const { openForReading } = await import('../../store/sqlite/database-file.ts');
  const { schemaVersion } = await import('../../store/sqlite/migrations.ts');
  return overDatabase(folder.database, () => {
    const db = openForReading(folder.database);
    try {
      return schemaVersion(db);
    } finally {
      db.close();
    }
  });
}
