// The sessions of the SMTP door, over both of its ports: what each command is answered. When a session ends is decided in
// smtp-listener/open-sessions.ts.

import type { TLSSocket } from 'node:tls';
import type { SMTPServerAuthentication, SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import { OpenSessions, SHUTTING_DOWN } from '../../smtp-listener/open-sessions.ts';
import { PeerGate } from '../../smtp-listener/peer-gate.ts';
import { ReceptionMemory } from '../../smtp-listener/reception-memory.ts';
import { answering, type SmtpReply, toError } from '../../smtp-listener/smtp-reply.ts';
import type { StrictSmtpServer } from '../../smtp-listener/strict-server.ts';
import type { DoorRecipient, TakeMail } from './arriving-mail.ts';
import { type CountAtDoor, mailOutcome, recipientOutcome } from './door-counts.ts';
import * as fixed from './door-limits.ts';
import type { DoorServer } from './door-server.ts';
import { refusing, signedIn } from './handler-answers.ts';
import { Handshakes } from './handshakes.ts';
import { isRefused, type KeyLoginOptions, KeyLogins, type Login, type LoginRefusal } from './key-logins.ts';
import { MailContent, NO_ROOM } from './mail-content.ts';
import { type RecipientOptions, readRecipient } from './read-recipient.ts';
import * as replies from './replies.ts';

export interface DoorSessionOptions extends Omit<KeyLoginOptions, 'store' | 'connectionsPerKey'> {
  /** Its name in the greeting. */
  name: string;
  store: KeyLoginOptions['store'] & RecipientOptions['store'];
  limits: { maxBytes: number; connections: number; connectionsPerPeer: number; connectionsPerKey: number };
  timeouts?: { idleMs?: number; sessionMs?: number; closeMs?: number; handshakeMs?: number };
  /** How long mail may take to be stored when the listener closes. */
  graceMs: number;
  /** Why no mail is accepted at the moment; null: it is accepted. */
  refusal(): string | null;
  staysUsable?: RecipientOptions['staysUsable'];
  takeMail: TakeMail;
  count?: CountAtDoor;
  clock: Clock;
  log: Logger;
}

interface DoorSession {
  server: StrictSmtpServer;
  ip: string;
  tls: string | null;
  login: Login | null;
  /** Of the current mail, by key. */
  recipients: Map<string, DoorRecipient>;
}

export class DoorSessions {
  readonly #options: DoorSessionOptions;
  readonly #gate: PeerGate;
  readonly #handshakes: Handshakes;
  readonly #logins: KeyLogins;
  readonly #memory: ReceptionMemory;
  readonly #open: OpenSessions<DoorSession>;
  readonly #count: CountAtDoor;

  constructor(options: DoorSessionOptions) {
    const { clock, limits, store, takeCall, keyUsed, timeouts, graceMs } = options;
    this.#options = options;
    this.#open = new OpenSessions({
      sessionMs: timeouts?.sessionMs ?? fixed.SESSION_MS,
      closeMs: timeouts?.closeMs ?? fixed.CLOSE_MS,
      graceMs,
    });
    this.#count = options.count ?? (() => {});
    this.#memory = new ReceptionMemory(fixed.MAX_MAILS_ARRIVING * limits.maxBytes);
    const { connectionsPerKey } = limits;
    this.#logins = new KeyLogins({ store, clock, connectionsPerKey, takeCall, keyUsed });
    this.#handshakes = new Handshakes(
      { perPeer: limits.connectionsPerPeer, withinMs: timeouts?.handshakeMs ?? fixed.HANDSHAKE_MS },
      (ip) => this.#refuseHandshake(ip),
    );
    this.#gate = new PeerGate(clock, {
      connections: limits.connections,
      connectionsPerPeer: limits.connectionsPerPeer,
      connectionsPerMinute: fixed.CONNECTIONS_PER_MINUTE,
      // Keys have rates of their own, and recipients are refused to those with a key only.
      mailsPerMinute: Number.POSITIVE_INFINITY,
      refusalsPerMinute: Number.POSITIVE_INFINITY,
    });
  }

  #refuseHandshake(ip: string): void {
    this.#count('connection', 'refused');
    const reason = 'too many connections from your address wait for their TLS handshake';
    this.#options.log.info({ remote_ip: ip, reason }, 'submission connection rejected');
  }

  get openConnections(): number {
    return this.#open.size;
  }

  /** On the port where each connection begins with TLS. */
  limitHandshakes(server: DoorServer): void {
    this.#handshakes.watch(server);
  }

  /** `server` is the one that gets these options. */
  serverOptions(
    server: () => StrictSmtpServer,
    { hasTls, secure }: { hasTls: boolean; secure: boolean },
  ): SMTPServerOptions {
    const { name, limits, timeouts } = this.#options;
    return {
      name,
      banner: 'Postrider',
      size: limits.maxBytes,
      authMethods: ['PLAIN', 'LOGIN'],
      authRequiredMessage: replies.authRequired(hasTls && !secure),
      // Whether AUTH is safe without TLS is decided for each connection (door-server.ts).
      allowInsecureAuth: true,
      hideENHANCEDSTATUSCODES: false,
      // WIZ, SHELL and KILL are jokes that smtp-server implements.
      disabledCommands: ['WIZ', 'SHELL', 'KILL', ...(hasTls ? [] : ['STARTTLS'])],
      disableReverseLookup: true,
      logger: false,
      // Only for what does not get as far as our own limit, which gives the reason.
      maxClients: 2 * limits.connections,
      maxCommandLength: fixed.MAX_COMMAND_CHARACTERS,
      socketTimeout: timeouts?.idleMs ?? fixed.IDLE_MS,
      closeTimeout: timeouts?.closeMs ?? fixed.CLOSE_MS,
      onConnect: (session, done) => done(this.#onConnect(session, server())),
      onSecure: (socket, session, done) => done(this.#onSecure(socket as TLSSocket, session)),
      onAuth: (auth, session, done) =>
        void this.#onAuth(auth, session).then(signedIn(done), () => done(toError(replies.NO_LOGIN))),
      onMailFrom: (_, session, done) =>
        void this.#onMailFrom(session).then(
          ...refusing(done, (refusal) => refusal && this.#count('mail', mailOutcome(refusal))),
        ),
      onRcptTo: ({ address }, session, done) =>
        void this.#onRecipient(address, session).then(
          ...refusing(done, (refusal) => this.#count('recipient', recipientOutcome(refusal))),
        ),
      onData: (stream, session, done) => {
        const answered = this.#onData(stream, session).then(...answering(done, replies.NOT_STORED));
        this.#open.receive(session, stream, answered);
      },
      onClose: (session) => this.#onClose(session),
    };
  }

  /** Ends the sessions of these servers; mail whose final dot has come is stored and answered before. */
  close(servers: readonly StrictSmtpServer[]): Promise<void> {
    return this.#open.close(servers);
  }

  #onConnect(session: SMTPServerSession, server: StrictSmtpServer): Error | null {
    const ip = session.remoteAddress;
    if (this.#open.isClosing) return toError(SHUTTING_DOWN);
    const verdict = this.#gate.enter(ip);
    this.#count('connection', verdict.decision === 'allow' ? 'accepted' : 'refused');
    if (verdict.decision === 'refuse') {
      this.#options.log.info({ remote_ip: ip, reason: verdict.reason }, 'submission connection rejected');
      return toError({ code: 421, text: `4.7.0 ${verdict.reason}` });
    }
    this.#open.enter(session, server, { server, ip, tls: null, login: null, recipients: new Map() });
    return null;
  }

  #onClose(session: SMTPServerSession): void {
    const opened = this.#open.leave(session);
    if (!opened) return;
    this.#signOut(opened);
    this.#gate.leave(opened.ip);
  }

  /** RFC 3207 section 4.2: what was said before TLS does not count. */
  #onSecure(socket: TLSSocket, session: SMTPServerSession): null {
    const opened = this.#open.get(session);
    if (!opened) return null;
    opened.server.enforceCrlfAgain(session);
    opened.tls = socket.getProtocol();
    this.#signOut(opened);
    return null;
  }

  #signOut(opened: DoorSession): void {
    if (opened.login) this.#logins.leave(opened.login);
    opened.login = null;
  }

  async #onAuth({ password }: SMTPServerAuthentication, session: SMTPServerSession): Promise<LoginRefusal | string> {
    const { log } = this.#options;
    const ip = session.remoteAddress;
    const login = await this.#logins.enter(password ?? '', ip).catch((error: unknown) => {
      log.error({ error }, `an API key could not be checked: ${describeError(error)}`);
      return replies.NO_LOGIN;
    });
    this.#count('login', isRefused(login) ? login.why : 'accepted');
    if (isRefused(login)) {
      log.info({ remote_ip: ip, reply: `${login.code} ${login.text}` }, 'submission login rejected');
      return login;
    }
    const opened = this.#open.get(session);
    if (opened) opened.login = login;
    else this.#logins.leave(login); // The connection was lost meanwhile.
    return login.publicId;
  }

  async #onMailFrom(session: SMTPServerSession): Promise<SmtpReply | null> {
    const { opened, login } = this.#signedIn(session);
    if (this.#open.isClosing) return SHUTTING_DOWN;
    if (session.envelope.requireTLS) return replies.NO_REQUIRETLS;
    opened.recipients = new Map();
    const refusal = await this.#logins.refusalOfCall(login);
    if (refusal) return refusal;
    const closed = this.#options.refusal();
    if (closed !== null) return { code: 451, text: `4.3.2 No mail is accepted at the moment: ${closed}` };
    return this.#memory.isFull(opened.ip) ? NO_ROOM : null;
  }

  async #onRecipient(address: string, session: SMTPServerSession): Promise<SmtpReply | null> {
    const { opened, login } = this.#signedIn(session);
    const { store, clock, staysUsable } = this.#options;
    const options = { store, clock, ...(staysUsable && { staysUsable }) };
    const read = await readRecipient(address, login.sender.tenantId, options);
    if (read.kind === 'refused') return read.reply;
    const { recipients } = opened;
    if (recipients.has(read.key)) return null;
    if (recipients.size >= replies.MAX_RECIPIENTS) return replies.TOO_MANY_RECIPIENTS;
    recipients.set(read.key, read.recipient);
    return null;
  }

  /** The text after 250, or a refusal. */
  #onData(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string | Error> {
    const { opened, login } = this.#signedIn(session);
    const { maxBytes } = this.#options.limits;
    return this.#memory.hold(opened.ip, async (take) => {
      const content = new MailContent(stream, { maxBytes, take });
      const reply = await this.#take(opened, login, content);
      this.#count('mail', content.isLost ? 'lost' : mailOutcome(reply));
      if (reply.code === 250) return reply.text;
      const { tenantId: tenant_id } = login.sender;
      this.#options.log.info(
        { tenant_id, remote_ip: opened.ip, reply: `${reply.code} ${reply.text}` },
        'submission rejected',
      );
      if (content.endsSession) {
        const connection = opened.server.connectionOf(session);
        connection?.send(reply.code, reply.text);
        connection?.close();
      }
      return toError(reply);
    });
  }

  async #take({ recipients, ip, tls }: DoorSession, { sender }: Login, content: MailContent): Promise<SmtpReply> {
    const { takeMail, log } = this.#options;
    const mail = { sender, recipients: [...recipients.values()], remoteIp: ip, tls };
    const reply = await takeMail(mail, content).catch((error: unknown) => {
      if (content.refusal === null && !content.isLost) {
        log.error({ error, tenant_id: sender.tenantId }, `a mail could not be accepted: ${describeError(error)}`);
      }
      return replies.NOT_STORED;
    });
    // A lost connection needs no answer.
    await content.drain().catch(() => {});
    return content.refusal ?? reply;
  }

  #signedIn(session: SMTPServerSession): { opened: DoorSession; login: Login } {
    const opened = this.#open.get(session);
    if (!opened?.login) throw new Error('a session without a login passed AUTH');
    return { opened, login: opened.login };
  }
}
