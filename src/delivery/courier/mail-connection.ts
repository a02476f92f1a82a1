// The connection of a courier session: opened when it is first needed, again when it is gone, and
// again when a message's domain has a TLS policy (RFC 8461) that the open one does not satisfy. The
// next message is announced behind the one before where it may go over the same connection.

import { BoundedMap } from '../../base/bounded-map.ts';
import { DAY_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { noPeer, type TlsPolicyFacts } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import { namesMxHost } from '../../protocol/dns/mta-sts.ts';
import { parseDomain } from '../../protocol/mail/domain.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';
import { replyLine } from '../../protocol/smtp/reply.ts';
import type { SmtpSession } from '../../protocol/smtp/session.ts';
import type { TlsPolicy } from '../../store/transport-security.ts';
import {
  type Connected,
  type Connector,
  chooseTls,
  connectToAny,
  policyGap,
  policyRefusal,
  type TlsChoice,
  type TransportSecurity,
} from './connect.ts';
import type { CourierResult, HostNote } from './messages.ts';
import type { Ready } from './prepare.ts';

export interface MailConnectionKit {
  hosts: MailHost[];
  connector: Connector;
  security: TransportSecurity;
  /** What holds where no policy says otherwise. */
  usualTls: TlsMode;
  announcements: Announcements;
  /** Aborted when what is on the wire is cut off by our own side. */
  signal: AbortSignal;
  onConnected(): void;
  onHostNote(note: HostNote): void;
}

type Open = Extract<Connected, { kind: 'open' }>;
type Closed = Extract<CourierResult, { kind: 'no_connection' | 'insecure' }>;

export class MailConnection {
  readonly #kit: MailConnectionKit;
  /** What was found of policies that no host satisfies: not tried again for each message. */
  readonly #unsatisfied = new Map<string, Closed>();
  #open: Open | null = null;
  /** The message whose policy was looked up before its turn. */
  #ahead: { message: Ready; policy: TlsPolicy | null } | null = null;
  #messagesOnSession = 0;

  constructor(kit: MailConnectionKit) {
    this.#kit = kit;
  }

  /** Whether a message was announced that the server can still be given. */
  get hasAnnounced(): boolean {
    return this.#open?.session.hasAnnounced ?? false;
  }

  /** `next` gives the message that will be sent after this one, if it is prepared when it is asked for. */
  async send(message: Ready, next: () => Ready | null): Promise<CourierResult> {
    let policy: TlsPolicy | null;
    try {
      policy = this.#policyFor(message);
    } catch (error) {
      // Unknown is not "none": the mail waits.
      const words = `the TLS policy of the recipient's domain cannot be read: ${describeError(error)}`;
      return { kind: 'insecure', peer: noPeer('prepare', words) };
    }
    const reused = this.#messagesOnSession > 0;
    const announcedOn = this.#open?.session.awaits(message) ? this.#open : null;
    const result = await this.#sendOnce({ message, policy, next });
    const misheard = announcedOn !== null && isMisheard(result) && !this.#kit.signal.aborted;
    if (misheard) this.#sayNothingEarlyTo(announcedOn, result);
    // A server may end an idle connection at any time. That says nothing about this message,
    // as long as it was not on its way: a fresh connection, once.
    const stale = reused && isGoodbye(result);
    if (!stale && !misheard) return result;
    if (stale) await this.hangUp(); // the server may have stayed
    return await this.#sendOnce({ message, policy, next });
  }

  #sayNothingEarlyTo({ mx: host, session }: Open, { peer }: Misheard): void {
    session.destroy();
    this.#kit.announcements.misheardBy(host);
    const reason = replyLine(peer.smtpCode, peer.enhancedCode, peer.response);
    this.#kit.onHostNote({ kind: 'announcement_lost', host, reason });
  }

  async hangUp(): Promise<void> {
    await this.#open?.session.close();
    this.#open = null;
  }

  async #sendOnce({ message, policy, next }: Sending): Promise<CourierResult> {
    const open = await this.#openFor(message, policy);
    if (open.kind !== 'open') return open;
    this.#messagesOnSession++;
    try {
      const result = await open.session.send(message, () => this.#toBeAnnounced(open, next));
      return { ...result, peer: { ...result.peer, tlsPolicy: policyFacts(policy, open) } };
    } catch (error) {
      // Refused by our own side before anything was said, such as an address that no command
      // can carry: it must not end the session for the messages behind it.
      return { kind: 'unreadable', reason: `the message cannot be sent: ${describeError(error)}` };
    }
  }

  #toBeAnnounced(open: Open, next: Sending['next']): Ready | null {
    if (!this.#kit.announcements.workWith(open.mx)) return null;
    const message = next();
    if (!message) return null;
    try {
      const policy = this.#policyFor(message);
      this.#ahead = { message, policy };
      return allows(policy, open) ? message : null;
    } catch {
      return null; // told when its turn comes
    }
  }

  #policyFor(message: Ready): TlsPolicy | null {
    const ahead = this.#ahead;
    this.#ahead = null; // a connection that lingers holds no message
    if (ahead?.message === message) return ahead.policy;
    return this.#kit.security.policyOf(domainOf(message.rcptTo));
  }

  async #openFor(message: Ready, policy: TlsPolicy | null): Promise<Open | Closed> {
    const open = this.#open;
    if (open && (open.session.usable || open.session.awaits(message)) && allows(policy, open)) return open;
    const unsatisfied = policy?.mode === 'enforce' && this.#unsatisfied.get(policy.domain);
    if (unsatisfied) return unsatisfied;
    await this.hangUp();
    const { hosts, narrowed } = permittedHosts(this.#kit.hosts, policy);
    const choose = (mx: string) => this.#chooseTls(mx, policy);
    const connected = await connectToAny(hosts, this.#kit.connector, choose);
    if (connected.kind === 'none') return this.#closed(policy, connected, narrowed);
    this.#open = connected;
    this.#messagesOnSession = 0;
    this.#kit.onConnected();
    const { mx: host, session } = connected;
    if (session.tlsBroken) this.#kit.onHostNote({ kind: 'tls_broken', host, reason: session.tlsFailure ?? '' });
    return connected;
  }

  #chooseTls(mx: string, policy: TlsPolicy | null): TlsChoice {
    return chooseTls(this.#kit.usualTls, policy, this.#kit.security.brokenTls(mx));
  }

  /** Whether nobody opened, or nobody whom this domain's policy accepts. */
  #closed(
    policy: TlsPolicy | null,
    { peer, tlsMissed, asked }: Extract<Connected, { kind: 'none' }>,
    narrowed: boolean,
  ) {
    const mode = policy?.mode ?? 'none';
    if (policy?.mode !== 'enforce') {
      return { kind: 'no_connection', peer: { ...peer, tlsPolicy: { ...peer.tlsPolicy, mode } }, asked } as const;
    }
    const tlsPolicy = { mode, failure: null };
    if (!narrowed && !tlsMissed) return { kind: 'no_connection', peer: { ...peer, tlsPolicy }, asked } as const;
    const why =
      peer.mx === null
        ? `it names none of ${namesOf(this.#kit.hosts)}`
        : `${peer.mx} (${peer.stage}): ${peer.response}`;
    // Our own words: no reply that could be taken for the server's verdict about the message.
    const words = { response: policyRefusal(policy, why), smtpCode: null, enhancedCode: null };
    const result: Closed = { kind: 'insecure', peer: { ...peer, ...words, tlsPolicy } };
    this.#unsatisfied.set(policy.domain, result);
    return result;
  }
}

