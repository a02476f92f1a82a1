// backup | restore | migrate: the data folder as a whole. A backup is taken from the file itself,
// beside a daemon or not; the other two need the folder for themselves.
import fs from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { counted } from '../../base/counted.ts';
import { done, failed } from '../../operator/answer.ts';
import { type DataFolder, databaseProblem, dataFolder } from '../../operator/data-folder.ts';
import type { NewAuditEntry } from '../../store/audit.ts';
import { type LocalContext, localCommand } from '../command.ts';
import { flag, positional, required, text } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { noteAct } from './audit-note.ts';

export const backup = localCommand({
  name: 'backup',
  summary: 'Copies the database to a new file. The daemon may be running.',
  options: { file: required(positional(text('FILE', 'the file to create; it must not exist'))) },
  async run(context, { file }) {
    const folder = await folderOf(context);
    const problem = databaseProblem(folder);
    if (problem !== null) return failed(problem);
    const target = path.resolve(file);
    const own = await ownStore();
    own.refuseEmptied(folder);
    await own.backUp(folder, target);
    const { size: bytes } = fs.statSync(target);
    const { config } = await context.loadConfig();
    // Noting it would bring an older database to this version's schema, and a backup changes nothing.
    if (await own.isOfThisVersion(folder)) {
      await noteAct(context, config, { action: 'platform.backed_up', data: { file: target, bytes } });
    }
    return done({ file: target, bytes });
  },
  render: ({ file, bytes }) =>
    `${file} written, ${counted(bytes, 'byte')}. It does not contain the master key, which is needed to read the private keys in the backup.`,
});

export const restore = localCommand({
  name: 'restore',
  summary: 'Replaces the database with a backup. The daemon must be stopped.',
  options: {
    file: required(positional(text('FILE', 'a backup'))),
    force: flag('overwrite the existing database; its data is lost'),
  },
  async run(context, { file, force }) {
    const folder = await folderOf(context);
    const own = await ownStore();
    const held = own.lockFolder(folder);
    try {
      if (!force && fs.existsSync(folder.database)) {
        return failed(`${folder.dir} already has a database: back it up, then use --force to replace it`);
      }
      await own.restore(folder, path.resolve(file));
      if (await own.isOfThisVersion(folder))
        await recordHere(folder, 'platform.restored', { file: path.resolve(file) });
      return done({ database: folder.database, schema: await own.currentSchema(folder) });
    } finally {
      held.release();
    }
  },
  render: ({ database }) => `${database} restored.`,
});

export const migrate = localCommand({
  name: 'migrate',
  summary: "Migrates the database to this version's schema, as the daemon does at start.",
  options: {},
  async run(context) {
    const folder = await folderOf(context);
    const own = await ownStore();
    own.refuseEmptied(folder);
    const held = own.lockFolder(folder);
    try {
      const from = fs.existsSync(folder.database) ? await own.currentSchema(folder) : 0;
      await own.withOwnStore(folder, async () => {});
      const to = await own.currentSchema(folder);
      if (from !== to) await recordHere(folder, 'platform.migrated', { from, to });
      return done({ from, to });
    } finally {
      held.release();
    }
  },
  render: ({ from, to }) =>
    from === to
      ? `The schema is already at version ${to}; nothing to do.`
      : `The schema was migrated from version ${from} to ${to}.`,
});

async function folderOf(context: LocalContext): Promise<DataFolder> {
  return dataFolder((await context.loadConfig()).config.data.dir);
}

/** With the lock held. */
async function recordHere(folder: DataFolder, action: string, data: NewAuditEntry['data']): Promise<void> {
  const { withOwnStore } = await ownStore();
  await withOwnStore(folder, (store) => recordAct({ store, clock: systemClock }, null, action, data));
}

function ownStore() {
  return import('../../operator/own-store.ts');
}
