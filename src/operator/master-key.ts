// The source of the master key: the configuration, a file that it names, or the data folder, where one is created for a
// database without secrets. Daemon and command line read it in the same way.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { describeError, Fault } from '../base/errors.ts';
import { systemTrouble } from '../base/text/system-words.ts';
import { MASTER_KEY_BYTES, masterKeyId } from '../base/vault.ts';
import type { Config } from '../config/keys.ts';
import type { KeyFileFacts, KeyTrouble } from '../doctor/doctor-settings.ts';
import type { SecretsInUse } from '../store/inspection.ts';
import { inspect } from '../store/opening/open-store.ts';
import { type DataPlace, dataFolder, makeDataFolder } from './data-folder.ts';
import { whoElseReads } from './file-rights.ts';

type KeySource = Pick<Config, 'secrets'> & DataPlace;

export interface MasterKeyFacts {
  /** Null: there is no database yet. */
  inUse: SecretsInUse | null;
  warn(message: string): void;
}

export function secretsInUse(config: DataPlace): Promise<SecretsInUse | null> {
  return inspect(dataFolder(config).store, (stored) => stored.secretsInUse());
}

/**
 * The first key seals; the others still open what they sealed. Never empty. A new key is created only while nothing is
 * encrypted in the database: later, it would open nothing, and hide that the right one is missing.
 */
export function loadMasterKeys(config: KeySource, { inUse, warn }: MasterKeyFacts): Buffer[] {
  const { master_key, master_key_file } = config.secrets;
  const folder = dataFolder(config);
  if (master_key !== null) {
    const keys = parseMasterKeys(master_key, 'secrets.master_key');
    return requireFitting(keys, { place: 'secrets.master_key', database: folder.storeName, inUse, warn });
  }
  const file = keyFileOf(config);
  if (master_key_file === null) {
    if (isEncrypted(inUse) && !fs.existsSync(file)) throw noKey(file, folder.storeName);
    makeDataFolder(config.data.dir);
    if (createKeyFile(file)) {
      warn(
        `created a master key in ${file}: keep a copy of it, apart from the backups. Without it, the private keys in a backup can't be read`,
      );
    }
  }
  const keys = parseMasterKeys(readKeyFile(file), file);
  const warning = keyFileWarning({ file, openTo: whoElseReads(file) });
  if (warning !== null) warn(warning);
  return requireFitting(keys, { place: file, database: folder.storeName, inUse, warn });
}

function keyFileOf(config: KeySource): string {
  return config.secrets.master_key_file ?? dataFolder(config).masterKey;
}

function isEncrypted(inUse: SecretsInUse | null): boolean {
  return inUse !== null && inUse.ofService.length + inUse.ofNewest.length > 0;
}

function noKey(file: string, database: string): Fault {
  return new Fault(
    `there is no master key in ${file}, but ${database} has secrets that were encrypted with one. Put your copy of the master key into ${file}, with mode 0600 and the service's user as its owner, or name another file in secrets.master_key_file. No new key is created, since it could not decrypt them`,
    { permanence: 'permanent' },
  );
}

interface KeyPlace extends Pick<MasterKeyFacts, 'inUse'> {
  place: string;
  database: string;
}

/** A key that does not fit is reported at the start, rather than by each mail. */
function requireFitting(keys: Buffer[], { warn, ...place }: KeyPlace & MasterKeyFacts): Buffer[] {
  const misfit = misfitOf(keys, place);
  if (misfit?.refusesStart) throw new Fault(misfit.message, { permanence: 'permanent' });
  if (misfit !== null) warn(misfit.message);
  return keys;
}

interface Misfit {
  /** False: only some secrets lack their key. */
  refusesStart: boolean;
  message: string;
}

function misfitOf(keys: readonly Buffer[], { place, database, inUse }: KeyPlace): Misfit | null {
  if (inUse === null) return null;
  const given = new Set(keys.map(masterKeyId));
  const lacking = (ids: readonly string[]) => ids.filter((id) => !given.has(id));
  const needed = [...new Set([...lacking(inUse.ofService), ...lacking(inUse.ofNewest)])];
  if (needed.length === 0) return null;
  const ids = `with the ID ${needed.join(', ')}, but ${place} has ${[...given].join(', ')}`;
  const advice = `Put the right key into ${place}; it may hold several, the newest first`;
  const opensNone = lacking(inUse.ofNewest).length === inUse.ofNewest.length;
  const refusesStart = lacking(inUse.ofService).length > 0 || (inUse.ofService.length === 0 && opensNone);
  const message = refusesStart
    ? `the secrets in ${database} need the master key ${ids}. ${advice}`
    : `some secrets in ${database} need the master key ${ids}: mail that needs them can't be sent. ${advice}`;
  return { refusesStart, message };
}

