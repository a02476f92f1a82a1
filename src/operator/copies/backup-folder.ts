// backup --to: a folder of backups for a timer. Each is a database and the configuration file that was in use, under one
// time; whatever goes wrong, the earlier ones stay. Loads the driver, so import() it where it is used.
import fs from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { Fault } from '../../base/errors.ts';
import { systemWords } from '../../base/text/system-words.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { syncToDisk } from '../../store/sqlite/engine/backup.ts';
import { deleteOldest, removeLeftParts, timeInName, writeWholeBackup } from '../../store/sqlite/engine/kept-backups.ts';
import { type DataFolder, overDatabase, sqliteFile } from '../data-folder.ts';
import { inspectKeyFile } from '../master-key.ts';

const DATABASES = /^postrider-\d{8}T\d{6}Z\.db$/;
const CONFIGS = /^postrider-\d{8}T\d{6}Z\.toml$/;

interface BackupInFolder {
  file: string;
  bytes: number;
  /** Null: none is in use, or it contains the master key, which must not lie beside a backup. */
  configFile: string | null;
  /** Where the master key is, for people; null: where only the service can see it. */
  masterKey: string | null;
  deleted: string[];
}

/** `keep`: how many are left in the folder; null: all. */
export async function backUpInto(
  folder: DataFolder,
  { config, source }: LoadedConfig,
  { dir, keep }: { dir: string; keep: number | null },
): Promise<BackupInFolder> {
  requireFolder(dir);
  const now = systemClock.now();
  removeLeftParts(dir, DATABASES, now);
  const name = `postrider-${timeInName(now)}`;
  const file = path.join(dir, `${name}.db`);
  if (fs.existsSync(file)) throw new Fault(`${file} already exists`, { permanence: 'permanent' });
  await overDatabase(folder, () => writeWholeBackup(sqliteFile(folder), file, { check: true }));
  const configFile =
    source.file === null || source.inFile.has('secrets.master_key') ? null : path.join(dir, `${name}.toml`);
  if (configFile !== null) copyConfig(source.file!, configFile);
  const deleteOld = (names: RegExp) => (keep === null ? [] : deleteOldest(dir, names, { keep, made: name }));
  const deleted = [DATABASES, CONFIGS].flatMap(deleteOld);
  const { master_key: inConfig } = config.secrets;
  const where = inConfig === null ? (inspectKeyFile(config)?.file ?? null) : 'secrets.master_key of the configuration';
  return { file, bytes: fs.statSync(file).size, configFile, masterKey: where, deleted };
}

function requireFolder(dir: string): void {
  const refuse = (problem: string, cause?: unknown) =>
    new Fault(`the folder ${dir} cannot be used: ${problem}`, { permanence: 'permanent', cause });
  try {
    if (!fs.statSync(dir).isDirectory()) throw refuse('it is not a folder');
    fs.accessSync(dir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  } catch (cause) {
    throw cause instanceof Fault ? cause : refuse(systemWords(cause), cause);
  }
}

/** It may contain passwords of others: nobody else may read it. */
function copyConfig(from: string, target: string): void {
  const part = `${target}.part`;
  try {
    fs.writeFileSync(part, fs.readFileSync(from), { mode: 0o600, flush: true });
    fs.renameSync(part, target);
    syncToDisk(path.dirname(target));
  } catch (cause) {
    fs.rmSync(part, { force: true });
    throw new Fault(`the configuration could not be copied to ${target}: ${systemWords(cause)}`, { cause });
  }
}
