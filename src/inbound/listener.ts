// The inbound SMTP listener (RFC 5321, with STARTTLS, PIPELINING, SIZE, 8BITMIME, SMTPUTF8): takes
// mail for return paths and a few roles, and answers 250 when it is on disk. What becomes of it is
// not its business. No AUTH, no relaying, no answers by mail.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { listenFault } from '../base/system-words.ts';
import { readTlsPair, type TlsFiles, watchTlsPair } from '../http/tls-files.ts';
import type { StoreVerbs } from '../store/store.ts';
import { type Envelope, MailKeeper, type MailKeeperKit, NOT_STORED } from './mail-keeper.ts';
import { PeerGate, type PeerLimits } from './peer-gate.ts';
import { NO_ROOM, ReceptionRoom, receive, type SmtpReply } from './reception.ts';
import { type InboundRecipient, isBoundToMessage, type RecipientBook, recognise } from './recipients.ts';
import { limitOfMail, type SizeLimits, storeOf } from './size-limits.ts';
import { StrictSmtpServer } from './strict-server.ts';

export interface ListenerOptions extends MailKeeperKit {
  host: string;
  /** 0 for any free one. */
  port: number;
  /** What it calls itself. */
  name: string;
  /** Without: no STARTTLS. */
  tls?: TlsFiles;
  tlsCheckMs?: number;
  limits: PeerLimits & SizeLimits;
  timeouts?: { idleMs?: number; sessionMs?: number };
  recipients: RecipientBook;
  store: MailKeeperKit['store'] & StoreVerbs<{ inbound: 'findReported' }>;
  /** Why nothing is taken at the moment; null while mail is. */
  refusal(): string | null;
}

export interface InboundListener {
  port: number;
  /** Takes nothing new; what has come in whole is stored and answered. */
  close(): Promise<void>;
}

/** RFC 5321 section 4.5.3.2.7 asks for five minutes; bounces come from programs, which do not stop to think. */
const IDLE_MS = 2 * MINUTE_MS;
/** Nobody holds one of our connections for longer, busy or not. */
const SESSION_MS = 20 * MINUTE_MS;
const TLS_CHECK_MS = 10 * SECOND_MS;
const CLOSE_MS = SECOND_MS;
/** RFC 5321 section 4.5.3.1.4 says 512; addresses beyond ASCII and parameters need more. */
const MAX_COMMAND_CHARACTERS = 2048;
/** RFC 5321 section 4.5.3.1.8. */
const MAX_RECIPIENTS = 100;
/** All mails that are on their way in: large ones are rare, and none may crowd out the daemon. */
const MOST_OCTETS_IN_RECEPTION = 128 * 1024 * 1024;

const NOT_HERE: SmtpReply = { code: 550, text: '5.1.1 No such address; this server does not relay mail' };
const ONE_AT_A_TIME: SmtpReply = {
  code: 452,
  text: '4.5.3 One recipient per report: send to this recipient separately',
};

export async function startInboundListener(options: ListenerOptions): Promise<InboundListener> {
  const pair = options.tls && (await readTlsPair(options.tls));
  const hall = new Hall(options);
  const server = new StrictSmtpServer({ ...hall.serverOptions(), ...pair });
  hall.server = server;
  server.on('error', (error) => options.log.debug({ error }, `inbound listener: ${describeError(error)}`));
  await listen(server, options);
  const stopWatch =
    options.tls && pair
      ? watchTlsPair({
          files: options.tls,
          inUse: pair,
          checkMs: options.tlsCheckMs ?? TLS_CHECK_MS,
          apply: (renewed) => {
            server.updateSecureContext({ ...renewed });
            options.log.info({}, 'the certificate of the SMTP listener was renewed');
          },
          onFailure: (error) =>
            options.log.error({ error }, 'smtp.tls_cert and smtp.tls_key: the old pair stays in use'),
        })
      : () => {};
  return {
    port: (server.server.address() as AddressInfo).port,
    async close() {
      stopWatch();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await hall.settled();
    },
  };
}

async function listen(server: StrictSmtpServer, { host, port }: ListenerOptions): Promise<void> {
  try {
    server.server.listen(port, host);
    await once(server.server, 'listening');
  } catch (cause) {
    throw listenFault('smtp', { host, port }, cause);
  }
}

interface Visit {
  ip: string;
  tls: string | null;
  ending: NodeJS.Timeout;
}

