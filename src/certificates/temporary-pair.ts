// A self-signed certificate for the time until a directory has issued one. Applications and browsers reject it, so no key
// or password is ever sent over it unnoticed, which clear text would allow. Mail servers accept it: STARTTLS towards an
// MX is opportunistic, and an unknown certificate is better than none.
import { webcrypto } from 'node:crypto';
import { DAY_MS } from '../base/clock.ts';
import type { TlsPair } from '../http/tls-files.ts';

// It is made anew at each start and never stored.
const LIFETIME_MS = 365 * DAY_MS;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export async function temporaryPair(names: readonly string[], now: number): Promise<TlsPair> {
  // Loaded here, so that a daemon with a certificate does not wait for it.
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Temporary certificate of Postrider',
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + LIFETIME_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value })))],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
  return { cert: Buffer.from(certificate.toString('pem')), key: Buffer.from(key) };
}
