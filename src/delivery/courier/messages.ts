// What the main thread and a courier thread say to each other. Plain data only: it is cloned
// on its way between threads.
import type { MessagePort } from 'node:worker_threads';
import type { PeerFacts } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';

/** What a courier thread needs from its birth on. */
export interface CourierSettings {
  databaseFile: string;
  masterKeys: Buffer[];
  /** Makes return paths and feedback ids. */
  tokenKey: { id: string; key: Buffer };
  bouncesDomain: string;
  /** Makes the links that tracking and unsubscribing put into mail, under this origin. */
  links: { url: string; key: { id: string; key: Buffer } };
  /** The service's own second signature. */
  serviceSigner: { domain: string; selector: string; privateKeyDer: Buffer };
  ehloName: string;
  smtpPort: number;
  tls: TlsMode;
  /** Whether the MTA-STS policies of recipients' domains are obeyed. */
  mtaSts: boolean;
  /** Trusted roots in PEM for receiving servers; those of Node when not given. */
  trustedRoots?: string;
  timeoutFactor: number;
  /** How often it is told that a session moves; a fraction of the silence that ends one. */
  heartbeatMs: number;
}

/** The own address to speak from, and what it calls itself. */
export interface SessionSource {
  ip: string;
  ehloName: string;
}

/** Addresses that are not called, because others of the same receiver can be. */
export interface Skipped {
  ips: string[];
  reason: string;
}

/** One session: where to connect, in this order, and from where; without a source the system picks. */
export interface SessionPlan {
  hosts: MailHost[];
  source: SessionSource | null;
  skipped: Skipped | null;
}

/** With the line on which its sessions are ordered, and report. */
export interface CourierBirth extends CourierSettings {
  line: MessagePort;
}

/** To a courier thread: what begins a session, or is ordered of one. The main thread numbers them. */
export type CourierCall = { session: number; plan: SessionPlan } | { session: number; order: CourierOrder };

/** From a courier thread: what its sessions have said since the last time, in that order. */
export type CourierNews = [session: number, word: SessionWord][];

export type SessionWord = CourierReport | CourierReceipt | CourierProgress | CourierGoodbye;

/** From the main thread. */
export type CourierOrder =
  | { kind: 'batch'; messageIds: string[] }
  /** No more mail for this session: close it. */
  | { kind: 'end' }
  /** Finish what is on the wire, which is the message that was announced behind it, too; give the others back. */
  | { kind: 'stop' }
  /** Nothing moves any more: cut off what is on the wire, give the others back. */
  | { kind: 'abort'; reason: string };

/** What happened to one message, before anybody judges it. */
export type CourierResult =
  | { kind: 'accepted'; peer: PeerFacts }
  | { kind: 'refused'; peer: PeerFacts }
  | { kind: 'lost'; peer: PeerFacts; afterDot: boolean }
  | { kind: 'unsupported'; peer: PeerFacts; need: 'smtputf8' | 'eightbit' | 'size' }
  /** `asked`: whether every host of the domain is known to have been called. */
  | { kind: 'no_connection'; peer: PeerFacts; asked?: 'all' | 'some' }
  /** No connection satisfies the TLS policy of this recipient's domain; others' mail can still go. */
  | { kind: 'insecure'; peer: PeerFacts }
  /** It could not be read or composed: nobody was called. */
  | { kind: 'unreadable'; reason: string };

/** From the courier. */
export type CourierReport =
  | { kind: 'result'; messageId: string; startedAt: number; result: CourierResult }
  | { kind: 'untried'; messageIds: string[] }
  /** A connection was opened: the server let it in. */
  | { kind: 'connected' }
  /** The batch is done; the connection is open for more. */
  | { kind: 'more' };

/** From a courier thread, apart from its sessions: what it has learnt of a host. */
export type HostNote = BrokenTlsNote | LostAnnouncementNote;

/** Clear text had to do where TLS was offered. */
export interface BrokenTlsNote {
  kind: 'tls_broken';
  host: string;
  reason: string;
}

/** The commands of a message that went out behind the one before had to be said again. */
export interface LostAnnouncementNote {
  kind: 'announcement_lost';
  host: string;
  reason: string;
}

/** Something moved on the wire since the last sign: the session is alive, however slow. */
export interface CourierProgress {
  kind: 'progress';
}

/** The next batch is in the courier's hand: from now on one of its messages may be on the wire. */
export interface CourierReceipt {
  kind: 'taken';
}

/** From the thread itself, while it has sessions: its event loop turns. */
export interface CourierHeartbeat {
  kind: 'alive';
}

/** The last word of a session. One that ends without it was in a thread that has died. */
export interface CourierGoodbye {
  kind: 'over';
}
