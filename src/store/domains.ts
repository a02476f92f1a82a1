// Contract: sending domains and their DKIM keys.
import type { SealedSecret } from '../base/vault.ts';

export type DomainState = 'pending' | 'verified' | 'failed' | 'revoked';

export interface Domain {
  id: string;
  tenantId: string;
  name: string;
  state: DomainState;
  selector: string;
  /** Base64 of the SubjectPublicKeyInfo, as published after `p=`. */
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

/** What another tenant takes over, and what is wrong with its record. */
export interface LostDomain {
  id: string;
  failureReason: CheckReason;
}

/** The result of a DNS check. */
export interface DomainVerdict {
  state: 'verified' | 'failed';
  failureReason: string | null;
  checkedAt: number;
}

export interface DomainStore {
  /**
   * 'exists' when the tenant has the name in a state other than revoked, or another tenant has
   * it verified. Another tenant's pending or failed domain does not block: no squatting. 'too_many' when the tenant
   * has `maxLive` that are not revoked; without it, there is no limit.
   */
  createDomain(domain: NewDomain, maxLive?: number): Promise<Domain | 'exists' | 'too_many'>;
  /** What `createDomain` would refuse it for; null: nothing. */
  refusesDomain(tenantId: string, name: string, maxLive: number): Promise<'exists' | 'too_many' | null>;
  getDomain(tenantId: string, id: string): Promise<Domain | null>;
  /** Oldest first, revoked ones included. */
  listDomains(tenantId: string): Promise<Domain[]>;
  /** The domain that the tenant may send from, or null. */
  findVerifiedDomain(tenantId: string, name: string): Promise<Domain | null>;
  /** The tenant's own with this name, whatever its state, unless it is revoked. */
  findLiveDomain(tenantId: string, name: string): Promise<Domain | null>;
  /** The domain of the tenant that has the name verified, for when two tenants claim it. */
  findVerifiedHolder(name: string): Promise<Domain | null>;
  /** 'taken' when another tenant has the name verified; null when the domain is gone or revoked. */
  recordVerdict(tenantId: string, id: string, verdict: DomainVerdict): Promise<Domain | 'taken' | null>;
  /**
   * Another tenant's record is definitely gone and the claimant's is present: the holder becomes failed and
   * the claimant verified in one step. Null when either is no longer in the state that was checked.
   */
  takeOverDomain(claimant: Pick<Domain, 'tenantId' | 'id'>, holder: LostDomain, at: number): Promise<Domain | null>;
  /** The private key is erased as soon as no accepted message needs it. Null when the domain is gone or revoked. */
  revokeDomain(tenantId: string, id: string): Promise<Domain | null>;
}

// Contract: what the last DNS check found for a domain, record by record, for people to read. The domain's state
// follows from it and is recorded separately.

export type CheckReason = 'not_found' | 'mismatch' | 'invalid_record' | 'multiple_records' | 'dns_unavailable';

export interface DomainCheck {
  record: 'dkim' | 'spf' | 'dmarc';
  name: string;
  type: 'TXT';
  required: boolean;
  ok: boolean;
  expected: string;
  /** All TXT records at that name. */
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
  /**
   * Replaces the last result unless that is newer, and notes with the domain when it was checked. Does nothing for a domain
   * that the tenant doesn't have.
   */
  recordChecks(tenantId: string, domainId: string, found: DomainChecks): Promise<void>;
  /** Null before the first check. */
  lastChecks(tenantId: string, domainId: string): Promise<DomainChecks | null>;
}

// Contract: when the DNS records of domains are re-checked automatically. The rows follow the domains: a new
// domain, a verdict and a revocation change them in the same transaction.

/** A domain that one caller re-checks until the lease is over: then it is due again, in case that caller is gone. */
export interface ClaimedRecheck {
  domain: Domain;
  /** The claim is over as soon as another time is stored. */
  leaseUntil: number;
  /** When it was due. */
  dueAt: number;
  /** When the back-off began. */
  since: number;
  /** Re-checks since then. */
  checks: number;
  /** Of a verified domain: definite misses in a row. */
  misses: number;
  firstMissAt: number | null;
}

export interface RecheckNote {
  at: number;
  /** Null: never again. */
  nextAt: number | null;
  misses: number;
  firstMissAt: number | null;
  /** A verified domain fails with this reason; null: its state stays. */
  failsWith: string | null;
}

export interface DomainRecheckStore {
  /** Claims those that are due, the longest overdue first. */
  claimRechecks(now: number, terms: { limit: number; leaseUntil: number }): Promise<ClaimedRecheck[]>;
  /** Those that were not checked after all are due as before; one whose claim is over stays as it is. */
  releaseRechecks(claims: readonly ClaimedRecheck[]): Promise<void>;
  /**
   * A check by hand begins: a claim of a shorter lease is over. A domain without a next re-check has one again then, with
   * which its back-off begins anew.
   */
  postponeRecheck(tenantId: string, domainId: string, until: number): Promise<void>;
  /** False, and nothing changes, when the claim is over: a check by hand or another caller came in between. */
  recordRecheck(claim: ClaimedRecheck, note: RecheckNote): Promise<boolean>;
  /** When the back-off began, if there is a next re-check. */
  recheckedSince(tenantId: string, domainId: string): Promise<number | null>;
}
