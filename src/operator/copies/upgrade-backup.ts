// The copy of the database before a migration, for the daemon and for commands that run without one. Loads the driver, so
// import() it where it is used.
import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../config/keys.ts';
import { diskFreeBytes } from '../../observe/host-room.ts';
import { backUpBeforeMigration } from '../../store/sqlite/engine/upgrade.ts';
import { type DataFolder, overDatabase } from '../data-folder.ts';

/** The caller holds the data folder's lock. `say` is told of a copy, in a sentence. */
export async function backUpBeforeUpgrade(
  folder: Pick<DataFolder, 'dir' | 'database' | 'storeName'>,
  { data }: Pick<Config, 'data'>,
  say: (text: string, facts: { file: string; from: number; to: number }) => void,
): Promise<void> {
  const { dir, database } = folder;
  // PostgreSQL's migrations only add: the version before can go on with what they leave.
  if (database === null) return;
  const room = { keep: data.upgrade_backups, now: systemClock.now(), freeBytes: await diskFreeBytes(dir) };
  const made = await overDatabase(folder, () => backUpBeforeMigration(database, room));
  if (made === null) return;
  const { file, from, to } = made;
  say(`backed up the database to ${file} before migrating it from schema ${from} to ${to}`, made);
}
