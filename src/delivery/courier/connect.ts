// Finding one open door: the MX hosts in their order, each with its addresses in theirs.
import type { PeerFacts } from '../../base/outcome.ts';
import { noPeer } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { OpenResult } from '../../protocol/smtp/session.ts';

export interface DoorKnocker {
  open(target: { mx: string; ip: string }): Promise<OpenResult>;
}

export type Connected =
  | { kind: 'open'; session: Extract<OpenResult, { kind: 'open' }>['session'] }
  | { kind: 'none'; peer: PeerFacts };

// Postfix' limit too (smtp_mx_address_limit): beyond five doors the rest will not open either.
const MAX_TRIED_ADDRESSES = 5;

/** The first session that opens; when none does, the last thing that was said or seen. */
export async function connectToAny(hosts: MailHost[], knocker: DoorKnocker): Promise<Connected> {
  const targets = hosts.flatMap((host) => host.addresses.map(({ ip }) => ({ mx: host.name, ip })));
  let peer = noPeer('connect', 'no address to connect to');
  for (const target of targets.slice(0, MAX_TRIED_ADDRESSES)) {
    const opened = await knocker.open(target);
    if (opened.kind === 'open') return opened;
    peer = opened.peer;
  }
  return { kind: 'none', peer };
}
