// The inbound SMTP listener (RFC 5321, with STARTTLS, PIPELINING, SIZE, 8BITMIME, SMTPUTF8): accepts
// mail for return paths and a few roles, and answers 250 once it is on disk; processing is separate.
// No AUTH, no relaying, no replies by mail.

import type { TLSSocket } from 'node:tls';
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { sourceOf, type TlsFiles, type TlsSource } from '../http/tls-files.ts';
import { logPeerErrors, openPort, renewCertificate } from '../smtp-listener/open-port.ts';
import { OpenSessions, SHUTTING_DOWN } from '../smtp-listener/open-sessions.ts';
import { PeerGate, type PeerLimits } from '../smtp-listener/peer-gate.ts';
import { ReceptionMemory } from '../smtp-listener/reception-memory.ts';
import { answering, type SmtpReply, toError } from '../smtp-listener/smtp-reply.ts';
import { StrictSmtpServer } from '../smtp-listener/strict-server.ts';
import type { StoreVerbs } from '../store/store.ts';
import { type Envelope, MailKeeper, type MailKeeperKit, NOT_STORED } from './mail-keeper.ts';
import { NO_ROOM, receive } from './reception.ts';
import { type InboundRecipient, isBoundToMessage, type RecipientBook, recognise } from './recipients.ts';
import { limitOfMail, mostAnnounced, quotaOf, type SizeLimits } from './size-limits.ts';

export interface ListenerOptions extends MailKeeperKit {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Its name in the greeting. */
  name: string;
  /** Missing: no STARTTLS. */
  tls?: TlsFiles | TlsSource;
  tlsCheckMs?: number;
  limits: PeerLimits & SizeLimits;
  timeouts?: { idleMs?: number; sessionMs?: number; dataMs?: number; closeMs?: number };
  /** How long mail may take to be stored when the listener closes. */
  graceMs: number;
  recipients: RecipientBook;
  store: MailKeeperKit['store'] & StoreVerbs<{ inbound: 'findReported' }>;
  /** Why no mail is accepted at the moment; null: it is accepted. */
  refusal(): string | null;
  /** Whether so much mail that belongs to no message waits that reports would wait for it. */
  isBehind(): boolean;
}

export interface InboundListener {
  port: number;
  /** Accepts nothing new; mail received in full is stored and answered. */
  close(): Promise<void>;
}

/** RFC 5321 section 4.5.3.2.7 asks for five minutes; bounces come from programs, which don't pause to think. */
const IDLE_MS = 2 * MINUTE_MS;
/** No connection stays open for longer, busy or idle. */
const SESSION_MS = 20 * MINUTE_MS;
/** When the daemon stops: for mail that is still arriving. */
const CLOSE_MS = SECOND_MS;
/** RFC 5321 section 4.5.3.1.4 says 512; addresses beyond ASCII and parameters need more. */
const MAX_COMMAND_CHARACTERS = 2048;
/** RFC 5321 section 4.5.3.1.8. */
const MAX_RECIPIENTS = 100;
/** All mails being received: large ones are rare, and must not exhaust the daemon's memory. */
const MAX_BYTES_IN_RECEPTION = 128 * 1024 * 1024;
/** For one network: a peer that keeps its mails open must not keep others out. */
const MAX_BYTES_PER_NETWORK = MAX_BYTES_IN_RECEPTION / 4;
/** For the content of one mail, however steadily it arrives: the memory that it holds is needed for others. */
const DATA_MS = 10 * MINUTE_MS;

const NOT_HERE: SmtpReply = { code: 550, text: '5.1.1 No such address; this server does not relay mail' };
const UNSUBSCRIBE_EXPIRED: SmtpReply = {
  code: 550,
  text: '5.1.1 This unsubscribe address has expired: its message is no longer stored. To unsubscribe, open the https link in the List-Unsubscribe field of the same mail',
};
const ONE_AT_A_TIME: SmtpReply = {
  code: 452,
  text: '4.5.3 One recipient per report: send to this recipient separately',
};

