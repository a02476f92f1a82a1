// Finding one open door: the MX hosts in their order, each with its addresses in theirs, and
// each called in the way that the TLS policy of the message's domain asks for. A host that says
// that it takes no mail (RFC 7504) is passed over with all its addresses.

import { toTimestamp } from '../../base/clock.ts';
import { noPeer, type PeerFacts, type TlsFacts, type TriedHost } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import { namesMxHost } from '../../protocol/dns/mta-sts.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';
import type { OpenResult, SmtpSession } from '../../protocol/smtp/session.ts';
import { takesNoMail } from '../../protocol/smtp/tried-hosts.ts';
import type { BrokenTls, TlsPolicy } from '../../store/transport-security.ts';

export interface Connector {
  /** Where every host is called. */
  port: number;
  /** Why an address is not called where there are others; null: it is called. */
  whySkipped?(ip: string): string | null;
  open(target: { mx: string; ip: string; tls: TlsMode }): Promise<OpenResult>;
}

export type Connected =
  | { kind: 'open'; session: SmtpSession; mx: string; choice: TlsChoice }
  /**
   * `tlsMissed`: at least one of them was there, but not with the TLS that it had to have. `asked`: of every
   * host an answer, or the lack of one, is among what was tried.
   */
  | { kind: 'none'; peer: PeerFacts; tlsMissed: boolean; asked: 'all' | 'some' };

// Postfix' limit too (smtp_mx_address_limit): beyond five doors the rest will not open either.
const MAX_TRIED_ADDRESSES = 5;
/** Hosts that take no mail say so at once, and do not count among the five. */
const MAX_PASSED_OVER = 20;

/**
 * The first session that opens; when none does, the last thing that was said, and all of what was said or seen. An
 * address that does not answer says nothing about the servers that do: only where none did is its silence the outcome.
 */
export async function connectToAny(
  hosts: MailHost[],
  knocker: Connector,
  chooseTls: (mx: string) => TlsChoice,
): Promise<Connected> {
  const tried: TriedHost[] = [];
  const none = { kind: 'none' as const, peer: noPeer('connect', 'no address to connect to'), tlsMissed: false };
  const whySkipped = skipsOf(hosts, knocker);
  let [called, passedOver] = [0, 0];
  let anyAnswered = false;
  for (const { name: mx, addresses } of hosts) {
    for (const { ip } of addresses) {
      const why = whySkipped(ip);
      if (why !== null) {
        // One of each host is enough to show.
        const isShown = tried.some((host) => host.mx === mx && host.response === why);
        if (!isShown) tried.push(triedHost(noPeer('connect', why), { mx, ip, port: knocker.port }));
        continue;
      }
      const isEnough = called - passedOver >= MAX_TRIED_ADDRESSES || passedOver >= MAX_PASSED_OVER;
      if (isEnough) return { ...none, asked: 'some' };
      const choice = chooseTls(mx);
      const opened = await knocker.open({ mx, ip, tls: choice.decision });
      if (opened.kind === 'open') return { kind: 'open', session: opened.session, mx, choice };
      called++;
      tried.push(triedHost(opened.peer, { mx, ip, port: knocker.port }));
      const answered = opened.peer.smtpCode !== null || opened.tlsTrouble !== null;
      if (answered || !anyAnswered) none.peer = { ...opened.peer, tried };
      anyAnswered ||= answered;
      none.tlsMissed ||= opened.tlsTrouble !== null;
      if (!takesNoMail(opened.peer)) continue;
      passedOver++;
      break;
    }
  }
  return { ...none, asked: 'all' };
}

/** Nothing is skipped where nothing else is left: a TLS policy can have ruled out the other hosts. */
function skipsOf(hosts: MailHost[], knocker: Connector): (ip: string) => string | null {
  const whySkipped = (ip: string) => knocker.whySkipped?.(ip) ?? null;
  const anyCallable = hosts.some(({ addresses }) => addresses.some(({ ip }) => whySkipped(ip) === null));
  return anyCallable ? whySkipped : () => null;
}

function triedHost(peer: PeerFacts, address: { mx: string; ip: string; port: number }): TriedHost {
  const { stage, smtpCode, enhancedCode, response } = peer;
  return { ...address, stage, smtpCode, enhancedCode, response };
}

// What the security of a connection must be, and whether one is good enough: pure functions of
// the domain's MTA-STS policy (RFC 8461), what is remembered of the host, and the configuration.

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
interface Security {
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
