// Finding one open door: the MX hosts in their order, each with its addresses in theirs, and
// each called in the way that the TLS policy of the message's domain asks for.
import type { PeerFacts } from '../../base/outcome.ts';
import { noPeer } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';
import type { OpenResult, SmtpSession } from '../../protocol/smtp/session.ts';
import type { TlsChoice } from './tls-choice.ts';

export interface DoorKnocker {
  open(target: { mx: string; ip: string; tls: TlsMode }): Promise<OpenResult>;
}

export type Connected =
  | { kind: 'open'; session: SmtpSession; mx: string; choice: TlsChoice }
  /** `tlsMissed`: at least one of them was there, but not with the TLS that it had to have. */
  | { kind: 'none'; peer: PeerFacts; tlsMissed: boolean };

// Postfix' limit too (smtp_mx_address_limit): beyond five doors the rest will not open either.
const MAX_TRIED_ADDRESSES = 5;

/** The first session that opens; when none does, the last thing that was said or seen. */
export async function connectToAny(
  hosts: MailHost[],
  knocker: DoorKnocker,
  chooseTls: (mx: string) => TlsChoice,
): Promise<Connected> {
  const targets = hosts.flatMap((host) => host.addresses.map(({ ip }) => ({ mx: host.name, ip })));
  let peer = noPeer('connect', 'no address to connect to');
  let tlsMissed = false;
  for (const { mx, ip } of targets.slice(0, MAX_TRIED_ADDRESSES)) {
    const choice = chooseTls(mx);
    const opened = await knocker.open({ mx, ip, tls: choice.decision });
    if (opened.kind === 'open') return { kind: 'open', session: opened.session, mx, choice };
    peer = opened.peer;
    tlsMissed ||= opened.tlsTrouble !== null;
  }
  return { kind: 'none', peer, tlsMissed };
}
