// The certificates that the service shows to others, for people: those that it gets from a directory (tls.acme) and
// those in files. The doctor judges them; here is only what they say, and what the last attempt to renew one said.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { type CertificateState, issuerOf } from '../certificates/certificate-states.ts';
import type { Config } from '../config/keys.ts';
import type { StoreVerbs } from '../store/store.ts';
import { statesOfCertificates } from './states-of-certificates.ts';

export interface HeldCertificate {
  names: string;
  /** Null: there is none, and the listener has one that it signed itself. */
  issued: { by: string; from: number; until: number } | null;
  /** When the daemon renews it; null: what changes the file does. */
  renewsAt: number | null;
  /** Of the last attempt to get it, or to read its file. */
  failure: { reason: string; at: number | null } | null;
}

export interface CertificateFacts {
  store: StoreVerbs<{ certificates: 'listCertificates' }>;
  clock: Clock;
  /** What keeps names from being attempted at the moment. */
  waitsFor?(names: readonly string[]): string | null;
}

/** Those of the configuration: what the store has of others is of no use any more. */
export async function heldCertificates(
  config: Config,
  { store, clock, waitsFor = () => null }: CertificateFacts,
): Promise<HeldCertificate[]> {
  const files = [config.http.tls_cert, config.smtp.tls_cert, config.submission.tls_cert];
  const ofDirectory = config.tls.acme ? await statesOfCertificates(config, { store, clock }) : [];
  return [
    ...ofDirectory.map((state) => fromState(state, waitsFor(state.names), clock.now())),
    ...(await Promise.all([...new Set(files)].flatMap((file) => (file ? [inFile(file)] : [])))),
  ];
}

/** `waitsFor` is of this moment, and stored nowhere. */
function fromState(state: CertificateState, waitsFor: string | null, now: number): HeldCertificate {
  const { names, issuer, notBefore, notAfter, nextAttemptAt, lastFailure } = state;
  const failure = lastFailure ?? (waitsFor === null ? null : { reason: waitsFor, at: now });
  const issued = issuer === null ? null : { by: issuer, from: notBefore!, until: notAfter! };
  return { names: names.join(', '), issued, renewsAt: nextAttemptAt, failure };
}

async function inFile(file: string): Promise<HeldCertificate> {
  try {
    const certificate = new X509Certificate(await readFile(file));
    const { subjectAltName = '', subject = '', validFrom, validTo } = certificate;
    const names = subjectAltName.replaceAll(/(?:DNS|IP Address):/g, '') || subject.replace(/^CN=/, '');
    const issued = { by: issuerOf(certificate), from: Date.parse(validFrom), until: Date.parse(validTo) };
    return { names, issued, renewsAt: null, failure: null };
  } catch (error) {
    return { names: file, issued: null, renewsAt: null, failure: { reason: describeError(error), at: null } };
  }
}
