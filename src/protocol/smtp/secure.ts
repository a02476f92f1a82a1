// The TLS handshake after STARTTLS (RFC 3207). Every certificate is accepted here, and its validity reported; the
// caller decides whether an unverified one is acceptable.
import { isIP, type Socket } from 'node:net';
import { type SecureContext, type TLSSocket, connect as tlsConnect } from 'node:tls';
import type { TlsFacts } from '../../base/outcome.ts';

export interface SecureOptions {
  /** The MX name, for SNI and for the certificate. */
  host: string;
  /** Trusted roots and the like; undefined means Node's own. */
  secureContext: SecureContext | undefined;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

export type SecureResult =
  | { kind: 'secured'; socket: TLSSocket; facts: TlsFacts; unverified: string | null }
  | { kind: 'failed'; why: string };

export function secure(plain: Socket, options: SecureOptions): Promise<SecureResult> {
  const { host, secureContext, timeoutMs, signal } = options;
  return new Promise((resolve) => {
    const socket = tlsConnect({
      socket: plain,
      host,
      // RFC 6066 section 3: no IP addresses in SNI.
      servername: isIP(host) ? '' : host,
      rejectUnauthorized: false,
      ...(secureContext && { secureContext }),
    });
    const settle = (result: SecureResult) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      socket.off('secureConnect', secured);
      if (result.kind === 'failed') socket.destroy();
      resolve(result);
    };
    const fail = (why: string) => settle({ kind: 'failed', why });
    const secured = () => settle({ kind: 'secured', socket, ...judge(socket) });
    const abort = () => fail('aborted');
    const timer = setTimeout(() => fail(`no TLS handshake within ${timeoutMs / 1000} s`), timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    socket.on('secureConnect', secured);
    // Both stay attached; once settled they change nothing.
    socket.on('error', (error: NodeJS.ErrnoException) => fail(`TLS handshake: ${error.code ?? error.message}`));
    socket.on('close', () => fail('connection closed during the TLS handshake'));
    if (signal?.aborted) abort();
  });
}

function judge(socket: TLSSocket): { facts: TlsFacts; unverified: string | null } {
  const { authorized, authorizationError } = socket;
  return {
    facts: { version: socket.getProtocol() ?? 'unknown', cipher: socket.getCipher().name, verified: authorized },
    unverified: authorized ? null : String(authorizationError ?? 'unknown reason'),
  };
}