interface Sending {
  message: Ready;
  policy: TlsPolicy | null;
  next: () => Ready | null;
}

function allows(policy: TlsPolicy | null, open: Open): boolean {
  return policy?.mode !== 'enforce' || policyGap(policy, securityOf(open)) === null;
}

/** RFC 8461 section 5: with `enforce`, hosts that the policy does not name are as if they were not there. */
function permittedHosts(hosts: MailHost[], policy: TlsPolicy | null): { hosts: MailHost[]; narrowed: boolean } {
  if (policy?.mode !== 'enforce') return { hosts, narrowed: false };
  const permitted = hosts.filter(({ name }) => namesMxHost(policy.mx, name));
  return { hosts: permitted, narrowed: permitted.length < hosts.length };
}

function policyFacts(policy: TlsPolicy | null, open: Open): TlsPolicyFacts {
  const gap = policy && policyGap(policy, securityOf(open));
  const { session, choice } = open;
  // Under `until` clear text was chosen because of what is remembered.
  const fallback = session.tlsFailure ?? (choice.until === undefined ? null : choice.reason);
  const failure = gap && fallback ? `${gap} (${fallback})` : (gap ?? fallback);
  return { mode: policy?.mode ?? 'none', failure };
}

function securityOf({ mx, session }: { mx: string; session: SmtpSession }) {
  return { mx, tls: session.tls, tlsUnverified: session.tlsUnverified };
}

function namesOf(hosts: MailHost[]): string {
  return hosts.map(({ name }) => name).join(', ');
}

/** As policies are kept: the recipient's domain in ASCII, lower case. */
function domainOf(address: string): string {
  const text = address.slice(address.lastIndexOf('@') + 1);
  const parsed = parseDomain(text);
  return parsed.ok ? parsed.asciiDomain : text;
}

type Misheard = Extract<CourierResult, { kind: 'lost' | 'refused' }>;

/** The commands of an announced message were not answered, or not understood (RFC 5321 section 4.2.1: 500 to 504). */
function isMisheard(result: CourierResult): result is Misheard {
  if (result.kind === 'lost') return !result.afterDot && result.peer.stage === 'mail';
  return result.kind === 'refused' && result.peer.stage !== 'dot' && /^50[0-4]$/.test(String(result.peer.smtpCode));
}

/**
 * The server was gone, or said that it is going (421), before this message was on its way; or it takes
 * no more messages in this session: OpenSMTPD says "452 4.5.3 Too many messages sent" and stays.
 */
function isGoodbye(result: CourierResult): boolean {
  if (result.kind === 'lost') return !result.afterDot && result.peer.stage === 'mail';
  if (result.kind !== 'refused' || result.peer.stage !== 'mail') return false;
  const { smtpCode, enhancedCode } = result.peer;
  return smtpCode === 421 || (smtpCode === 452 && enhancedCode === '4.5.3');
}

// Which servers are told of the next message behind the final dot of the last: all that offer
// PIPELINING (RFC 2920), but those that have lost what was said so early. They hear it in turn.

const MISHEARD_FOR_MS = DAY_MS;
const MOST_KEPT_HOSTS = 1000;

/** Per courier thread: whatever is forgotten costs one more try. */
export class Announcements {
  readonly #now: () => number;
  /** MX host to the time from which on it gets another chance. */
  readonly #misheardUntil = new BoundedMap<string, number>(MOST_KEPT_HOSTS);

  constructor(now: () => number) {
    this.#now = now;
  }

  workWith(host: string): boolean {
    return (this.#misheardUntil.get(host) ?? 0) <= this.#now();
  }

  misheardBy(host: string): void {
    this.#misheardUntil.set(host, this.#now() + MISHEARD_FOR_MS);
  }
}
