// The sending side of an SMTP session (RFC 5321): opens it to one address of one MX, sends messages one after the
// other, closes it. One recipient per message; no AUTH, no CHUNKING. Every result has its stage and the server's reply.
import type { SecureContext } from 'node:tls';
import { type Clock, systemClock } from '../../base/clock.ts';
import { Fault } from '../../base/errors.ts';
import { NO_TLS_POLICY, type PeerFacts, type SmtpStage, type TlsFacts } from '../../base/outcome.ts';
import type { Capabilities } from './capabilities.ts';
import { type Dialler, dialForOctets } from './dial.ts';
import { assertSafe, type Envelope, findUnsupported, isSafe, type Unsupported } from './envelope.ts';
import { type Introduced, introduce, type TlsMode, type TlsTrouble } from './introduction.ts';
import type { Reply } from './reply.ts';
import { DEFAULT_TIMEOUTS, type SmtpTimeouts } from './timeouts.ts';
import { type MessagePieces, runTransaction, type Verdict } from './transaction.ts';
import type { Wire } from './wire.ts';

export interface SessionOptions {
  /** The MX name: for the facts, for SNI and for the certificate. */
  mx: string;
  ip: string;
  port: number;
  /** The source address. */
  localAddress?: string;
  /** Our EHLO name. */
  ehloName: string;
  tls: TlsMode;
  /** Created once and shared: creating one per session is slow. */
  secureContext?: SecureContext;
  timeouts?: Partial<SmtpTimeouts>;
  dial?: Dialler;
  clock?: Clock;
  signal?: AbortSignal;
  /** Called when a stage is over, of the introduction or of a message. */
  onStage?(stage: SmtpStage): void;
}

export type OpenResult =
  | { kind: 'open'; session: SmtpSession }
  | {
      kind: 'failed';
      peer: PeerFacts;
      /** Why TLS failed before clear text was tried. */
      tlsFailure: string | null;
      /** Why TLS failed, if there is no session because of that. */
      tlsTrouble: TlsTrouble | null;
    };

export interface OutgoingMessage {
  /** Empty for the null sender. */
  mailFrom: string;
  rcptTo: string;
  /** Lines end with CRLF. */
  message: Uint8Array;
  /** Follows the message, which then ends with a line break. */
  tail?: Uint8Array;
  /** Instead of a tail: what is read while it is sent. */
  pieces?: MessagePieces;
  needs: { smtputf8: boolean; eightBit: boolean };
  signal?: AbortSignal;
  /** Asked before the final dot. False: it is not sent, and the connection is closed. */
  mayEnd?: (() => boolean) | undefined;
}

/** Returns the next message, if it is known already. */
export type NextMessage = () => OutgoingMessage | null;

export type SendResult =
  | { kind: 'accepted'; peer: PeerFacts }
  /** A 4xx or 5xx reply at `peer.stage`. */
  | { kind: 'refused'; peer: PeerFacts }
  /** The session ended without a reply; `afterDot`: the server may have accepted the message. */
  | { kind: 'lost'; peer: PeerFacts; afterDot: boolean }
  /** This server can't accept this message; nothing was sent. */
  | { kind: 'unsupported'; peer: PeerFacts; need: Unsupported['need'] };

