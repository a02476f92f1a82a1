// Finding one open door: the MX hosts in their order, each with its addresses in theirs, and
// each called in the way that the TLS policy of the message's domain asks for. A host that says
// that it takes no mail (RFC 7504) is passed over with all its addresses.
import type { PeerFacts, TriedHost } from '../../base/outcome.ts';
import { noPeer } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';
import type { OpenResult, SmtpSession } from '../../protocol/smtp/session.ts';
import { takesNoMail } from '../../protocol/smtp/tried-hosts.ts';
import type { TlsChoice } from './tls-choice.ts';

export interface DoorKnocker {
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
  knocker: DoorKnocker,
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
function skipsOf(hosts: MailHost[], knocker: DoorKnocker): (ip: string) => string | null {
  const whySkipped = (ip: string) => knocker.whySkipped?.(ip) ?? null;
  const anyCallable = hosts.some(({ addresses }) => addresses.some(({ ip }) => whySkipped(ip) === null));
  return anyCallable ? whySkipped : () => null;
}

function triedHost(peer: PeerFacts, address: { mx: string; ip: string; port: number }): TriedHost {
  const { stage, smtpCode, enhancedCode, response } = peer;
  return { ...address, stage, smtpCode, enhancedCode, response };
}
