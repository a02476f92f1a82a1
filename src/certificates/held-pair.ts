// A certificate and key that are in memory, for the listeners. Private keys are encrypted in the database and exist in
// clear in memory only. uWebSockets accepts nothing but the name of a file; it reads the file while it creates its
// listener, and hyper-express looks for it once more before it listens. So the key is written for the moments of that
// one call, readable by this user alone and by preference to a folder in memory, and removed. The alternative, key files
// that stay, would be copied by each backup of the disk.
import fs from 'node:fs';
import path from 'node:path';
import { Fault } from '../base/errors.ts';
import { systemTrouble } from '../base/text/system-words.ts';
import type { TlsFiles, TlsPair, TlsSource } from '../http/tls-files.ts';

const PREFIX = 'tls-key-';

export class HeldPair implements TlsSource {
  readonly #folder: string;
  /** Of the listeners that have it. */
  readonly #checks = new Set<() => void>();
  #pair: TlsPair;

  constructor(pair: TlsPair, folder: string) {
    this.#pair = pair;
    this.#folder = folder;
  }

  replace(pair: TlsPair): void {
    this.#pair = pair;
    for (const check of this.#checks) check();
  }

  onReplaced(check: () => void): () => void {
    this.#checks.add(check);
    return () => void this.#checks.delete(check);
  }

  async read(): Promise<TlsPair> {
    return this.#pair;
  }

  async inFiles<T>(load: (files: TlsFiles) => Promise<T>): Promise<T> {
    const { cert, key } = this.#pair;
    const folder = makeFolder(this.#folder);
    try {
      const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
      fs.writeFileSync(files.certFile, cert, { mode: 0o600 });
      fs.writeFileSync(files.keyFile, key, { mode: 0o600 });
      return await load(files);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  }
}

function makeFolder(above: string): string {
  try {
    return fs.mkdtempSync(path.join(above, PREFIX)); // for this user alone
  } catch (cause) {
    throw new Fault(`tls.runtime_dir: ${systemTrouble(cause)}`, { cause, permanence: 'permanent' });
  }
}

/** The first of these folders that can be used, without what a daemon that was killed has left there. */
export function folderForKeys(preferred: string, otherwise: string): string {
  const folder = isWritable(preferred) ? preferred : otherwise;
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith(PREFIX)) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  return folder;
}

function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
