// Whether clients trust a certificate: a TLS client of this process looks at what a server serves, or would serve from its
// files. Only that shows whether the chain is whole.
import { type Duplex, duplexPair } from 'node:stream';
import { type ConnectionOptions, connect, createSecureContext, TLSSocket } from 'node:tls';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { DoctorKit } from './doctor-settings.ts';

type Roots = Pick<DoctorKit, 'ca'>;

interface Seen {
  certificate: Buffer;
  /** Why clients do not trust it, in words; null: they do. */
  distrust: string | null;
}

const HANDSHAKE_MS = 8 * SECOND_MS;

const UNKNOWN_ISSUER = 'its issuer is missing: an intermediate certificate, or a root that clients trust';

/** OpenSSL's codes, as Node names them. */
const REASONS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its root certificate is not one that clients trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  CERT_HAS_EXPIRED: 'a certificate of its chain has expired',
};

/** A server's certificate, whatever it is, or why there is none. */
export function handshake(
  target: Pick<ConnectionOptions, 'host' | 'port' | 'servername'> | { socket: Duplex },
  { ca }: Roots,
): Promise<Seen | string> {
  return new Promise((resolve) => {
    // The names are judged apart.
    const options = { ...target, ca, rejectUnauthorized: false, checkServerIdentity: () => undefined };
    const socket = connect(options, () => {
      const { raw } = socket.getPeerCertificate();
      settle(raw ? { certificate: raw, distrust: socket.authorized ? null : reasonOf(socket) } : 'no certificate');
    });
    const settle = (result: Seen | string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => settle('no answer in time'), HANDSHAKE_MS);
    socket.on('error', (error) => settle(describeError(error)));
  });
}

function reasonOf({ authorizationError }: TLSSocket): string {
  // A string, other than its type says.
  const code = String(authorizationError);
  return REASONS[code] ?? code;
}

/** Of the files of a listener. */
export async function distrustOfPair(cert: Buffer, key: Buffer, roots: Roots): Promise<string | null> {
  const [ours, theirs] = duplexPair();
  const server = new TLSSocket(theirs, { isServer: true, secureContext: createSecureContext({ cert, key }) });
  server.on('error', () => {}); // the client's end has it as well
  try {
    const seen = await handshake({ socket: ours }, roots);
    return typeof seen === 'string' ? seen : seen.distrust;
  } finally {
    server.destroy();
  }
}
