// The connection of a courier session: opened on first use, reopened when it is lost or when a message's
// domain has a TLS policy (RFC 8461) that the open one doesn't satisfy. The next message is announced
// (pipelined) after the one before if it may use the same connection.

import { BoundedMap } from '../../base/bounded-map.ts';
import { DAY_MS } from '../../base/clock.ts';
import { describeError, Unavailable } from '../../base/errors.ts';
import { noPeer, type TlsPolicyFacts } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import { namesMxHost } from '../../protocol/dns/published/mta-sts.ts';
import { parseDomain } from '../../protocol/mail/addresses/domain.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';
import { replyLine } from '../../protocol/smtp/reply.ts';
import type { OutgoingMessage, SmtpSession } from '../../protocol/smtp/session.ts';
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
  /** The mode without a policy. */
  usualTls: TlsMode;
  announcements: Announcements;
  /** Aborted when our side cuts off what is on the wire. */
  signal: AbortSignal;
  onConnected(): void;
  onHostNote(note: HostNote): void;
}

/** A prepared message, what its domain demands of the connection, and whether its final dot may be sent. */
export type Sendable = Ready & { policy: FoundPolicy; mayEnd?: (() => boolean) | undefined };

type FoundPolicy = { kind: 'known'; policy: TlsPolicy | null } | { kind: 'unknown'; reason: string };

/** Before its turn, so that it can be decided without waiting whether the message is announced. */
export async function withPolicy(message: Ready, { policyOf }: Pick<TransportSecurity, 'policyOf'>): Promise<Sendable> {
  try {
    return { ...message, policy: { kind: 'known', policy: await policyOf(domainOf(message.rcptTo)) } };
  } catch (error) {
    const reason = `the TLS policy of the recipient's domain cannot be read: ${describeError(error)}`;
    return { ...message, policy: { kind: 'unknown', reason } };
  }
}

type Open = Extract<Connected, { kind: 'open' }>;
type Closed = Extract<CourierResult, { kind: 'no_connection' | 'insecure' }>;

export class MailConnection {
  readonly #kit: MailConnectionKit;
  /** Results for policies that no host satisfies: not tried again for each message. */
  readonly #unsatisfied = new Map<string, Closed>();
  #open: Open | null = null;
  #messagesOnSession = 0;

  constructor(kit: MailConnectionKit) {
    this.#kit = kit;
  }

  /** Whether a message is announced that can still be sent to the server. */
  get hasAnnounced(): boolean {
    return this.#open?.session.hasAnnounced ?? false;
  }

  async send(message: Sendable, { next, begin }: Pick<Sending, 'next' | 'begin'>): Promise<Sent> {
    // An unknown policy is not "none": the mail waits.
    if (message.policy.kind === 'unknown') {
      const peer = noPeer('prepare', message.policy.reason);
      return begin() ? { kind: 'insecure', peer } : { kind: 'withdrawn' };
    }
    const { policy } = message.policy;
    const reused = this.#messagesOnSession > 0;
    const announcedOn = this.#open?.session.awaits(message) ? this.#open : null;
    const result = await this.#sendOnce({ message, policy, next, begin });
    if (result.kind === 'withdrawn' || result.kind === 'unavailable') return result;
    const isLost = announcedOn !== null && isAnnouncementLost(result) && !this.#kit.signal.aborted;
    if (isLost) this.#stopAnnouncingTo(announcedOn, result);
    // A server may close an idle connection at any time. That says nothing about this message if it was not
    // sent yet: try once more, on a new connection.
    const isStale = reused && isSessionOver(result);
    if (!isStale && !isLost) return result;
    if (isStale) await this.close(); // the server may have stayed
    return await this.#sendOnce({ message, policy, next, begin });
  }

  #stopAnnouncingTo({ mx: host, session }: Open, { peer }: LostAnnouncement): void {
    session.destroy();
    this.#kit.announcements.lostBy(host);
    const reason = replyLine(peer.smtpCode, peer.enhancedCode, peer.response);
    this.#kit.onHostNote({ kind: 'announcement_lost', host, reason });
  }

  async close(): Promise<void> {
    await this.#open?.session.close();
    this.#open = null;
  }

  async #sendOnce({ message, policy, next, begin }: Sending): Promise<Sent> {
    const open = await this.#openFor(message, policy);
    if (!begin()) return { kind: 'withdrawn' };
    if (open.kind !== 'open') return open;
    this.#messagesOnSession++;
    try {
      const { leaving, isReEncoded } = await leavingTo(open, message);
      const result = await open.session.send(leaving, () => this.#nextToAnnounce(open, next));
      const peer = { ...result.peer, tlsPolicy: policyFacts(policy, open) };
      const isSealed = isReEncoded && result.kind === 'unsupported' && result.need === 'eightbit';
      return { ...result, peer: isSealed ? { ...peer, response: `${peer.response}, ${NOT_RE_ENCODED}` } : peer };
    } catch (error) {
      if (error instanceof Unavailable) return { kind: 'unavailable', reason: describeError(error) };
      // Our own side refused it before it was sent, for instance an address that no command can carry: that
      // must not end the session for the messages after it.
      return { kind: 'unreadable', reason: `the message cannot be sent: ${describeError(error)}` };
    }
  }

  #nextToAnnounce(open: Open, next: Sending['next']): Sendable | null {
    if (!this.#kit.announcements.worksWith(open.mx)) return null;
    const message = next();
    if (message?.policy.kind !== 'known') return null; // an unknown policy is reported when its turn comes
    return allows(message.policy.policy, open) ? message : null;
  }

  async #openFor(message: Sendable, policy: TlsPolicy | null): Promise<Open | Closed> {
    const open = this.#open;
    if (open && (open.session.usable || open.session.awaits(message)) && allows(policy, open)) return open;
    const unsatisfied = policy?.mode === 'enforce' && this.#unsatisfied.get(policy.domain);
    if (unsatisfied) return unsatisfied;
    await this.close();
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

  async #chooseTls(mx: string, policy: TlsPolicy | null): Promise<TlsChoice> {
    return chooseTls(this.#kit.usualTls, policy, await this.#kit.security.brokenTls(mx));
  }

  /** Whether no host accepted a connection, or none that satisfies the domain's policy. */
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
    // Our own words, without a code, so that they are not taken for the server's verdict on the message.
    const words = { response: policyRefusal(policy, why), smtpCode: null, enhancedCode: null };
    const result: Closed = { kind: 'insecure', peer: { ...peer, ...words, tlsPolicy } };
    this.#unsatisfied.set(policy.domain, result);
    return result;
  }
}