export async function startInboundListener(options: ListenerOptions): Promise<InboundListener> {
  const source = options.tls && sourceOf(options.tls);
  const pair = await source?.read();
  const sessions = new Sessions(options);
  const server = new StrictSmtpServer({ ...sessions.serverOptions(), ...pair });
  sessions.server = server;
  logPeerErrors(server, options.log, 'inbound listener');
  const { host } = options;
  const port = await openPort(server, { section: 'smtp', host, port: options.port });
  const stopWatch =
    source && pair
      ? renewCertificate([server], {
          source,
          inUse: pair,
          checkMs: options.tlsCheckMs,
          log: options.log,
          words: {
            renewed: 'the certificate of the SMTP listener was renewed',
            failed: 'smtp.tls_cert and smtp.tls_key: the old pair stays in use',
          },
        })
      : () => {};
  return {
    port,
    async close() {
      stopWatch();
      await sessions.close();
    },
  };
}

interface PeerSession {
  ip: string;
  tls: string | null;
}

/** What all sessions share. */
class Sessions {
  server!: StrictSmtpServer;
  readonly #options: ListenerOptions;
  readonly #gate: PeerGate;
  readonly #memory: ReceptionMemory;
  readonly #open: OpenSessions<PeerSession>;
  readonly #keeper: MailKeeper;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#gate = new PeerGate(options.clock, options.limits);
    this.#keeper = new MailKeeper(options);
    const { timeouts, graceMs, limits } = options;
    this.#memory = new ReceptionMemory(MAX_BYTES_IN_RECEPTION, Math.max(MAX_BYTES_PER_NETWORK, limits.maxBytes));
    this.#open = new OpenSessions({
      sessionMs: timeouts?.sessionMs ?? SESSION_MS,
      dataMs: timeouts?.dataMs ?? DATA_MS,
      closeMs: timeouts?.closeMs ?? CLOSE_MS,
      graceMs,
    });
  }

  serverOptions(): SMTPServerOptions {
    const { name, limits, timeouts, tls } = this.#options;
    return {
      name,
      banner: 'Postrider',
      // Not `maxBytes`: a server drops its report when it is larger than what is announced here.
      size: limits.maxReadBytes,
      // WIZ, SHELL and KILL are jokes that smtp-server implements.
      disabledCommands: ['AUTH', 'WIZ', 'SHELL', 'KILL', ...(tls ? [] : ['STARTTLS'])],
      disableReverseLookup: true,
      logger: false,
      maxRecipients: MAX_RECIPIENTS,
      maxCommandLength: MAX_COMMAND_CHARACTERS,
      socketTimeout: timeouts?.idleMs ?? IDLE_MS,
      closeTimeout: timeouts?.closeMs ?? CLOSE_MS,
      onConnect: (session, done) => done(this.#onConnect(session)),
      onSecure: (socket, session, done) => done(this.#onSecure(socket as TLSSocket, session)),
      onMailFrom: (_, session, done) => done(this.#onMailFrom(session)),
      onRcptTo: ({ address }, session, done) => void this.#onRecipient(address, session).then(done),
      onData: (stream, session, done) => {
        const answered = this.#onData(stream, session).then(...answering(done, NOT_STORED));
        this.#open.receive(session, stream, answered);
      },
      onClose: (session) => this.#onClose(session),
    };
  }

  /** Ends the sessions; mail whose final dot has come is stored and answered before. */
  close(): Promise<void> {
    return this.#open.close([this.server]);
  }

  #onConnect(session: SMTPServerSession): Error | null {
    const ip = session.remoteAddress;
    if (this.#open.isClosing) return toError(SHUTTING_DOWN);
    const verdict = this.#gate.enter(ip);
    if (verdict.decision === 'refuse') {
      this.#options.log.info({ remote_ip: ip, reason: verdict.reason }, 'inbound connection rejected');
      return toError({ code: 421, text: `4.7.0 ${verdict.reason}` });
    }
    this.#open.enter(session, this.server, { ip, tls: null });
    return null;
  }

  #onClose(session: SMTPServerSession): void {
    const opened = this.#open.leave(session);
    if (opened) this.#gate.leave(opened.ip);
  }

  #onSecure(socket: TLSSocket, session: SMTPServerSession): null {
    this.server.enforceCrlfAgain(session);
    const opened = this.#open.get(session);
    if (opened) opened.tls = socket.getProtocol();
    return null;
  }

  #onMailFrom(session: SMTPServerSession): Error | null {
    const closed = this.#options.refusal();
    if (closed !== null || this.#memory.isFull(session.remoteAddress)) return toError(NO_ROOM);
    const verdict = this.#gate.mail(session.remoteAddress);
    return verdict.decision === 'allow' ? null : toError({ code: 450, text: `4.7.0 ${verdict.reason}` });
  }

  async #onRecipient(address: string, session: SMTPServerSession): Promise<Error | null> {
    const { recipients, log } = this.#options;
    const recipient = recognise(address, recipients);
    try {
      if (await this.#isOurs(recipient)) {
        const expired = (await this.#isExpired(recipient)) ? UNSUBSCRIBE_EXPIRED : null;
        const objection = expired ?? this.#objectionTo(recipient, address, session);
        return objection && toError(objection);
      }
    } catch (error) {
      log.error({ error }, `a recipient could not be looked up: ${describeError(error)}`);
      return toError(NOT_STORED);
    }
    const verdict = this.#gate.refused(session.remoteAddress);
    return verdict.decision === 'allow' ? toError(NOT_HERE) : toError({ code: 421, text: `4.7.0 ${verdict.reason}` });
  }

  #objectionTo(recipient: InboundRecipient, address: string, session: SMTPServerSession): SmtpReply | null {
    const { recipients, limits } = this.#options;
    const others = session.envelope.rcptTo
      .filter((other) => other.address.toLowerCase() !== address.toLowerCase())
      .map((other) => recognise(other.address, recipients));
    if (isBoundToMessage(recipient) && others.some(isBoundToMessage)) return ONE_AT_A_TIME;
    if (![...others, recipient].some(isBoundToMessage) && this.#options.isBehind()) return NO_ROOM;
    const limit = limitOfMail([...others, recipient], limits);
    return declaredBytes(session) > mostAnnounced(limit) ? limit.reply : null;
  }

  /** A return path at another domain is ours if it is the bounce domain of the message's tenant. */
  async #isOurs(recipient: InboundRecipient): Promise<boolean> {
    if (recipient.kind !== 'return_path' || recipient.isOurDomain) return recipient.kind !== 'unknown';
    const message = await this.#options.store.inbound.findReported(recipient.messageId);
    return message?.bouncesDomain === recipient.domain;
  }

  /** Only the stored message tells who unsubscribes. */
  async #isExpired(recipient: InboundRecipient): Promise<boolean> {
    if (recipient.kind !== 'unsubscribe') return false;
    return (await this.#options.store.inbound.findReported(recipient.messageId)) === null;
  }

  /** The text after 250, or a refusal. */
  #onData(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string | Error> {
    const { limits } = this.#options;
    const recipients = this.#recipientsOf(session);
    return this.#memory.hold(session.remoteAddress, async (take) => {
      const received = await receive(stream, { ...limitOfMail(recipients, limits), take });
      if (received.kind === 'mail') {
        const kept = { envelope: this.#envelopeOf(session), place: quotaOf(recipients, limits) };
        const answer = await this.#keeper.keep(received, kept);
        return answer.code === 250 ? answer.text : toError(answer);
      }
      const { reply, hangUp } = received;
      await this.#keeper.noteRefused(received, this.#envelopeOf(session));
      if (!hangUp) return toError(reply);
      // Disconnect: the rest of the mail need not be received.
      const connection = this.server.connectionOf(session);
      connection?.send(reply.code, reply.text);
      connection?.close();
      return toError(reply);
    });
  }

  #recipientsOf(session: SMTPServerSession): InboundRecipient[] {
    return session.envelope.rcptTo.map(({ address }) => recognise(address, this.#options.recipients));
  }

  #envelopeOf(session: SMTPServerSession): Envelope {
    const { envelope, remoteAddress, hostNameAppearsAs } = session;
    return {
      remoteIp: remoteAddress,
      ehloName: hostNameAppearsAs || '',
      tls: this.#open.get(session)?.tls ?? null,
      mailFrom: envelope.mailFrom ? envelope.mailFrom.address : '',
      recipients: envelope.rcptTo.map(({ address }) => address),
    };
  }
}

/** RFC 1870: the size declared in MAIL; 0 if none was. */
function declaredBytes({ envelope }: SMTPServerSession): number {
  const args: unknown = envelope.mailFrom ? envelope.mailFrom.args : {};
  return Number((args as { SIZE?: unknown }).SIZE) || 0;
}
