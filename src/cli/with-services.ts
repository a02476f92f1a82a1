// Runs a store command where the writer is. Beside a daemon that is the daemon, asked over its
// control socket; without one it is this process, which then holds the data folder's lock.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../base/clock.ts';
import { IdSource } from '../base/ids.ts';
import { Vault } from '../base/vault.ts';
import type { Config } from '../config/keys.ts';
import { silentLogger } from '../observe/log.ts';
import { DataFolderInUse, type DataLock, lockDataFolder } from '../store/sqlite/data-lock.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { type Answer, failed, type StoreCommand } from './command.ts';
import { askDaemon } from './control-client.ts';
import { type DataFolder, dataFolder, makeDataFolder } from './data-folder.ts';
import { loadMasterKeys } from './master-key.ts';
import type { RawArguments } from './parse-arguments.ts';
import { storeQueueControl } from './queue-control.ts';
import { runStoreCommand } from './run-command.ts';
import type { OperatorServices } from './services.ts';

// A daemon that is just starting or stopping, or another command, holds the lock for a moment.
const LOCK_PATIENCE_MS = 3000;
const LOCK_RETRY_MS = 50;

export async function runWhereTheWriterIs(command: StoreCommand, raw: RawArguments, config: Config): Promise<Answer> {
  const options = withTypist(command, raw);
  const folder = dataFolder(config.data.dir);
  const deadline = systemClock.now() + LOCK_PATIENCE_MS;
  for (;;) {
    const answer = await askDaemon(folder.controlSocket, { command: command.name, options });
    if (answer) return answer;
    if (!command.begins && !fs.existsSync(folder.database)) return failed(noDatabaseIn(folder));
    const lock = tryLock(folder);
    if (!lock && systemClock.now() >= deadline) return failed(nobodyAnswersIn(folder));
    if (lock) return runHere(command, options, { config, folder, lock });
    await sleep(LOCK_RETRY_MS);
  }
}

function noDatabaseIn({ dir }: DataFolder): string {
  return `there is no database in ${dir}. Is that the data folder? data.dir or POSTRIDER_DATA_DIR says where it is; postrider serve makes it`;
}

/** The daemon cannot see who asks it. */
function withTypist(command: StoreCommand, raw: RawArguments): RawArguments {
  const known = Object.entries(command.options).flatMap(([name, { typist }]) => {
    const found = raw[name] === undefined ? typist?.() : undefined;
    return found === undefined ? [] : [[name, found] as const];
  });
  return { ...Object.fromEntries(known), ...raw };
}

function nobodyAnswersIn({ dir, controlSocket }: DataFolder): string {
  return `another Postrider writes in ${dir}, but none answers at ${controlSocket}. A daemon that starts or stops, or another command, is done in a moment: try again. A daemon whose control.sock was removed has to be restarted`;
}

/** Null while another process holds the lock. */
function tryLock(folder: DataFolder): DataLock | null {
  makeDataFolder(folder.dir);
  try {
    return lockDataFolder(folder.dir);
  } catch (error) {
    if (error instanceof DataFolderInUse) return null;
    throw error;
  }
}

interface Place {
  config: Config;
  folder: DataFolder;
  lock: DataLock;
}

async function runHere(command: StoreCommand, raw: RawArguments, place: Place): Promise<Answer> {
  const { config, folder, lock } = place;
  try {
    const store = await openSqliteStore({ file: folder.database });
    const clock = systemClock;
    const ids = new IdSource();
    const queue = await storeQueueControl({ store, clock, ids, config, log: silentLogger });
    const services: OperatorServices = {
      store,
      clock,
      ids,
      config,
      queue,
      // Whatever is sealed in the store was sealed by a daemon, which has told of a key that it had to make.
      vault: () => new Vault(loadMasterKeys(config, () => {})),
      tenantChanged: () => {},
      receiverTrusted: () => {},
    };
    try {
      return await runStoreCommand(command, raw, services);
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
}
