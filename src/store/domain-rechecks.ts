// Contract: when the DNS records of domains are looked at again by themselves. The rows follow the
// domains: a new one, a verdict and a revocation change them in the same transaction.
import type { Domain } from './domains.ts';

export interface DueRecheck {
  domain: Domain;
  /** Since when the pauses grow. */
  since: number;
  /** So many times it was looked at since then. */
  looks: number;
  /** Of a verified domain: definite ones in a row. */
  misses: number;
  firstMissAt: number | null;
}

export interface RecheckNote {
  at: number;
  /** Null: not any more. */
  nextAt: number | null;
  misses: number;
  firstMissAt: number | null;
  /** A verified domain fails with this reason; null: its state stays. */
  failsWith: string | null;
}

export interface DomainRecheckStore {
  /** Those whose time has come, the longest waiting first. */
  dueRechecks(now: number, limit: number): Promise<DueRecheck[]>;
  /** Somebody looks at it right now. */
  postponeRecheck(tenantId: string, domainId: string, until: number): Promise<void>;
  /** False when the domain has been changed since it was read: what was found then says nothing any more. */
  recordRecheck(seen: Domain, note: RecheckNote): Promise<boolean>;
}
