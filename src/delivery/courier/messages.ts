// The messages between the main thread and courier threads. Plain data only: they are cloned on the
// way.
import type { MessagePort } from 'node:worker_threads';
import type { PeerFacts, StageMark } from '../../base/outcome.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { TlsMode } from '../../protocol/smtp/introduction.ts';
import type { StoreAddress } from '../../store/address.ts';
import type { MessageContent } from '../../store/submissions.ts';

/** What a courier thread gets at its start. */
export interface CourierSettings {
  store: StoreAddress;
  masterKeys: Buffer[];
  /** For return paths and feedback ids. */
  tokenKey: { id: string; key: Buffer };
  bouncesDomain: string;
  /** For the links that tracking and unsubscribing put into mail, under this origin. */
  links: { url: string; key: { id: string; key: Buffer } };
  /** The service's own second signature. */
  serviceSigner: { domain: string; selector: string; privateKeyDer: Buffer };
  ehloName: string;
  smtpPort: number;
  tls: TlsMode;
  /** Whether MTA-STS policies of recipients' domains are followed. */
  mtaSts: boolean;
  /** Trusted root certificates for receiving servers, in PEM; missing: Node's own. */
  trustedRoots?: string;
  timeoutFactor: number;
  /** Whether results come with the times of their stages, for traces. */
  tellsStages: boolean;
  /** Of `LeaseEnd`: once it is over, no message is completed. Missing: it never is. */
  leaseEnd?: SharedArrayBuffer;
  /** How often sessions report progress; a fraction of the silence after which one is stuck. */
  heartbeatMs: number;
}

/** One of our own addresses to send from, and its EHLO name. */
export interface SessionSource {
  ip: string;
  ehloName: string;
}

/** Addresses that are not tried, because others of the same receiver can be. */
export interface Skipped {
  ips: string[];
  reason: string;
}

/** One session: where to connect, in this order, and from where; without a source the system picks it. */
export interface SessionPlan {
  hosts: MailHost[];
  source: SessionSource | null;
  skipped: Skipped | null;
}

/** With the port for the orders and reports of its sessions. */
export interface CourierWorkerData extends CourierSettings {
  port: MessagePort;
}

/** To a courier thread: a new session, or an order to one. The main thread numbers them. */
export type CourierRequest = { session: number; plan: SessionPlan } | { session: number; order: CourierOrder };

/** From a courier thread: its sessions' messages since the last time, in order. */
export type SessionMessages = [session: number, message: SessionMessage][];

export type SessionMessage = CourierReport | CourierReceipt | CourierProgress | SessionOver;

/** Messages to send, in this order. */
export interface Batch {
  messageIds: string[];
  /** Of the first of them, where they were handed over: these are not read. */
  contents?: MessageContent[];
}

/** From the main thread. */
export type CourierOrder =
  | ({ kind: 'batch' } & Batch)
  /** Give these back, unless one of their commands has been sent. */
  | { kind: 'withdraw'; messageIds: string[] }
  /** No more mail for this session: close it. */
  | { kind: 'end' }
  /** Finish what is on the wire, including the message announced after it; give the others back. */
  | { kind: 'stop' }
  /** The session is stuck: cut off what is on the wire, give the others back. */
  | { kind: 'abort'; reason: string };

/** What happened to one message, before it is judged. */
export type CourierResult =
  | { kind: 'accepted'; peer: PeerFacts }
  | { kind: 'refused'; peer: PeerFacts }
  | { kind: 'lost'; peer: PeerFacts; afterDot: boolean }
  | { kind: 'unsupported'; peer: PeerFacts; need: 'smtputf8' | 'eightbit' | 'size' }
  /** `asked`: whether every host of the domain was tried. */
  | { kind: 'no_connection'; peer: PeerFacts; asked?: 'all' | 'some' }
  /** No connection satisfies the TLS policy of this recipient's domain; mail to other domains can still be sent. */
  | { kind: 'insecure'; peer: PeerFacts }
  /** It could not be read or composed, so no connection was made. */
  | { kind: 'unreadable'; reason: string };

/** From the courier. */
export type CourierReport =
  | { kind: 'result'; messageId: string; startedAt: number; result: CourierResult; stages?: StageMark[] }
  /** `reason`: why they cannot be read now; missing: nobody has looked. */
  | { kind: 'untried'; messageIds: string[]; reason?: string }
  /** The answer to an order to give back, in the order of those orders: what is given back. */
  | { kind: 'withdrawn'; messageIds: string[] }
  /** The server accepted a connection. */
  | { kind: 'connected' }
  /** The batch is done; the connection is open for more. */
  | { kind: 'more' };

/** From a courier thread, not about one session: a fact about a host. */
export type HostNote = BrokenTlsNote | LostAnnouncementNote;

/** TLS was offered but failed, so clear text was used. */
export interface BrokenTlsNote {
  kind: 'tls_broken';
  host: string;
  reason: string;
}

/** Commands that were pipelined after the message before had to be sent again. */
export interface LostAnnouncementNote {
  kind: 'announcement_lost';
  host: string;
  reason: string;
}

/** Bytes were sent or received since the last sign: the session is alive, however slow. */
export interface CourierProgress {
  kind: 'progress';
}

/** The session has taken the next batch: from now on one of its messages may be on the wire. */
export interface CourierReceipt {
  kind: 'taken';
}

/** From the thread itself, while it has sessions: its event loop is running. */
export interface CourierHeartbeat {
  kind: 'alive';
}

/** The last message of a session. A session that ends without it was in a thread that died. */
export interface SessionOver {
  kind: 'over';
}
