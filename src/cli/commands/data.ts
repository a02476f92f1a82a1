// backup | restore | migrate: the data folder as a whole. A backup is taken from the file itself,
// beside a daemon or not; the other two need the folder for themselves.
import fs from 'node:fs';
import path from 'node:path';
import { counted } from '../../base/counted.ts';
import { backupDatabase, restoreDatabase } from '../../store/sqlite/backup.ts';
import { lockDataFolder } from '../../store/sqlite/data-lock.ts';
import { openForReading } from '../../store/sqlite/database-file.ts';
import { schemaVersion } from '../../store/sqlite/migrations.ts';
import { openSqliteStore } from '../../store/sqlite/open.ts';
import { done, failed, type LocalContext, localCommand } from '../command.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../data-folder.ts';
import { flag, positional, required, text } from '../option.ts';

export const backup = localCommand({
  name: 'backup',
  summary: 'Copies the database to a new file, beside a running daemon or without one.',
  options: { file: required(positional(text('FILE', 'must not exist yet'))) },
  async run(context, { file }) {
    const folder = folderOf(context);
    if (!fs.existsSync(folder.database)) return failed(`there is no database in ${folder.dir}`);
    const target = path.resolve(file);
    await backupDatabase(folder.database, target);
    return done({ file: target, bytes: fs.statSync(target).size });
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
    const folder = folderOf(context);
    makeDataFolder(folder.dir);
    const lock = lockDataFolder(folder.dir);
    try {
      if (!force && fs.existsSync(folder.database)) {
        return failed(`there is already a database in ${folder.dir}: back it up, then use --force to replace it`);
      }
      await restoreDatabase(path.resolve(file), folder.database);
      return done({ database: folder.database, schema: currentSchema(folder) });
    } finally {
      lock.release();
    }
  },
  render: ({ database }) => `${database} restored.`,
});

export const migrate = localCommand({
  name: 'migrate',
  summary: 'Brings the database to the schema of this version, as the daemon does when it starts.',
  options: {},
  async run(context) {
    const folder = folderOf(context);
    makeDataFolder(folder.dir);
    const lock = lockDataFolder(folder.dir);
    try {
      const from = fs.existsSync(folder.database) ? currentSchema(folder) : 0;
      const store = await openSqliteStore({ file: folder.database });
      await store.close();
      return done({ from, to: currentSchema(folder) });
    } finally {
      lock.release();
    }
  },
  render: ({ from, to }) =>
    from === to ? `The schema is ${to}: nothing to do.` : `The schema went from ${from} to ${to}.`,
});

function folderOf(context: LocalContext): DataFolder {
  return dataFolder(context.loadConfig().config.data.dir);
}

function currentSchema(folder: DataFolder): number {
  const db = openForReading(folder.database);
  try {
    return schemaVersion(db);
  } finally {
    db.close();
  }
}
