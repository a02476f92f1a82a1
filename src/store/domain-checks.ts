// Contract: what the last look into DNS has found for a domain, record by record, for people to read.
// What follows from it for the domain's state is recorded apart (domains.ts).

export type CheckReason = 'not_found' | 'mismatch' | 'invalid_record' | 'multiple_records' | 'dns_unavailable';

export interface DomainCheck {
  record: 'dkim' | 'spf' | 'dmarc';
  name: string;
  type: 'TXT';
  required: boolean;
  ok: boolean;
  expected: string;
  /** The TXT records that stand there, of whatever kind. */
  found: string[];
  reason: CheckReason | null;
  /** One sentence: what is right, or what to change. */
  message: string;
}

export interface DomainChecks {
  at: number;
  checks: DomainCheck[];
}

export interface DomainCheckStore {
  /** Replaces what was there, unless that is newer. Nothing happens for a domain that the tenant does not have. */
  recordChecks(tenantId: string, domainId: string, found: DomainChecks): Promise<void>;
  /** Null when nobody has looked yet. */
  lastChecks(tenantId: string, domainId: string): Promise<DomainChecks | null>;
}
