// Certificates and keys that are renewed from time to time: files, or a source that has them otherwise. Their contents are
// compared periodically: notifications of the file system get lost on network drives and when ACME clients rename
// files. A pair that does not match (only one of the two is written yet) is re-checked later, and the old pair stays in
// use.
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { describeError, Fault } from '../base/errors.ts';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

export interface TlsPair {
  cert: Buffer;
  key: Buffer;
}

/** Where listeners get their certificate from, now and after a renewal. */
export interface TlsSource {
  /** Throws a Fault when there is no usable pair. */
  read(): Promise<TlsPair>;
  /** Calls `load` and waits for it, while the pair is in files: uWebSockets reads it by name. */
  inFiles<T>(load: (files: TlsFiles) => Promise<T>): Promise<T>;
  /** Calls `check` when there is another pair, so that nobody waits for the next look. Returns what ends that. */
  onReplaced?(check: () => void): () => void;
  /** For who asks by ALPN to see the proof of a name (RFC 8737); null: none is to be shown. Missing: never. */
  proofFor?(name: string): SecureContext | null;
}

/** Both are accepted where a listener is opened. */
export function sourceOf(tls: TlsFiles | TlsSource): TlsSource {
  if ('read' in tls) return tls;
  return { read: () => readTlsPair(tls), inFiles: (load) => load(tls) };
}

/** Throws a Fault that names the files when they are unreadable or do not match. */
async function readTlsPair(files: TlsFiles): Promise<TlsPair> {
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
  source: TlsSource;
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
    const pair = await options.source.read();
    if (stopped || (pair.cert.equals(inUse.cert) && pair.key.equals(inUse.key))) return;
    await options.apply(pair);
    inUse = pair;
  };
  const look = async () => {
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
  };
  const timer = setInterval(look, options.checkMs);
  timer.unref();
  const forget = options.source.onReplaced?.(() => void look());
  return () => {
    stopped = true;
    forget?.();
    clearInterval(timer);
  };
}
