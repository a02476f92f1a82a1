// backup | migrate: the data folder as a whole. A backup is taken from the file itself, beside a daemon or not; a
// migration needs the folder for itself, as restore.ts does.
import fs from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { counted } from '../../base/counted.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import { type DataFolder, databaseProblem, dataFolder } from '../../operator/data-folder.ts';
import type { NewAuditEntry } from '../../store/audit.ts';
import { type LocalContext, localCommand } from '../command.ts';
import { positional, text, wholeNumber } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { noteAct } from './audit-note.ts';

export const backup = localCommand({
  name: 'backup',
  summary:
    'Copies the database to a new file, or into a folder of which the last copies are kept. The daemon may be running.',
  options: {
    file: positional(text('FILE', 'the file to create; it must not exist')),
    to: text('DIR', 'instead of FILE: a folder, for postrider-TIME.db and the configuration beside it'),
    keep: wholeNumber('N', { min: 1, max: 100_000 }, 'with --to: deletes older backups there but for the last N'),
  },
  check({ file, to, keep }) {
    if (file !== undefined && to !== undefined) return 'give FILE or --to DIR, not both';
    if (file === undefined && to === undefined) return 'FILE is missing: give it, or --to DIR';
    return keep !== undefined && to === undefined ? '--keep needs --to' : null;
  },
  async run(context, { file, to, keep }): Promise<Answer<BackedUp>> {
    const folder = await folderOf(context);
    const problem = databaseProblem(folder);
    if (problem !== null) return failed(problem);
    const own = await ownStore();
    own.refuseEmptied(folder);
    const made =
      to === undefined ? await intoFile(folder, file!) : await intoFolder(context, folder, { to, keep: keep ?? null });
    const { config } = await context.loadConfig();
    // Noting it would bring an older database to this version's schema, and a backup changes nothing.
    if (await own.isOfThisVersion(folder)) {
      const { file, bytes } = made;
      await noteAct(context, config, { action: 'platform.backed_up', data: { file, bytes } });
    }
    return done(made);
  },
  render: ({ file, bytes, folder }) =>
    [
      `${file} written, ${counted(bytes, 'byte')}. It does not contain the master key, which is needed to read the private keys in the backup.`,
      ...(folder === undefined ? [] : folderLines(folder)),
    ].join('\n'),
  toJson: ({ file, bytes, folder }) => ({ file, bytes, ...folder }),
});

interface BackedUp {
  file: string;
  bytes: number;
  folder?: BackupFolder;
}

interface BackupFolder {
  /** Null: there is none, or it contains the master key. */
  config_file: string | null;
  /** Where the master key is; null: this user can't see it. */
  master_key: string | null;
  deleted: string[];
}

async function intoFile(folder: DataFolder, file: string): Promise<BackedUp> {
  const target = path.resolve(file);
  await (await ownStore()).backUp(folder, target);
  return { file: target, bytes: fs.statSync(target).size };
}

async function intoFolder(
  context: LocalContext,
  folder: DataFolder,
  { to, keep }: { to: string; keep: number | null },
): Promise<BackedUp> {
  const { backUpInto } = await import('../../operator/backup-folder.ts');
  const made = await backUpInto(folder, await context.loadConfig(), { dir: path.resolve(to), keep });
  const { file, bytes, configFile, masterKey, deleted } = made;
  return { file, bytes, folder: { config_file: configFile, master_key: masterKey, deleted } };
}

function folderLines({ config_file: configFile, master_key: masterKey, deleted }: BackupFolder): string[] {
  return [
    `Keep a copy of the master key${masterKey === null ? '' : ` (${masterKey})`} apart from the backups.`,
    configFile === null ? 'No configuration file was copied.' : `${configFile} is the configuration.`,
    ...(deleted.length === 0 ? [] : [`Deleted: ${deleted.join(', ')}`]),
  ];
}

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
      const { backUpBeforeUpgrade } = await import('../../operator/upgrade-backup.ts');
      const { config } = await context.loadConfig();
      await backUpBeforeUpgrade(folder, config, (text) => context.complain(text));
      const from = await own.currentSchema(folder);
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

export async function folderOf(context: LocalContext): Promise<DataFolder> {
  return dataFolder((await context.loadConfig()).config);
}

/** With the lock held. */
export async function recordHere(folder: DataFolder, action: string, data: NewAuditEntry['data']): Promise<void> {
  const { withOwnStore } = await ownStore();
  await withOwnStore(folder, (store) => recordAct({ store, clock: systemClock }, null, action, data));
}

export function ownStore() {
  return import('../../operator/own-store.ts');
}
