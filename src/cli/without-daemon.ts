// Carries out a store command in this process, where no daemon runs: with the data folder's lock, a store that it opens
// and closes again, and the queue as that store has it. Apart from with-services.ts, because it loads most of the program.
import fs from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { IdSource } from '../base/ids.ts';
import { Vault } from '../base/vault.ts';
import type { Config } from '../config/keys.ts';
import { hasServiceIdentity, loadServiceIdentity } from '../domains/service-identity.ts';
import { silentLogger } from '../observe/log.ts';
import { DataFolderInUse, type DataLock, lockDataFolder } from '../store/sqlite/data-lock.ts';
import { refuseEmptiedDatabase } from '../store/sqlite/emptied-database.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { createServiceMail, type Notice, tellByMail } from '../submission/service-mail.ts';
import { createOwnerNotices } from '../tenants/owner-notices.ts';
import type { Answer, StoreCommand } from './command.ts';
import { type DataFolder, makeDataFolder, overDatabase } from './data-folder.ts';
import { loadMasterKeys } from './master-key.ts';
import type { RawArguments } from './parse-arguments.ts';
import { storeQueueControl } from './queue-control.ts';
import { runStoreCommand } from './run-command.ts';
import type { OperatorServices } from './services.ts';

/** Null while another process holds the lock. */
export function tryLock(folder: DataFolder): DataLock | null {
  makeDataFolder(folder.dir);
  refuseEmptiedDatabase(folder.database);
  try {
    return lockDataFolder(folder.dir);
  } catch (error) {
    if (error instanceof DataFolderInUse) return null;
    throw error;
  }
}

export interface Place {
  config: Config;
  folder: DataFolder;
  lock: DataLock;
}

export async function runHere(command: StoreCommand, raw: RawArguments, place: Place): Promise<Answer> {
  const { config, folder, lock } = place;
  try {
    const store = await overDatabase(folder.database, () => openSqliteStore({ file: folder.database }));
    const clock = systemClock;
    const ids = new IdSource();
    const queue = await storeQueueControl({ store, clock, ids, config, log: silentLogger });
    // Whatever is sealed in the store was sealed by a daemon, which has told of a key that it had to make.
    const vault = () => new Vault(loadMasterKeys(config, () => {}));
    const tellOwners = waitingNotices({ store, clock, ids, config, vault });
    const services: OperatorServices = {
      ...{ store, clock, ids, config, queue, vault, tellOwners },
      isSandbox: fs.existsSync(folder.captured),
      tenantChanged: () => {},
      receiverTrusted: () => {},
      inboundWaits: () => {},
    };
    try {
      return await runStoreCommand(command, raw, services);
    } finally {
      await tellOwners.close();
      await store.close();
    }
  } finally {
    lock.release();
  }
}

/** Mails to owners go into the queue, for the next daemon to send. Before the first one there is nobody to send as. */
function waitingNotices({
  store,
  clock,
  ids,
  config,
  vault,
}: Pick<OperatorServices, 'store' | 'clock' | 'ids' | 'config' | 'vault'>) {
  const {
    dkim_domain: domain,
    dkim_selector: selector,
    bounces_domain: bouncesDomain,
    base_url: baseUrl,
  } = config.service;
  const dkim = { domain, selector };
  const tell = async (to: readonly string[], notice: Notice) => {
    if (to.length === 0 || !(await hasServiceIdentity({ store, dkim }))) return;
    const identity = await loadServiceIdentity({ store, vault: vault(), clock, dkim });
    const send = createServiceMail({
      ...{ store, vault: vault(), clock, ids, bouncesDomain, dkim: identity.dkim },
      lifetimeMs: config.delivery.lifetime,
      onAccepted: () => {},
    });
    await tellByMail(send, silentLogger)(to, notice);
  };
  return createOwnerNotices({ store, clock, log: silentLogger, baseUrl, tell });
}