/** It was given back before any of its commands was sent. */
export interface Withdrawn {
  kind: 'withdrawn';
}

/** The database did not answer while it was read: later it can be sent. */
export interface Unprepared {
  kind: 'unavailable';
  reason: string;
}

export type Sent = CourierResult | Withdrawn | Unprepared;

interface Sending {
  message: Sendable;
  policy: TlsPolicy | null;
  /** The message to send after this one, if it is prepared by then. */
  next: () => Sendable | null;
  /** Called when a connection is open, before its first command. False: it was given back. */
  begin: () => boolean;
}

const NOT_RE_ENCODED =
  'and a part of the message that needs it is signed, encrypted or too large to be encoded in another way';

/** RFC 6152 section 3: what this server accepts of the message. */
async function leavingTo(
  { session }: Open,
  message: Sendable,
): Promise<{ leaving: OutgoingMessage; isReEncoded: boolean }> {
  const { needs, inSevenBits, mayEnd } = message;
  if (!inSevenBits || !needs.eightBit || session.capabilities.eightBitMime) {
    return { leaving: message, isReEncoded: false };
  }
  return { leaving: { ...(await inSevenBits()), mayEnd }, isReEncoded: true };
}

function allows(policy: TlsPolicy | null, open: Open): boolean {
  return policy?.mode !== 'enforce' || policyGap(policy, securityOf(open)) === null;
}

/** RFC 8461 section 5: with `enforce`, hosts that the policy does not name must not be used. */
function permittedHosts(hosts: MailHost[], policy: TlsPolicy | null): { hosts: MailHost[]; narrowed: boolean } {
  if (policy?.mode !== 'enforce') return { hosts, narrowed: false };
  const permitted = hosts.filter(({ name }) => namesMxHost(policy.mx, name));
  return { hosts: permitted, narrowed: permitted.length < hosts.length };
}

function policyFacts(policy: TlsPolicy | null, open: Open): TlsPolicyFacts {
  const gap = policy && policyGap(policy, securityOf(open));
  const { session, choice } = open;
  // With `until`, clear text was chosen because the host's TLS is known to be broken.
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

/** In the form in which policies are stored: the recipient's domain in ASCII, lower case. */
function domainOf(address: string): string {
  const text = address.slice(address.lastIndexOf('@') + 1);
  const parsed = parseDomain(text);
  return parsed.ok ? parsed.asciiDomain : text;
}

type LostAnnouncement = Extract<CourierResult, { kind: 'lost' | 'refused' }>;

/** The commands of an announced message got no reply, or were not understood (RFC 5321 section 4.2.1: 500 to 504). */
function isAnnouncementLost(result: CourierResult): result is LostAnnouncement {
  if (result.kind === 'lost') return !result.afterDot && result.peer.stage === 'mail';
  return result.kind === 'refused' && result.peer.stage !== 'dot' && /^50[0-4]$/.test(String(result.peer.smtpCode));
}

/**
 * The server closed the session, or said so (421), before this message was sent; or it accepts no more messages in
 * this session: OpenSMTPD replies "452 4.5.3 Too many messages sent" and keeps the connection open.
 */
function isSessionOver(result: CourierResult): boolean {
  if (result.kind === 'lost') return !result.afterDot && result.peer.stage === 'mail';
  if (result.kind !== 'refused' || result.peer.stage !== 'mail') return false;
  const { smtpCode, enhancedCode } = result.peer;
  return smtpCode === 421 || (smtpCode === 452 && enhancedCode === '4.5.3');
}

// Which servers get the next message's commands pipelined after the final dot of the last: all that offer
// PIPELINING (RFC 2920), except those that have lost such commands.

const AVOIDED_FOR_MS = DAY_MS;
const MAX_HOSTS = 1000;

/** Per courier thread: an evicted host costs one more try. */
export class Announcements {
  readonly #now: () => number;
  /** By MX host, the time from when it is tried again. */
  readonly #avoidedUntil = new BoundedMap<string, number>(MAX_HOSTS);

  constructor(now: () => number) {
    this.#now = now;
  }

  worksWith(host: string): boolean {
    return (this.#avoidedUntil.get(host) ?? 0) <= this.#now();
  }

  lostBy(host: string): void {
    this.#avoidedUntil.set(host, this.#now() + AVOIDED_FOR_MS);
  }
}
