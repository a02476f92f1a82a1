// Certificate and key in files that somebody renews from time to time. They are compared by
// content every so often: notifications of the file system get lost on network drives and
// with the renaming that ACME clients do. A pair that does not fit together (only one of the
// two written yet) is looked at again later, and the old one stays in use.
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

/** Throws a Fault that names the files when they are unreadable or do not belong together. */
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
  /** Told once for each new reason. */
  onFailure(error: unknown): void;
}

/** Returns what ends the watch. */
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
