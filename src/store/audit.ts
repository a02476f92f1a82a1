// Contract: who changed what, and when. Entries hold names as they were at the time. Entries are never changed, except
// that failed sign-ins of an hour are added to that hour's entry.

export type AuditActor = 'user' | 'operator' | 'command' | 'system' | 'key';

export interface NewAuditEntry {
  /** Null: the entry is about the platform. */
  tenantId: string | null;
  at: number;
  actor: AuditActor;
  /** Of a person. */
  userId: string | null;
  /** Of an API key. */
  keyId?: string;
  /** The person's email address, or the name of the program that acted. */
  who: string;
  /** Of the client. */
  address: string | null;
  /** `domain.created` and so on. */
  action: string;
  /** Without secrets. */
  data: Readonly<Record<string, string | number | boolean | null>>;
}

export interface AuditEntry extends NewAuditEntry {
  /** Increases with every entry. */
  seq: number;
}

export interface FailedSignIns {
  /** The account that was tried; null: no account has the address. */
  account: { userId: string; tenantId: string | null; email: string } | null;
  /** A /64 for IPv6. */
  network: string;
  /** Of the last one. */
  address: string;
  /** Of the last one. */
  at: number;
  count: number;
}

/** Entries per hour for one account, and for all addresses without an account; the rest share one more entry. */
export const NETWORKS_PER_ACCOUNT = 20;
export const NETWORKS_WITHOUT_ACCOUNT = 200;

export interface AuditPage {
  /** Entries before this one; null: from the newest on. */
  before: number | null;
  limit: number;
}

export interface AuditStore {
  recordAudit(entry: NewAuditEntry): Promise<void>;
  /** One entry for each hour, account and network, up to the limits above. */
  recordFailedSignIns(failures: readonly FailedSignIns[]): Promise<void>;
  /** Newest first. */
  listAudit(tenantId: string, page: AuditPage): Promise<AuditEntry[]>;
  /** Of all tenants and the platform, newest first. */
  listAllAudit(page: AuditPage): Promise<AuditEntry[]>;
  /** Erases up to `limit` entries made at or before `upTo`; returns how many. */
  eraseAudit(upTo: number, limit: number): Promise<number>;
}
