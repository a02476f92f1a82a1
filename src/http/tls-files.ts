// Certificate and key files that are renewed from time to time. Their contents are compared periodically: notifications
// of the file system get lost on network drives and when ACME clients rename files. A pair that does not match (only
// one of the two is written yet) is re-checked later, and the old pair stays in use.
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { describeError, Fault } from '../base/errors.ts';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

export interface TlsPair {
  cert: Buffer;
  key: Buffer;
}

/** Throws a Fault that names the files when they are unreadable or do not match. */
export async function readTlsPair(files: TlsFiles): Promise<TlsPair> {
  try {
    const [cert, key] = await Promise.all([readFile(files.certFile), readFile(files.keyFile)]);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (cause) {
    const names = `${files.certFile} and ${files.keyFile}`;
    throw new Fault(`no usable certificate and key in ${names}`, { detail: describeError(cause), cause });
  }
}

export interface TlsWatchOptions {
  files: TlsFiles;
  /** The pair that is in use. */
  inUse: TlsPair;
  checkMs: number;
  apply(pair: TlsPair): Promise<void> | void;
  /** Called once for each new reason. */
  onFailure(error: unknown): void;
}

/** Returns a function that ends the watch. */
export function watchTlsPair(options: TlsWatchOptions): () => void {
  let { inUse } = options;
  let lastFailure = '';
  let busy = false;
  let stopped = false;
  const check = async () => {
    const pair = await readTlsPair(options.files);
    if (stopped || (pair.cert.equals(inUse.cert) && pair.key.equals(inUse.key))) return;
    await options.apply(pair);
    inUse = pair;
  };
  const timer = setInterval(async () => {
    if (busy) return;
    busy = true;
    try {
      await check();
      lastFailure = '';
    } catch (error) {
      const failure = describeError(error);
      if (failure !== lastFailure) options.onFailure(error);
      lastFailure = failure;
    }
    busy = false;
  }, options.checkMs);
  timer.unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
