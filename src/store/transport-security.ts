// Contract: what is known of the security of receiving servers. Belongs to no tenant: policies are
// their domains' own, and a broken host is broken for everybody. Entries end by themselves, and
// there is an upper bound to how many are kept: those that would end first make room.
import type { TlsPolicyMode } from '../base/outcome.ts';

/** What a domain demands of those who bring it mail (MTA-STS, RFC 8461). */
export interface TlsPolicy {
  /** ASCII, lower case. */
  domain: string;
  policyId: string;
  mode: TlsPolicyMode;
  /** Patterns of the MX hosts that it names. */
  mx: string[];
  fetchedAt: number;
  expiresAt: number;
}

/** An MX host that offers TLS which does not come about. */
export interface BrokenTls {
  host: string;
  reason: string;
  since: number;
  expiresAt: number;
}

export interface TransportSecurityStore {
  /** Null when there is none that is still valid. */
  findTlsPolicy(domain: string, now: number): Promise<TlsPolicy | null>;
  /** In place of the domain's last one. `fetchedAt` counts as now. */
  putTlsPolicy(policy: TlsPolicy, maxPolicies: number): Promise<void>;
  findBrokenTls(host: string, now: number): Promise<BrokenTls | null>;
  /** In place of the host's last entry. `since` counts as now. */
  putBrokenTls(broken: BrokenTls, maxHosts: number): Promise<void>;
}

/** The same as couriers see it, from their own threads. */
export interface TransportSecurityReader {
  tlsPolicy(domain: string, now: number): TlsPolicy | null;
  brokenTls(host: string, now: number): BrokenTls | null;
  close(): void;
}
