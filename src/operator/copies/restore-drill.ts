// A drill: proves a backup by restoring it into a temporary folder and opening everything in it, as a start would do,
// without network, listeners or delivery. Loads the driver, so import() it where it is used.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Fault } from '../../base/errors.ts';
import { counted } from '../../base/text/counted.ts';
import { systemWords } from '../../base/text/system-words.ts';
import { Vault } from '../../base/vault.ts';
import { certificateKeyContext } from '../../certificates/certificate-keeper.ts';
import type { Config } from '../../config/keys.ts';
import { domainKeyContext } from '../../domains/domains.ts';
import { platformKeyContext } from '../../domains/service-identity.ts';
import { diskFreeBytes } from '../../observe/host-room.ts';
import { restoreDatabase } from '../../store/sqlite/engine/backup.ts';
import { openForReading } from '../../store/sqlite/engine/database-file.ts';
import { schemaVersion } from '../../store/sqlite/engine/migrations.ts';
import { mebibytes, SPARE_BYTES } from '../../store/sqlite/engine/upgrade.ts';
import { openSqliteStore } from '../../store/sqlite/open.ts';
import {
  type Census,
  eachSecret,
  type StoredSecret,
  someUnfinished,
  takeCensus,
} from '../../store/sqlite/reading/census.ts';
import { openContentReader } from '../../store/sqlite/reading/courier-reads.ts';
import { secondFactorContext } from '../../tenants/accounts/second-factors.ts';
import { webhookSecretContext } from '../../webhooks/webhooks.ts';
import { existingMasterKeys } from '../master-key.ts';

export interface Drill {
  /** Of the backup, and of the copy when the store had opened it. */
  schema: { backup: number; program: number };
  census: Census;
  /** Unfinished messages that a restore would hold. */
  unfinished: number;
  /** Stored secrets, and how many of them the master key opens. */
  secrets: { stored: number; opened: number };
  /** Unfinished messages whose content was read. */
  contents: { read: number; unreadable: number };
  /** What a restore of this backup would lack, in sentences. */
  problems: string[];
}

// Reading them all would take hours on a large backup; a damaged table shows in the integrity check.
const CONTENTS_READ = 1000;
const CONTENTS_AT_ONCE = 100;

export async function drill(backup: string, config: Config): Promise<Drill> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-drill-'));
  try {
    await requireRoom(backup, folder);
    return await proveIn(folder, backup, config);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function requireRoom(backup: string, folder: string): Promise<void> {
  const size = fs.statSync(backup, { throwIfNoEntry: false })?.size ?? 0;
  const free = await diskFreeBytes(folder);
  // The copy, and what migrations write again.
  const needed = 2 * size + SPARE_BYTES;
  if (free === null || free >= needed) return;
  throw new Fault(
    `the drill needs ${mebibytes(needed)} MiB in ${os.tmpdir()}, and ${mebibytes(free)} MiB are free: set TMPDIR to a folder with more room`,
    { permanence: 'permanent' },
  );
}

async function proveIn(folder: string, backup: string, config: Config): Promise<Drill> {
  const file = path.join(folder, 'postrider.db');
  await restoreDatabase(backup, file);
  const before = schemaOf(file);
  const store = await openSqliteStore({ file });
  try {
    const census = takeCensus(file);
    const contents = await readContents(file);
    const { secrets, problem } = openSecrets(file, config);
    const held = await store.queue.holdUnfinished({ now: 0, notBefore: 0 });
    const problems = problem === null ? [] : [problem];
    if (contents.unreadable > 0) {
      problems.push(`${counted(contents.unreadable, 'unfinished message')} can't be read: ${contents.reason}`);
    }
    return {
      schema: { backup: before, program: schemaOf(file) },
      census,
      unfinished: Object.values(held).reduce((sum, count) => sum + count, 0),
      secrets,
      contents: { read: contents.read, unreadable: contents.unreadable },
      problems,
    };
  } finally {
    await store.close();
  }
}

function schemaOf(file: string): number {
  const db = openForReading(file);
  try {
    return schemaVersion(db);
  } finally {
    db.close();
  }
}

async function readContents(file: string): Promise<{ read: number; unreadable: number; reason: string | null }> {
  const reader = openContentReader(file, { readForMs: 0 });
  try {
    const found = { read: 0, unreadable: 0, reason: null as string | null };
    let rest = someUnfinished(file, CONTENTS_READ);
    while (rest.length > 0) {
      const results = await reader.readSome(rest.slice(0, CONTENTS_AT_ONCE));
      for (const result of results) {
        if (result.kind === 'content') found.read++;
        else {
          found.unreadable++;
          found.reason ??= result.reason;
        }
      }
      rest = rest.slice(results.length);
    }
    return found;
  } finally {
    reader.close();
  }
}

function openSecrets(file: string, config: Config): { secrets: Drill['secrets']; problem: string | null } {
  const { vault, problem: missing } = findVault(config);
  const secrets = { stored: 0, opened: 0 };
  let first: string | null = missing;
  eachSecret(file, ({ secret, ...of }) => {
    secrets.stored++;
    try {
      vault?.open(secret, contextOf(of));
      if (vault) secrets.opened++;
    } catch (error) {
      first ??= systemWords(error);
    }
  });
  const closed = secrets.stored - secrets.opened;
  return { secrets, problem: closed === 0 ? null : `${counted(closed, 'secret')} can't be opened: ${first}` };
}

function findVault(config: Config): { vault: Vault | null; problem: string | null } {
  try {
    const keys = existingMasterKeys(config);
    if (keys !== null) return { vault: new Vault(keys), problem: null };
    return { vault: null, problem: 'there is no master key; put a copy of it where secrets.master_key_file says' };
  } catch (error) {
    return { vault: null, problem: systemWords(error) };
  }
}

function contextOf({ kind, key, purpose }: Omit<StoredSecret, 'secret'>): string {
  switch (kind) {
    case 'platform':
      return platformKeyContext(purpose as Parameters<typeof platformKeyContext>[0], key);
    case 'domain':
      return domainKeyContext(key);
    case 'webhook':
      return webhookSecretContext(key);
    case 'second_factor':
      return secondFactorContext(key);
    case 'certificate':
      return certificateKeyContext(key);
  }
}
