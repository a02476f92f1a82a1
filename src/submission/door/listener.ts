// The SMTP door: applications hand in mail with an API key (RFC 6409), on a port with STARTTLS (587) and on one with TLS
// from the start (465, RFC 8314). What becomes of a mail is decided by the function that it is given to.

import { sourceOf, type TlsFiles, type TlsSource } from '../../http/tls-files.ts';
import { logPeerErrors, openPort, renewCertificate } from '../../smtp-listener/open-port.ts';
import { DoorServer } from './door-server.ts';
import { type DoorSessionOptions, DoorSessions } from './door-sessions.ts';

export interface DoorOptions extends DoorSessionOptions {
  host: string;
  /** Null: off. 0: any free port. With STARTTLS where there is a certificate. */
  port: number | null;
  /** Likewise; needs a certificate. */
  tlsPort: number | null;
  tls?: TlsFiles | TlsSource;
  tlsCheckMs?: number;
  /** Keys are taken without TLS from other machines as well. */
  keysInClear?: boolean;
}

export interface SubmissionListener {
  port: number | null;
  tlsPort: number | null;
  openConnections(): number;
  /** Accepts nothing new; mail received in full is stored and answered. */
  close(): Promise<void>;
}

export async function startSubmissionListener(options: DoorOptions): Promise<SubmissionListener> {
  const { host, log, tls } = options;
  const source = tls && sourceOf(tls);
  const pair = await source?.read();
  const sessions = new DoorSessions(options);
  const servers: DoorServer[] = [];

  function serve(secure: boolean): DoorServer {
    const server: DoorServer = new DoorServer({
      ...sessions.serverOptions(() => server, { hasTls: pair !== undefined, secure }),
      secure,
      ...pair,
    });
    if (secure) sessions.limitHandshakes(server);
    server.keysInClear = options.keysInClear ?? false;
    server.sizeRefused = () => options.count?.('mail', 'too_large');
    logPeerErrors(server, log, 'submission listener');
    servers.push(server);
    return server;
  }

  const section = 'submission';
  const port = options.port === null ? null : await openPort(serve(false), { section, host, port: options.port });
  const tlsPort =
    options.tlsPort === null
      ? null
      : await openPort(serve(true), { section, host, port: options.tlsPort, key: 'tls_port' });
  const stopWatch =
    source && pair
      ? renewCertificate(servers, {
          source,
          inUse: pair,
          checkMs: options.tlsCheckMs,
          log,
          words: {
            renewed: 'the certificate of the submission listener was renewed',
            failed: 'submission.tls_cert and submission.tls_key: the old pair stays in use',
          },
        })
      : () => {};
  return {
    port,
    tlsPort,
    openConnections: () => sessions.openConnections,
    async close() {
      stopWatch();
      await sessions.close(servers);
    },
  };
}
