// Opens the port of an SMTP listener, and renews its certificate when the files change.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { listenFault } from '../base/text/system-words.ts';
import { type TlsPair, type TlsSource, watchTlsPair } from '../http/tls-files.ts';
import type { Logger } from '../observe/log.ts';
import type { StrictSmtpServer } from './strict-server.ts';

export interface Port {
  /** The configuration section with host and port. */
  section: string;
  host: string;
  /** 0: any free port. */
  port: number;
  /** The port's key, where it is not `port`. */
  key?: string;
}

/** Returns the port. */
export async function openPort(server: StrictSmtpServer, place: Port): Promise<number> {
  const { host, port, section, ...key } = place;
  try {
    server.server.listen(port, host);
    await once(server.server, 'listening');
  } catch (cause) {
    throw listenFault(section, { host, port, ...key }, cause);
  }
  return (server.server.address() as AddressInfo).port;
}

export interface CertificateOptions {
  source: TlsSource;
  inUse: TlsPair;
  checkMs?: number | undefined;
  log: Logger;
  /** What is logged, after a renewal and after a failure. */
  words: { renewed: string; failed: string };
}

const TLS_CHECK_MS = 10 * SECOND_MS;

/** Returns a function that ends the watch. */
export function renewCertificate(servers: readonly StrictSmtpServer[], options: CertificateOptions): () => void {
  const { source, inUse, checkMs = TLS_CHECK_MS, log, words } = options;
  return watchTlsPair({
    source,
    inUse,
    checkMs,
    apply: (renewed) => {
      for (const server of servers) server.updateSecureContext({ ...renewed });
      log.info({}, words.renewed);
    },
    onFailure: (error) => log.error({ error }, words.failed),
  });
}

/** Peers that hang up in the middle of a handshake and the like. */
export function logPeerErrors(server: StrictSmtpServer, log: Logger, listener: string): void {
  server.on('error', (error) => log.debug({ error }, `${listener}: ${describeError(error)}`));
}
