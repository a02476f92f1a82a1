// Contract: certificates from ACME directories, and what is known of attempts to get them. Not scoped to a tenant: they
// belong to the service's own names. Private keys are sealed.
import type { SealedSecret } from '../base/vault.ts';

/** Which certificate: a set of names from one directory. */
export interface CertificateId {
  /** The directory's URL. */
  directory: string;
  /** Sorted, separated by spaces. */
  names: string;
}

export interface IssuedCertificate {
  /** PEM: the certificate, then those that signed it. */
  chain: string;
  key: SealedSecret;
  notBefore: number;
  notAfter: number;
}

/** An order that the directory has accepted and that is not finished. */
export interface CertificateOrder {
  url: string;
  /** The private key of the certificate that is ordered. */
  key: SealedSecret;
}

export interface CertificateRecord extends CertificateId {
  issued: IssuedCertificate | null;
  order: CertificateOrder | null;
  /** Attempts since the last success, with one that is running. */
  failures: number;
  nextAttemptAt: number;
  /** Why the latest attempt failed; null: it did not, or it is running. */
  failure: { reason: string; at: number } | null;
}

export interface CertificateStore {
  /** All of them; there are few. */
  listCertificates(): Promise<CertificateRecord[]>;
  /** Counts an attempt before it is made; `nextAttemptAt` is when the next one may follow if it fails, or never ends. */
  beginCertificateAttempt(id: CertificateId, nextAttemptAt: number): Promise<void>;
  /** Null: the order is over without a certificate. */
  keepCertificateOrder(id: CertificateId, order: CertificateOrder | null): Promise<void>;
  /** The attempt succeeded: replaces the certificate, ends the order and forgets failures. */
  keepCertificate(id: CertificateId, issued: IssuedCertificate, nextAttemptAt: number): Promise<void>;
  /** Makes the next attempt due at once; what is due already, and failures, stay as they are. */
  hastenCertificateAttempt(id: CertificateId, now: number): Promise<void>;
  /** `earliest` postpones the next attempt, if it is later than planned. */
  failCertificateAttempt(id: CertificateId, failure: { reason: string; at: number }, earliest: number): Promise<void>;
}