export async function openSession(options: SessionOptions): Promise<OpenResult> {
  const { clock = systemClock, dial = dialForOctets, signal } = options;
  if (!/^[A-Za-z0-9.:[\]_-]+$/.test(options.ehloName)) {
    throw new Fault('the EHLO name is not a host name', { permanence: 'permanent', detail: options.ehloName });
  }
  const startedAt = clock.now();
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const { localAddress, secureContext } = options;
  const onStage = options.onStage?.bind(options);
  const plan = { ...options, localAddress, secureContext, signal, dial, timeouts, onStage };

  let result = await introduce(plan);
  let tlsFailure: string | null = null;
  let tlsBroken = false;
  if (result.kind === 'failed' && result.tlsTrouble && options.tls === 'opportunistic' && !signal?.aborted) {
    // RFC 7435: opportunistic means that clear text is better than nothing. On a new connection, because the state of
    // the old one is unknown.
    tlsFailure = result.why;
    tlsBroken = result.tlsTrouble === 'broken';
    result = await introduce({ ...plan, tls: 'none' });
  }
  const connection = { mx: options.mx, remoteIp: options.ip, tls: result.tls, clock };
  if (result.kind === 'failed') {
    const peer = describe(connection, { startedAt, stage: result.stage, replyOrReason: result.reply ?? result.why });
    return { kind: 'failed', peer: withFailure(peer, tlsFailure), tlsFailure, tlsTrouble: result.tlsTrouble };
  }
  return {
    kind: 'open',
    session: new SmtpSession(result, { connection, timeouts, tlsFailure, tlsBroken, onStage }),
  };
}

/** One message at a time. Created by `openSession`. */
export class SmtpSession {
  readonly capabilities: Capabilities;
  readonly tls: TlsFacts | null;
  /** Why the certificate is not valid for the MX name; null when it is, or without TLS. */
  readonly tlsUnverified: string | null;
  /** Why this session is in clear text although the server offers TLS. */
  readonly tlsFailure: string | null;
  /** Whether the handshake failed or stalled while clear text then worked. */
  readonly tlsBroken: boolean;
  readonly #wire: Wire;
  readonly #connection: Connection;
  readonly #timeouts: SmtpTimeouts;
  readonly #onStage: SessionContext['onStage'];
  #busy = false;
  #closing = false;
  /** After a rejection the server may still have an open transaction. */
  #needsReset = false;
  /** The commands of this message were pipelined after the previous one: no other message can be sent now. */
  #announced: OutgoingMessage | null = null;

  constructor(introduced: Introduced, context: SessionContext) {
    this.capabilities = introduced.capabilities;
    this.tls = introduced.tls;
    this.tlsUnverified = introduced.tlsUnverified;
    this.tlsFailure = context.tlsFailure;
    this.tlsBroken = context.tlsBroken;
    this.#wire = introduced.wire;
    this.#connection = context.connection;
    this.#timeouts = context.timeouts;
    this.#onStage = context.onStage;
  }

  /** Whether another message may be sent: false as soon as the server left or sent an unsolicited reply. */
  get usable(): boolean {
    return !this.#busy && !this.#closing && !this.#announced && this.#wire.quiet;
  }

  /** Whether a message was announced and can still be sent. */
  get hasAnnounced(): boolean {
    return this.#announced !== null && this.#wire.loss === null;
  }

  /** Whether this message was announced: the server waits for it, and for no other. */
  awaits(outgoing: OutgoingMessage): boolean {
    return this.#announced === outgoing;
  }

  /**
   * Rejects only for a caller's mistake, or when a piece of the message is missing; everything that the server does is a
   * result. The message from `next` is
   * announced after this one, if the server supports it, and must be sent next.
   */
  async send(outgoing: OutgoingMessage, next: NextMessage = () => null): Promise<SendResult> {
    const { message, tail, pieces, signal, mayEnd } = outgoing;
    const envelope = envelopeOf(outgoing);
    assertSafe(envelope);
    if (this.#busy) throw new Fault('the session is busy with another message');
    const startedAt = this.#connection.clock.now();

    const unsupported = findUnsupported(envelope, this.capabilities);
    if (unsupported) {
      const { need, why } = unsupported;
      return { kind: 'unsupported', need, peer: this.#describe({ startedAt, stage: 'mail', replyOrReason: why }) };
    }
    const announced = this.awaits(outgoing);
    if (!announced && !this.usable) return await this.#reportLoss(startedAt);

    this.#busy = true;
    this.#announced = null;
    const leave = this.#wire.loseOn(signal);
    const transaction = {
      envelope,
      message,
      ...(tail && { tail }),
      ...(pieces && { pieces }),
      announced,
      capabilities: this.capabilities,
      timeouts: this.#timeouts,
      // An announced message follows a final dot, whatever its reply: no transaction is open then.
      reset: this.#needsReset && !announced,
      following: () => this.#announce(next()),
      onStage: this.#onStage,
      mayEnd,
    };
    const verdict = await runTransaction(this.#wire, transaction).finally(() => {
      leave();
      this.#busy = false;
    });
    this.#needsReset = verdict.kind === 'refused';
    return this.#report(verdict, startedAt);
  }

  #announce(next: OutgoingMessage | null): Envelope | null {
    const envelope = next && envelopeOf(next);
    if (!envelope || !isSafe(envelope) || findUnsupported(envelope, this.capabilities)) return null;
    this.#announced = next;
    return envelope;
  }