/** What the sessions share. */
class Hall {
  server!: StrictSmtpServer;
  readonly #options: ListenerOptions;
  readonly #gate: PeerGate;
  readonly #room = new ReceptionRoom(MOST_OCTETS_IN_RECEPTION);
  /** By the id of their session; who was not welcome has none. */
  readonly #visits = new Map<string, Visit>();
  readonly #keeper: MailKeeper;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#gate = new PeerGate(options.clock, options.limits);
    this.#keeper = new MailKeeper(options);
  }

  serverOptions(): SMTPServerOptions {
    const { name, limits, timeouts, tls } = this.#options;
    return {
      name,
      banner: 'Postrider',
      size: limits.maxOctets,
      // The jokes of sendmail's youth are no commands of ours.
      disabledCommands: ['AUTH', 'WIZ', 'SHELL', 'KILL', ...(tls ? [] : ['STARTTLS'])],
      disableReverseLookup: true,
      logger: false,
      maxRecipients: MAX_RECIPIENTS,
      maxCommandLength: MAX_COMMAND_CHARACTERS,
      socketTimeout: timeouts?.idleMs ?? IDLE_MS,
      closeTimeout: CLOSE_MS,
      onConnect: (session, done) => done(this.#welcome(session)),
      onSecure: (socket, session, done) => done(this.#secured(socket as TLSSocket, session)),
      onMailFrom: (_, session, done) => done(this.#mayBegin(session)),
      onRcptTo: ({ address }, session, done) => void this.#recipient(address, session).then(done),
      onData: (stream, session, done) => void this.#data(stream, session).then(...answering(done)),
      onClose: (session) => this.#farewell(session),
    };
  }

  /** When all that has come in whole is stored. */
  settled(): Promise<void> {
    return this.#keeper.settled();
  }

  #welcome(session: SMTPServerSession): Error | null {
    const ip = session.remoteAddress;
    const verdict = this.#gate.enter(ip);
    if (verdict.decision === 'refuse') {
      this.#options.log.info({ remote_ip: ip, reason: verdict.reason }, 'inbound connection rejected');
      return toError({ code: 421, text: `4.7.0 ${verdict.reason}` });
    }
    const ending = setTimeout(() => this.#end(session), this.#options.timeouts?.sessionMs ?? SESSION_MS);
    this.#visits.set(session.id, { ip, tls: null, ending });
    return null;
  }

  #end(session: SMTPServerSession): void {
    const connection = this.server.connectionOf(session);
    connection?.send(421, '4.4.2 Session time limit reached; connect again');
  }

  #farewell(session: SMTPServerSession): void {
    const visit = this.#visits.get(session.id);
    if (!visit) return;
    clearTimeout(visit.ending);
    this.#visits.delete(session.id);
    this.#gate.leave(visit.ip);
  }

  #secured(socket: TLSSocket, session: SMTPServerSession): null {
    this.server.insistAgain(session);
    const visit = this.#visits.get(session.id);
    if (visit) visit.tls = socket.getProtocol();
    return null;
  }

  #mayBegin(session: SMTPServerSession): Error | null {
    const closed = this.#options.refusal();
    if (closed !== null || this.#room.isFull) return toError(NO_ROOM);
    const verdict = this.#gate.mail(session.remoteAddress);
    return verdict.decision === 'welcome' ? null : toError({ code: 450, text: `4.7.0 ${verdict.reason}` });
  }

  async #recipient(address: string, session: SMTPServerSession): Promise<Error | null> {
    const { recipients, log } = this.#options;
    const recipient = recognise(address, recipients);
    try {
      if (await this.#isOurs(recipient)) {
        const objection = this.#objectionTo(recipient, address, session);
        return objection && toError(objection);
      }
    } catch (error) {
      log.error({ error }, `a recipient could not be looked up: ${describeError(error)}`);
      return toError(NOT_STORED);
    }
    const verdict = this.#gate.refused(session.remoteAddress);
    return verdict.decision === 'welcome' ? toError(NOT_HERE) : toError({ code: 421, text: `4.7.0 ${verdict.reason}` });
  }

  #objectionTo(recipient: InboundRecipient, address: string, session: SMTPServerSession): SmtpReply | null {
    const { recipients, limits } = this.#options;
    const others = session.envelope.rcptTo
      .filter((other) => other.address.toLowerCase() !== address.toLowerCase())
      .map((other) => recognise(other.address, recipients));
    if (isBoundToMessage(recipient) && others.some(isBoundToMessage)) return ONE_AT_A_TIME;
    const { maxOctets, reply } = limitOfMail([...others, recipient], limits);
    return declaredOctets(session) > maxOctets ? reply : null;
  }

  /** A return path on another domain is ours when its tenant has that domain for its bounces. */
  async #isOurs(recipient: InboundRecipient): Promise<boolean> {
    if (recipient.kind !== 'return_path' || recipient.isOurDomain) return recipient.kind !== 'nobody';
    const message = await this.#options.store.inbound.findReported(recipient.messageId);
    return message?.bouncesDomain === recipient.domain;
  }

  /** The text behind 250, or a refusal. */
  #data(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string | Error> {
    const limit = limitOfMail(this.#recipientsOf(session), this.#options.limits);
    return this.#room.hold(async (take) => {
      const received = await receive(stream, { ...limit, maxReadOctets: this.#options.limits.maxOctets, take });
      if (received.kind === 'mail') {
        const { limits } = this.#options;
        const kept = { envelope: this.#envelopeOf(session), place: storeOf(this.#recipientsOf(session), limits) };
        const answer = await this.#keeper.keep(received.content, kept);
        return answer.code === 250 ? answer.text : toError(answer);
      }
      const { reply, hangUp } = received;
      await this.#keeper.noteRefused(received, this.#envelopeOf(session));
      if (!hangUp) return toError(reply);
      // The rest of it need not come in at all.
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
      tls: this.#visits.get(session.id)?.tls ?? null,
      mailFrom: envelope.mailFrom ? envelope.mailFrom.address : '',
      recipients: envelope.rcptTo.map(({ address }) => address),
    };
  }
}

/** RFC 1870: what MAIL announced; 0 when it did not. */
function declaredOctets({ envelope }: SMTPServerSession): number {
  const args: unknown = envelope.mailFrom ? envelope.mailFrom.args : {};
  return Number((args as { SIZE?: unknown }).SIZE) || 0;
}

type Done = (error?: Error | null, message?: string) => void;

/** A connection that broke off needs no answer; whatever else goes wrong is temporary. */
function answering(done: Done): [(answer: string | Error) => void, () => void] {
  return [
    (answer) => (typeof answer === 'string' ? done(null, answer) : done(answer)),
    () => done(toError(NOT_STORED)),
  ];
}

function toError({ code, text }: SmtpReply): Error {
  return Object.assign(new Error(text), { responseCode: code });
}
