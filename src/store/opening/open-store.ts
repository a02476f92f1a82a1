// Opens what an address names, with the driver that it names; no other driver is loaded.
// Not here is what works on SQLite's file and not on a store: the data folder's lock, backups and restores, copies before
// an upgrade, checks of the file. Who does that (operator, daemon, sandbox) knows the data folder, and uses the driver.
import type { StoreAddress } from '../address.ts';
import type { Inspection } from '../inspection.ts';
import type { CourierReads, PortalReads } from '../reads.ts';
import type { ServerFacts } from '../server-facts.ts';
import type { Store } from '../store.ts';
import type { GroupStats } from '../verb-kinds.ts';

/** For a command, in its own process: nothing runs beside the calls. Brings an older schema up to date, like the next. */
export async function openStore(address: StoreAddress): Promise<Store> {
  switch (address.driver) {
    case 'sqlite': {
      const { openSqliteStore } = await import('../sqlite/open.ts');
      return openSqliteStore({ file: address.file });
    }
    case 'postgres': {
      const { openPostgresStore } = await import('../postgres/open.ts');
      return openPostgresStore({ url: address.url });
    }
  }
}

export interface StoreListener {
  /** Verbs were committed together. */
  onGroup?(stats: GroupStats): void;
  /** A group could not be committed, and none of its verbs on its own either. */
  onFailedCommit(error: unknown): void;
  /** The driver's own work in the background failed, and is tried again; `work` names it. */
  onBackgroundFault(work: string, error: unknown): void;
  /** The store can't be used any more: calls without an answer may or may not have been committed. */
  onLost(error: unknown): void;
  /** For the log, of a database on servers: what the start made of its schema, and which server is used. */
  tell?(text: string, isWarning: boolean): void;
}

/** For the daemon: its main thread never waits for the disk. */
export async function openDaemonStore(address: StoreAddress, listener: StoreListener): Promise<Store> {
  switch (address.driver) {
    case 'sqlite': {
      const { openThreadedStore } = await import('../sqlite/threaded-store.ts');
      const { onGroup, onFailedCommit, onBackgroundFault, onLost } = listener;
      const onCheckpointFault = (error: unknown) => onBackgroundFault('checkpoints', error);
      const { file } = address;
      return openThreadedStore({ file, onFailedCommit, onCheckpointFault, onLost, ...(onGroup && { onGroup }) });
    }
    case 'postgres': {
      const { openPostgresStore } = await import('../postgres/open.ts');
      const { onBackgroundFault, onGroup, onFailedCommit, tell } = listener;
      const onNoticeFault = (error: unknown) => onBackgroundFault('notices to other nodes', error);
      return openPostgresStore({
        url: address.url,
        onFailedCommit,
        onNoticeFault,
        ...(tell && { tell }),
        ...(onGroup && { onGroup }),
      });
    }
  }
}

/** For a courier thread. */
export async function openCourierReads(address: StoreAddress): Promise<CourierReads> {
  switch (address.driver) {
    case 'sqlite': {
      const { openContentReader, openTransportSecurityReader } = await import('../sqlite/reading/courier-reads.ts');
      return {
        contents: openContentReader(address.file),
        transportSecurity: openTransportSecurityReader(address.file),
      };
    }
    case 'postgres': {
      const { openPostgresCourierReads } = await import('../postgres/reads.ts');
      return openPostgresCourierReads(address.url);
    }
  }
}

export interface RunningReads {
  reads: PortalReads;
  close(): Promise<void>;
}

/** `onTrouble` is for the log: why a read was stopped. */
export async function openPortalReads(
  address: StoreAddress,
  onTrouble: (reason: string) => void,
): Promise<RunningReads> {
  switch (address.driver) {
    case 'sqlite': {
      const { openPortalReads: open } = await import('../sqlite/reading/reading.ts');
      return open({ file: address.file, onTrouble });
    }
    case 'postgres': {
      const { openPostgresPortalReads } = await import('../postgres/portal-reads.ts');
      return openPostgresPortalReads({ url: address.url, onTrouble });
    }
  }
}

/** For one look of a command; null: there is no store yet. */
export async function inspect<T>(address: StoreAddress, look: (stored: Inspection) => Promise<T>): Promise<T | null> {
  const stored = await openInspection(address);
  if (stored === null) return null;
  try {
    return await look(stored);
  } finally {
    stored.close();
  }
}

export interface StoredSchema {
  /** 0: there is none yet. */
  version: number;
  /** What this program brings it to. */
  newest: number;
}

/** Changes nothing. Throws for a database that this program must not use. */
export async function storedSchema(address: StoreAddress): Promise<StoredSchema> {
  switch (address.driver) {
    case 'sqlite': {
      const { schemaOfFile } = await import('../sqlite/reading/inspection.ts');
      return schemaOfFile(address.file);
    }
    case 'postgres': {
      const { schemaOfDatabase } = await import('../postgres/reads.ts');
      return schemaOfDatabase(address.url);
    }
  }
}

/** Null: the store is a file. */
export async function serverFacts(address: StoreAddress, now: () => number): Promise<ServerFacts | null> {
  if (address.driver === 'sqlite') return null;
  const { readServerFacts } = await import('../postgres/server-facts.ts');
  return readServerFacts(address.url, now);
}

async function openInspection(address: StoreAddress): Promise<Inspection | null> {
  switch (address.driver) {
    case 'sqlite': {
      const { openInspection: open } = await import('../sqlite/reading/inspection.ts');
      return open(address.file);
    }
    case 'postgres': {
      const { openPostgresInspection } = await import('../postgres/reads.ts');
      return openPostgresInspection(address.url);
    }
  }
}
