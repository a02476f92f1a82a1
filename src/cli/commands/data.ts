// backup: a copy of the database file, taken beside a daemon or not. And what commands of the data folder share.
import fs from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { counted } from '../../base/text/counted.ts';
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
  const { backUpInto } = await import('../../operator/copies/backup-folder.ts');
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
