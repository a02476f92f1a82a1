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
  /** The service's own second signature. */
  serviceSigner: { domain: string; selector: string; privateKeyDer: Buffer };
  ehloName: string;
  smtpPort: number;
  tls: TlsMode;
  timeoutFactor: number;
}

/** One session: where to connect, in this order. */
export interface SessionPlan {
  hosts: MailHost[];
}

/** What starts a session in a courier thread; all else goes through the port. */
export interface CourierTaskMessage {
  port: MessagePort;
  plan: SessionPlan;
}

/** From the main thread. */
export type CourierOrder =
  | { kind: 'batch'; messageIds: string[] }
  /** No more mail for this session: close it. */
  | { kind: 'end' }
  /** Finish the message on the wire, give the others back. */
  | { kind: 'stop' };

/** What happened to one message, before anybody judges it. */
export type CourierResult =
  | { kind: 'accepted'; peer: PeerFacts }
  | { kind: 'refused'; peer: PeerFacts }
  | { kind: 'lost'; peer: PeerFacts; afterDot: boolean }
  | { kind: 'unsupported'; peer: PeerFacts; need: 'smtputf8' | 'eightbit' | 'size' }
  | { kind: 'no_connection'; peer: PeerFacts }
  /** It could not be read or composed: nobody was called. */
  | { kind: 'unreadable'; reason: string };

/** From the courier. */
export type CourierReport =
  | { kind: 'result'; messageId: string; startedAt: number; result: CourierResult; tlsFailure: string | null }
  | { kind: 'untried'; messageIds: string[] }
  /** The batch is done; the connection is open for more. */
  | { kind: 'more' };

/** The last word of a session. A port that closes without it belongs to a thread that is dying. */
export interface CourierGoodbye {
  kind: 'over';
}
