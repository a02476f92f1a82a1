// Sending domains.

export interface Domains {
  /** The answer's `records` are to be published in DNS. */
  create(domain: { domain: string; selector?: string | undefined }): Promise<Domain>;
  list(): Promise<Domain[]>;
  get(id: string): Promise<Domain>;
  /** Looks at the DNS records now; a ValidationError says what is wrong with them. */
  verify(id: string): Promise<VerifiedDomain>;
  /** Revokes it: nothing is sent from it any more. */
  delete(id: string): Promise<Domain>;
}

export type DomainState = 'pending' | 'verified' | 'failed' | 'revoked';

export interface Domain {
  id: string;
  domain: string;
  state: DomainState;
  dkimSelector: string;
  dkimPublicKeyB64: string;
  failureReason: string | null;
  createdAt: string;
  verifiedAt: string | null;
  lastCheckedAt: string | null;
  records: DnsRecord[];
}

export interface VerifiedDomain extends Domain {
  checks: DomainCheck[];
}

export interface DnsRecord {
  name: string;
  type: string;
  value: string;
  required: boolean;
  purpose: string;
}

export interface DomainCheck {
  record: 'dkim' | 'spf' | 'dmarc';
  name: string;
  type: string;
  required: boolean;
  ok: boolean;
  expected: string;
  found: string[];
  reason: 'not_found' | 'mismatch' | 'invalid_record' | 'multiple_records' | 'dns_unavailable' | null;
  /** What is right, or what to change. */
  message: string;
}
