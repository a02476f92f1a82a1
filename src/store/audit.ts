// Contract: who changed what, and when. Entries are never changed; names stand in them as they were.

export type AuditActor = 'user' | 'operator' | 'command' | 'system';

export interface NewAuditEntry {
  /** Null: it is about the platform. */
  tenantId: string | null;
  at: number;
  actor: AuditActor;
  /** Of a person. */
  userId: string | null;
  /** The person's address, or the name of what acted. */
  who: string;
  /** Of the client. */
  address: string | null;
  /** `domain.created` and so on. */
  action: string;
  /** Without secrets. */
  data: Readonly<Record<string, string | number | boolean | null>>;
}

export interface AuditEntry extends NewAuditEntry {
  /** Grows with every entry. */
  seq: number;
}

export interface AuditPage {
  /** Entries before this one; null: from the newest on. */
  before: number | null;
  limit: number;
}

export interface AuditStore {
  recordAudit(entry: NewAuditEntry): Promise<void>;
  /** Newest first. */
  listAudit(tenantId: string, page: AuditPage): Promise<AuditEntry[]>;
  /** Of all tenants and the platform, newest first. */
  listAllAudit(page: AuditPage): Promise<AuditEntry[]>;
  /** Erases up to `limit` entries that were made at that time or before; returns how many. */
  eraseAudit(upTo: number, limit: number): Promise<number>;
}
