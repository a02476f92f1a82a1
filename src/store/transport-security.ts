// Contract: what is known of receiving servers' TLS. Not scoped to a tenant: policies belong to their domains, and
// broken TLS affects all tenants. Entries expire, and their number is limited: those that expire first are replaced.
import type { TlsPolicyMode } from '../base/outcome.ts';

/** What a domain requires of sending servers (MTA-STS, RFC 8461). */
export interface TlsPolicy {
  /** ASCII, lower case. */
  domain: string;
  policyId: string;
  mode: TlsPolicyMode;
  /** Patterns for the MX hosts that the policy allows. */
  mx: string[];
  fetchedAt: number;
  expiresAt: number;
}

/** An MX host that offers STARTTLS but fails the handshake. */
export interface BrokenTls {
  host: string;
  reason: string;
  since: number;
  expiresAt: number;
}

export interface TransportSecurityStore {
  /** Null when there is no valid policy. */
  findTlsPolicy(domain: string, now: number): Promise<TlsPolicy | null>;
  /** Replaces the domain's policy. `fetchedAt` counts as now. */
  putTlsPolicy(policy: TlsPolicy, maxPolicies: number): Promise<void>;
  findBrokenTls(host: string, now: number): Promise<BrokenTls | null>;
  /** Replaces the host's entry. `since` counts as now. */
  putBrokenTls(broken: BrokenTls, maxHosts: number): Promise<void>;
}

/** Read-only, for courier threads. */
export interface TransportSecurityReader {
  tlsPolicy(domain: string, now: number): Promise<TlsPolicy | null>;
  brokenTls(host: string, now: number): Promise<BrokenTls | null>;
  close(): void;
}
