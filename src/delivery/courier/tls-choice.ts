// What the security of a connection must be, and whether one is good enough: pure functions of
// the domain's MTA-STS policy (RFC 8461), what is remembered of the host, and the configuration.
import { toTimestamp } from '../../base/clock.ts';
import type { TlsFacts } from '../../base/outcome.ts';
import { namesMxHost } from '../../protocol/dns/mta-sts.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';
import type { BrokenTls, TlsPolicy } from '../../store/transport-security.ts';

export interface TlsChoice {
  decision: TlsMode;
  reason: string;
  /** When it can change by itself. */
  until?: number;
}

/** What a courier asks its database about receiving servers. */
export interface TransportSecurity {
  policyOf(domain: string): TlsPolicy | null;
  brokenTls(host: string): BrokenTls | null;
}

/** How a host is called. A policy that enforces outdoes everything that was configured or remembered. */
export function chooseTls(usual: TlsMode, policy: TlsPolicy | null, broken: BrokenTls | null): TlsChoice {
  if (policy?.mode === 'enforce') {
    return { decision: 'required', reason: `the MTA-STS policy of ${policy.domain} enforces TLS` };
  }
  if (usual === 'opportunistic' && broken !== null) {
    const { host, since, expiresAt: until } = broken;
    const reason = `clear text until ${toTimestamp(until)}, because the TLS of ${host} broke at ${toTimestamp(since)}: ${broken.reason}`;
    return { decision: 'none', reason, until };
  }
  return { decision: usual, reason: `delivery.starttls is ${usual}` };
}

/** An open connection, as far as policies look at it. */
export interface Security {
  mx: string;
  tls: TlsFacts | null;
  /** Why the certificate is not valid for the MX name; null when it is, or without TLS. */
  tlsUnverified: string | null;
}

/** In which way a connection comes short of a policy, as a sentence; null when it does not (RFC 8461 section 4). */
export function policyGap(policy: TlsPolicy, { mx, tls, tlsUnverified }: Security): string | null {
  if (policy.mode === 'none') return null;
  if (!namesMxHost(policy.mx, mx)) return `the MTA-STS policy of ${policy.domain} does not name ${mx}`;
  const demand = `the MTA-STS policy of ${policy.domain} asks for TLS with a valid certificate`;
  if (tls === null) return `${demand}, and the connection to ${mx} is in clear text`;
  return tlsUnverified === null ? null : `${demand}, and that of ${mx} is not: ${tlsUnverified}`;
}

/** Why no connection will do: said to the tenant, and the reason for which the message waits. */
export function policyRefusal(policy: TlsPolicy, why: string): string {
  return `the MTA-STS policy of ${policy.domain} (enforce) cannot be satisfied: ${why}`.slice(0, 1000);
}
