// Files that the configuration names: whether they can be read, and whether certificate and
// key belong together. A wrong one stops the start instead of the first handshake.
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { describeError } from '../base/errors.ts';
import { systemWords } from '../base/system-words.ts';
import type { Config } from './keys.ts';

/** Null when the daemon can read the file. */
export function fileProblem(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile() ? null : `${file} is not a file`;
  } catch (error) {
    return `cannot read ${file}: ${systemWords(error)}`;
  }
}

/** Null when the section has no TLS, or a pair that OpenSSL takes. */
export function tlsProblem(config: Config, section: 'http' | 'smtp'): string | null {
  const { tls_cert, tls_key } = config[section];
  if (!tls_cert || !tls_key) return null;
  // Loaded only here: it costs every command as much as Node's whole start, and few files name certificates.
  const { createSecureContext } = process.getBuiltinModule('node:tls');
  try {
    createSecureContext({ cert: readFileSync(tls_cert), key: readFileSync(tls_key) });
    return null;
  } catch (error) {
    return `${section}.tls_cert: cannot be used with ${section}.tls_key: ${describeError(error)}`;
  }
}
