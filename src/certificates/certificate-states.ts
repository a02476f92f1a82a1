// What stands in the store about the certificates that the daemon gets by itself, for those who look at them.
import { X509Certificate } from 'node:crypto';
import type { CertificateRecord } from '../store/certificates.ts';
import { nextAttemptOf } from './next-attempt.ts';

/** A listener whose certificate comes from a directory. */
export type Listener = 'http' | 'smtp';

export interface CertificateState {
  names: readonly string[];
  listeners: readonly Listener[];
  /** `none`: the listeners use a self-signed one, as with `expired`. */
  state: 'valid' | 'expired' | 'none';
  issuer: string | null;
  notBefore: number | null;
  notAfter: number | null;
  /** When it is renewed, or tried again. Null: there was no attempt. */
  nextAttemptAt: number | null;
  /** Attempts since the last success. */
  failures: number;
  lastFailure: { reason: string; at: number } | null;
}

export interface WantedCertificates {
  /** The directory's URL. */
  directory: string;
  /** Sorted names of each listener; null: it has another certificate, or none. */
  listeners: Readonly<Record<Listener, readonly string[] | null>>;
}

export function certificateStates(
  { directory, listeners }: WantedCertificates,
  records: readonly CertificateRecord[],
  now: number,
): CertificateState[] {
  const sets = new Map<string, Listener[]>();
  for (const listener of ['http', 'smtp'] as const) {
    const names = listeners[listener]?.join(' ');
    if (names !== undefined) sets.set(names, [...(sets.get(names) ?? []), listener]);
  }
  return [...sets].map(([names, usedBy]) => {
    const record = records.find((one) => one.directory === directory && one.names === names);
    const issued = record?.issued ?? null;
    const current = issued !== null && issued.notAfter > now ? 'valid' : 'expired';
    return {
      names: names.split(' '),
      listeners: usedBy,
      state: issued === null ? 'none' : current,
      issuer: issued && issuerOf(new X509Certificate(issued.chain)),
      notBefore: issued?.notBefore ?? null,
      notAfter: issued?.notAfter ?? null,
      nextAttemptAt: record ? nextAttemptOf(record, now) : null,
      failures: record?.failures ?? 0,
      lastFailure: record?.failure ?? null,
    };
  });
}

/** Its organization and common name, as in "Let's Encrypt, R11". */
export function issuerOf(certificate: X509Certificate): string {
  const { O: organization, CN: name } = certificate.toLegacyObject().issuer;
  return [organization, name].flat().filter(Boolean).join(', ') || certificate.issuer;
}
