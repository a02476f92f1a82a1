// Contract: what a store holds, read beside a running daemon or without one, and without the data folder's lock. For
// commands and the doctor: each looks once, at little.
import type { CertificateRecord } from './certificates.ts';
import type { MessagePage, MessageSearch } from './reads.ts';
import type { PlatformSuppression, Suppression } from './suppressions.ts';
import type { Tenant } from './tenants.ts';

export interface Inspection {
  names(dkimKeyId: string, maxDomains: number): Promise<StoredNames>;
  secretsInUse(): Promise<SecretsInUse>;
  /** Of all tenants, revoked ones left out. With a name, only that domain. */
  domains(name: string | null, maxDomains: number): Promise<StoredDomains>;
  /** Those of one directory; none before the schema knows certificates. */
  certificates(directory: string): Promise<CertificateRecord[]>;
  /** Oldest first. */
  tenants(): Promise<Pick<Tenant, 'id' | 'name' | 'status'>[]>;
  messages(tenantId: string, search: MessageSearch): Promise<MessagePage>;
  suppressedBy(wanted: SuppressionQuestion): Promise<SuppressedBy>;
  /** Messages that are neither finished nor parked, in a schema of any version. */
  unfinished(): Promise<number>;
  /** Messages that a restore has held. */
  held(): Promise<number>;
  close(): void;
}

export interface StoredNames {
  serviceDkimKeyB64: string | null;
  sendingDomains: string[];
}

/** The IDs of the master keys that encrypted stored secrets. */
export interface SecretsInUse {
  /** Of the service's own keys, which the daemon decrypts when it starts. */
  ofService: string[];
  /** Of the newest secret of each other kind: to read all would take long in a large database. */
  ofNewest: string[];
}

export interface StoredDomain {
  domain: string;
  selector: string;
  publicKeyB64: string;
}

export interface StoredDomains {
  domains: StoredDomain[];
  /** How many more there are. */
  leftOut: number;
}

export interface SuppressionQuestion {
  address: string;
  tenantId: string | null;
  now: number;
}

export interface SuppressedBy {
  platform: PlatformSuppression | null;
  /** The entry of the given tenant. */
  tenant: Suppression | null;
}