/** What a start would say of the key, beside a running daemon or without one. Creates none. */
export async function masterKeyTrouble(config: KeySource): Promise<KeyTrouble | null> {
  const { storeName: database } = dataFolder(config);
  const place = config.secrets.master_key === null ? keyFileOf(config) : 'secrets.master_key';
  const inUse = await secretsInUse(config);
  let keys: Buffer[] | null;
  try {
    keys = existingMasterKeys(config);
  } catch (error) {
    // The service's user may read what this one can't.
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    return { place, refusesStart: code !== 'EACCES', reason: `can't be used: ${describeError(error)}` };
  }
  if (keys !== null) {
    const misfit = misfitOf(keys, { place, database, inUse });
    return misfit && { place, refusesStart: misfit.refusesStart, reason: `does not fit: ${misfit.message}` };
  }
  if (!isEncrypted(inUse)) return null;
  const reason = `does not exist, but ${database} has secrets that were encrypted with a master key. Unless only the service sees the key (as a credential, or in its environment), it can't start: put your copy of the key there`;
  return { place, refusesStart: false, reason };
}

/** Like loadMasterKeys, but creates none; null: there is none. */
export function existingMasterKeys(config: KeySource): Buffer[] | null {
  const { master_key } = config.secrets;
  if (master_key !== null) return parseMasterKeys(master_key, 'secrets.master_key');
  const file = keyFileOf(config);
  return fs.existsSync(file) ? parseMasterKeys(readKeyFile(file), file) : null;
}

/** Null when only its owner can read it. */
export function keyFileWarning({ file, openTo }: KeyFileFacts): string | null {
  return openTo === null ? null : `the master key in ${file} can be read by ${openTo}: chmod 600 ${file}`;
}

/** Null: there is no key file, or it is not accessible. */
export function inspectKeyFile(config: KeySource): KeyFileFacts | null {
  if (config.secrets.master_key !== null) return null;
  const file = keyFileOf(config);
  return fs.existsSync(file) ? { file, openTo: whoElseReads(file) } : null;
}

/** Base64 or hex, separated by commas or white space. Problems name the source, never the key. */
export function parseMasterKeys(text: string, source: string): Buffer[] {
  const keys = text.split(/[\s,]+/).filter((part) => part !== '');
  if (keys.length === 0) throw new Fault(`${source}: it contains no master key`, { permanence: 'permanent' });
  return keys.map((key, index) => {
    const bytes = /^[0-9a-f]{64}$/i.test(key) ? Buffer.from(key, 'hex') : fromBase64(key);
    if (bytes?.length === MASTER_KEY_BYTES) return bytes;
    throw new Fault(`${source}: key ${index + 1} is not ${MASTER_KEY_BYTES} bytes in base64 or hex`, {
      permanence: 'permanent',
    });
  });
}

/** Null for text that is not base64: Buffer.from would skip invalid characters. */
function fromBase64(text: string): Buffer | null {
  return /^[A-Za-z0-9+/]+=*$/.test(text) ? Buffer.from(text, 'base64') : null;
}

function readKeyFile(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Fault(`the master key cannot be read: ${systemTrouble(cause)}`, { permanence: 'permanent', cause });
  }
}

/**
 * False when the file exists already. Written aside and linked into place: the name never refers to an incomplete file,
 * and two processes that start at once get the same key.
 */
function createKeyFile(file: string): boolean {
  if (fs.existsSync(file)) return false;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = fs.openSync(draft, 'wx', 0o600);
  try {
    fs.writeSync(handle, `${randomBytes(MASTER_KEY_BYTES).toString('base64')}\n`);
    fs.fsyncSync(handle);
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    fs.closeSync(handle);
    fs.unlinkSync(draft);
  }
}
