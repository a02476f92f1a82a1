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