  /** Sends QUIT and waits briefly for the reply. During a message, or before an announced one, it is `destroy`. */
  async close(): Promise<void> {
    const polite = this.usable;
    this.#closing = true;
    if (polite) {
      this.#wire.write('QUIT\r\n');
      await this.#wire.readReply(this.#timeouts.quitMs);
    }
    this.#wire.lose('closed');
  }

  /** Closes at once, even during a command; a running `send` then reports a loss. */
  destroy(): void {
    this.#wire.lose('session destroyed');
  }

  /** What was received or happened while the session was idle, such as 421 (RFC 5321 section 3.8). */
  async #reportLoss(startedAt: number): Promise<SendResult> {
    const unread = this.#wire.hasUnreadReply || this.#wire.loss;
    const received = unread ? await this.#wire.readReply(this.#timeouts.quitMs) : { lost: 'session closed' };
    this.#wire.lose('the server spoke unasked');
    const replyOrReason = 'lost' in received ? received.lost : received;
    return { kind: 'lost', afterDot: false, peer: this.#describe({ startedAt, stage: 'mail', replyOrReason }) };
  }

  #report(verdict: Verdict, startedAt: number): SendResult {
    const { kind, stage } = verdict;
    if (kind !== 'lost') return { kind, peer: this.#describe({ startedAt, stage, replyOrReason: verdict.reply }) };
    const replyOrReason = verdict.reply ?? verdict.why;
    return { kind, afterDot: verdict.afterDot, peer: this.#describe({ startedAt, stage, replyOrReason }) };
  }

  #describe(moment: Moment): PeerFacts {
    return withFailure(describe(this.#connection, moment), this.tlsFailure);
  }
}

function envelopeOf({ mailFrom, rcptTo, message, tail, pieces, needs }: OutgoingMessage): Envelope {
  const following = (tail?.byteLength ?? 0) + (pieces?.sizeBytes ?? 0);
  return { mailFrom, rcptTo, sizeBytes: message.byteLength + following, ...needs };
}

interface Connection {
  mx: string;
  remoteIp: string;
  tls: TlsFacts | null;
  clock: Clock;
}

interface SessionContext {
  connection: Connection;
  timeouts: SmtpTimeouts;
  tlsFailure: string | null;
  tlsBroken: boolean;
  onStage: ((stage: SmtpStage) => void) | undefined;
}

interface Moment {
  startedAt: number;
  stage: SmtpStage;
  /** The server's reply, or our own words. */
  replyOrReason: Reply | string;
}

function describe({ mx, remoteIp, tls, clock }: Connection, { startedAt, stage, replyOrReason }: Moment): PeerFacts {
  const reply = typeof replyOrReason === 'string' ? null : replyOrReason;
  return {
    mx,
    remoteIp,
    stage,
    smtpCode: reply?.code ?? null,
    enhancedCode: reply?.enhancedCode ?? null,
    response: reply?.text ?? (replyOrReason as string).slice(0, 1_000),
    tls,
    tlsPolicy: NO_TLS_POLICY,
    elapsedMs: Math.max(0, clock.now() - startedAt),
  };
}

/** Policies are not known here: the caller that applies one adds it. */
function withFailure(peer: PeerFacts, failure: string | null): PeerFacts {
  return failure === null ? peer : { ...peer, tlsPolicy: { mode: 'none', failure } };
}
