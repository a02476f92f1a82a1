// The store in this process, for commands that run without a daemon: the data folder's lock, the store, and the whole
// database file. Loads the driver, so import() it where it is used.
import { DAY_MS } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type { SuppressedBy, SuppressionQuestion } from '../store/inspection.ts';
import { inspect, openStore, storedSchema } from '../store/opening/open-store.ts';
import type { MessagePage, MessageSearch } from '../store/reads.ts';
import type { HeldMail } from '../store/restored.ts';
import { backupDatabase, isFull, restoreDatabase } from '../store/sqlite/engine/backup.ts';
import { DataFolderInUse, type DataLock, lockDataFolder } from '../store/sqlite/engine/data-lock.ts';
import { refuseEmptiedDatabase } from '../store/sqlite/engine/emptied-database.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import type { NamedTenant } from '../tenants/find-tenant.ts';
import { type DataFolder, giveToOwner, makeDataFolder, overDatabase, sqliteFile } from './data-folder.ts';

/** Throws while another process holds the lock. */
export function lockFolder({ dir }: DataFolder): DataLock {
  makeDataFolder(dir);
  const lock = lockDataFolder(dir);
  return {
    release() {
      giveToOwner(dir);
      lock.release();
    },
  };
}

/** Null while another process holds the lock. */
export function tryLock(folder: DataFolder): DataLock | null {
  makeDataFolder(folder.dir);
  refuseEmptied(folder);
  try {
    return lockFolder(folder);
  } catch (error) {
    if (error instanceof DataFolderInUse) return null;
    throw error;
  }
}

/** The caller holds the lock, which keeps other processes out of SQLite's file. Migrates an older schema. */
export async function withOwnStore<T>(folder: DataFolder, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await overDatabase(folder, () => openStore(folder.store));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Throws when the database has lost all its data, rather than starting from scratch. */
export function refuseEmptied({ database }: DataFolder): void {
  if (database !== null) refuseEmptiedDatabase(database);
}

/** With or without a running daemon. */
export function backUp(folder: DataFolder, target: string): Promise<void> {
  return overDatabase(folder, async () => {
    try {
      await backupDatabase(sqliteFile(folder), target);
    } catch (cause) {
      if (!isFull(cause)) throw cause;
      throw new Fault(`the backup ${target} cannot be written: the disk is full`, { permanence: 'permanent', cause });
    }
  });
}

/** The caller holds the lock. */
export function restore(folder: DataFolder, from: string): Promise<void> {
  return restoreDatabase(from, sqliteFile(folder));
}

// An operator who restores on a Friday evening decides on Monday.
const HELD_AT_LEAST_MS = 3 * DAY_MS;

export interface HeldByRestore {
  held: HeldMail;
  /** When the first held messages may expire. */
  until: number;
}

/** The same, with everything unfinished held before the database counts. Brings the copy to this version's schema. */
export async function restoreHeld(folder: DataFolder, from: string, now: number): Promise<HeldByRestore> {
  const until = now + HELD_AT_LEAST_MS;
  let held: HeldMail | null = null;
  await restoreDatabase(from, sqliteFile(folder), async (incoming) => {
    const store = await openSqliteStore({ file: incoming });
    try {
      held = await store.queue.holdUnfinished({ now, notBefore: until });
    } finally {
      await store.close();
    }
  });
  return { held: held!, until };
}

/** How many messages of a restored database the next start sends. */
export async function countUnfinished(folder: DataFolder): Promise<number> {
  return (await overDatabase(folder, () => inspect(folder.store, (stored) => stored.unfinished()))) ?? 0;
}

/** 0: there is none yet. */
export async function currentSchema(folder: DataFolder): Promise<number> {
  return (await overDatabase(folder, () => storedSchema(folder.store))).version;
}

export async function isOfThisVersion(folder: DataFolder): Promise<boolean> {
  const { version, newest } = await overDatabase(folder, () => storedSchema(folder.store));
  return version === newest;
}

/** With or without a running daemon; null: there is no database. */
export function suppressedBy({ store }: DataFolder, wanted: SuppressionQuestion): Promise<SuppressedBy | null> {
  return inspect(store, (stored) => stored.suppressedBy(wanted));
}

/** With or without a running daemon. */
export async function tenantsIn({ store }: DataFolder): Promise<NamedTenant[]> {
  return (await inspect(store, (stored) => stored.tenants())) ?? [];
}

/** With or without a running daemon; null: there is no database. */
export function searchIn({ store }: DataFolder, tenantId: string, search: MessageSearch): Promise<MessagePage | null> {
  return inspect(store, (stored) => stored.messages(tenantId, search));
}
