// Contract: sending domains and their DKIM keys.
import type { SealedSecret } from '../base/vault.ts';

export type DomainState = 'pending' | 'verified' | 'failed' | 'revoked';

export interface Domain {
  id: string;
  tenantId: string;
  name: string;
  state: DomainState;
  selector: string;
  /** Base64 of the SubjectPublicKeyInfo, as it stands behind `p=`. */
  publicKeyB64: string;
  signingKeyId: number;
  failureReason: string | null;
  verifiedAt: number | null;
  lastCheckedAt: number | null;
  createdAt: number;
}

export interface NewDomain {
  id: string;
  tenantId: string;
  name: string;
  selector: string;
  publicKeyB64: string;
  privateKey: SealedSecret;
  createdAt: number;
}

/** What a look into DNS has shown. */
export interface DomainVerdict {
  state: 'verified' | 'failed';
  failureReason: string | null;
  checkedAt: number;
}

export interface DomainStore {
  /**
   * 'exists' when the tenant has the name in a state other than revoked, or another tenant has
   * it verified. Another tenant's pending or failed domain does not block: no squatting.
   */
  createDomain(domain: NewDomain): Promise<Domain | 'exists'>;
  getDomain(tenantId: string, id: string): Promise<Domain | null>;
  /** Oldest first, revoked ones included. */
  listDomains(tenantId: string): Promise<Domain[]>;
  /** The domain that the tenant may send from, or null. */
  findVerifiedDomain(tenantId: string, name: string): Promise<Domain | null>;
  /** Whoever holds the name as verified: for the contest between two tenants. */
  findVerifiedHolder(name: string): Promise<Domain | null>;
  /** 'taken' when another tenant holds the name as verified; null when it is gone or revoked. */
  recordVerdict(tenantId: string, id: string, verdict: DomainVerdict): Promise<Domain | 'taken' | null>;
  /**
   * Another tenant's record is definitely gone and ours is there: the holder becomes failed and
   * ours verified in one step. Null when either is no longer in the state that was checked.
   */
  takeOverDomain(holderId: string, tenantId: string, id: string, at: number): Promise<Domain | null>;
  /** The private key is erased at once when no accepted message needs it. Null when gone or revoked. */
  revokeDomain(tenantId: string, id: string): Promise<Domain | null>;
}

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

// Contract: when the DNS records of domains are looked at again by themselves. The rows follow the
// domains: a new one, a verdict and a revocation change them in the same transaction.

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
