// Opens one connection: tries the MX hosts and their addresses in order, each with the TLS that the policy
// of the message's domain requires. A host that says it accepts no mail (RFC 7504) is skipped with all
// its addresses.

import { toTimestamp } from '../../base/clock.ts';
import { noPeer, type PeerFacts, type TlsFacts, type TriedHost } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import { namesMxHost } from '../../protocol/dns/published/mta-sts.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';
import type { OpenResult, SmtpSession } from '../../protocol/smtp/session.ts';
import { takesNoMail } from '../../protocol/smtp/tried-hosts.ts';
import type { BrokenTls, TlsPolicy } from '../../store/transport-security.ts';

export interface Connector {
  /** The port of every host. */
  port: number;
  /** Why an address is skipped if there are others; null: it is tried. */
  whySkipped?(ip: string): string | null;
  open(target: { mx: string; ip: string; tls: TlsMode }): Promise<OpenResult>;
}

export type Connected =
  | { kind: 'open'; session: SmtpSession; mx: string; choice: TlsChoice }
  /**
   * `tlsMissed`: at least one host answered, but without the TLS that was required. `asked`: whether every host was
   * tried, with or without an answer.
   */
  | { kind: 'none'; peer: PeerFacts; tlsMissed: boolean; asked: 'all' | 'some' };

// Postfix has the same limit (smtp_mx_address_limit): after five failures the rest will not answer either.
const MAX_TRIED_ADDRESSES = 5;
/** Hosts that accept no mail say so at once, and don't count among the five. */
const MAX_REFUSING_HOSTS = 20;

/**
 * Returns the first session that opens; if none does, the last reply and every attempt. An address without an answer
 * says nothing about servers that do answer: only if none answered is its silence the outcome.
 */
export async function connectToAny(
  hosts: MailHost[],
  connector: Connector,
  chooseTls: (mx: string) => Promise<TlsChoice>,
): Promise<Connected> {
  const tried: TriedHost[] = [];
  const none = { kind: 'none' as const, peer: noPeer('connect', 'no address to connect to'), tlsMissed: false };
  const whySkipped = skipRule(hosts, connector);
  let [tries, refusing] = [0, 0];
  let anyAnswered = false;
  for (const { name: mx, addresses } of hosts) {
    for (const { ip } of addresses) {
      const why = whySkipped(ip);
      if (why !== null) {
        // One per host is enough to show.
        const isShown = tried.some((host) => host.mx === mx && host.response === why);
        if (!isShown) tried.push(triedHost(noPeer('connect', why), { mx, ip, port: connector.port }));
        continue;
      }
      const isEnough = tries - refusing >= MAX_TRIED_ADDRESSES || refusing >= MAX_REFUSING_HOSTS;
      if (isEnough) return { ...none, asked: 'some' };
      const choice = await chooseTls(mx);
      const opened = await connector.open({ mx, ip, tls: choice.decision });
      if (opened.kind === 'open') return { kind: 'open', session: opened.session, mx, choice };
      tries++;
      tried.push(triedHost(opened.peer, { mx, ip, port: connector.port }));
      const answered = opened.peer.smtpCode !== null || opened.tlsTrouble !== null;
      if (answered || !anyAnswered) none.peer = { ...opened.peer, tried };
      anyAnswered ||= answered;
      none.tlsMissed ||= opened.tlsTrouble !== null;
      if (!takesNoMail(opened.peer)) continue;
      refusing++;
      break;
    }
  }
  return { ...none, asked: 'all' };
}

/** Skips no address if no other is left: a TLS policy may have excluded the other hosts. */
function skipRule(hosts: MailHost[], connector: Connector): (ip: string) => string | null {
  const whySkipped = (ip: string) => connector.whySkipped?.(ip) ?? null;
  const anyUsable = hosts.some(({ addresses }) => addresses.some(({ ip }) => whySkipped(ip) === null));
  return anyUsable ? whySkipped : () => null;
}

function triedHost(peer: PeerFacts, address: { mx: string; ip: string; port: number }): TriedHost {
  const { stage, smtpCode, enhancedCode, response } = peer;
  return { ...address, stage, smtpCode, enhancedCode, response };
}

// Which TLS a connection must have, and whether it satisfies a policy: pure functions of the domain's
// MTA-STS policy (RFC 8461), what is known about the host, and the configuration.

export interface TlsChoice {
  decision: TlsMode;
  reason: string;
  /** When the choice expires. */
  until?: number;
}

/** What a courier reads from the store about receiving servers. */
export interface TransportSecurity {
  policyOf(domain: string): Promise<TlsPolicy | null>;
  brokenTls(host: string): Promise<BrokenTls | null>;
}

/** The TLS mode for a host. An enforced policy overrides the configuration and what is known about the host. */
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

/** The facts of a connection that policies depend on. */
interface Security {
  mx: string;
  tls: TlsFacts | null;
  /** Why the certificate is not valid for the MX name; null when it is, or without TLS. */
  tlsUnverified: string | null;
}

/** Why a connection doesn't satisfy a policy, as a sentence; null: it does (RFC 8461 section 4). */
export function policyGap(policy: TlsPolicy, { mx, tls, tlsUnverified }: Security): string | null {
  if (policy.mode === 'none') return null;
  if (!namesMxHost(policy.mx, mx)) return `the MTA-STS policy of ${policy.domain} does not name ${mx}`;
  const demand = `the MTA-STS policy of ${policy.domain} asks for TLS with a valid certificate`;
  if (tls === null) return `${demand}, and the connection to ${mx} is in clear text`;
  return tlsUnverified === null ? null : `${demand}, and that of ${mx} is not: ${tlsUnverified}`;
}

/** Why no connection satisfies the policy: shown to the tenant as the reason why the message waits. */
export function policyRefusal(policy: TlsPolicy, why: string): string {
  return `the MTA-STS policy of ${policy.domain} (enforce) cannot be satisfied: ${why}`.slice(0, 1000);
}
