// The open sessions of a listener, and how they end: when their time is up, or when the listener closes. A session whose
// mail is whole and being stored ends after the reply: a client that does not hear the 250 would send the mail again.

import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { SmtpReply } from './smtp-reply.ts';
import type { StrictSmtpServer } from './strict-server.ts';

export const SHUTTING_DOWN: SmtpReply = { code: 421, text: '4.3.2 The server is shutting down; connect again later' };
const SESSION_OVER: SmtpReply = { code: 421, text: '4.4.2 Session time limit reached; connect again' };
const DATA_OVER: SmtpReply = { code: 421, text: '4.4.2 The mail took too long to arrive; try again later' };

export interface SessionLimits {
  /** No session stays open for longer, busy or idle. */
  sessionMs: number;
  /** For the content of one mail; missing: as long as the session. */
  dataMs?: number;
  /** When the listener closes: for mail that is still arriving. */
  closeMs: number;
  /** When the listener closes: for mail that is being stored. */
  graceMs: number;
}

/** Of `stop.grace`. Listeners close one after the other, and before calls and deliveries, which share all of it. */
export const LISTENER_GRACE_SHARE = 0.2;

interface OpenSession<Facts> {
  facts: Facts;
  server: StrictSmtpServer;
  session: SMTPServerSession;
  timer: NodeJS.Timeout;
  /** The mail that is arriving or being stored. */
  mail: SMTPServerDataStream | null;
  /** How it ends when its mail is answered. */
  lastWords: SmtpReply | null;
}

/** `Facts`: what the listener knows of a session. */
export class OpenSessions<Facts> {
  readonly #limits: SessionLimits;
  /** By session ID; refused connections have none. */
  readonly #open = new Map<string, OpenSession<Facts>>();
  readonly #answers = new Set<Promise<void>>();
  #isClosing = false;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get(session: SMTPServerSession): Facts | undefined {
    return this.#open.get(session.id)?.facts;
  }

  enter(session: SMTPServerSession, server: StrictSmtpServer, facts: Facts): void {
    const opened: OpenSession<Facts> = {
      facts,
      server,
      session,
      timer: setTimeout(() => this.#end(opened, SESSION_OVER), this.#limits.sessionMs),
      mail: null,
      lastWords: null,
    };
    this.#open.set(session.id, opened);
  }

  /** Undefined: it had not entered. */
  leave(session: SMTPServerSession): Facts | undefined {
    const opened = this.#open.get(session.id);
    if (!opened) return undefined;
    clearTimeout(opened.timer);
    this.#open.delete(session.id);
    return opened.facts;
  }

  /** `answered` resolves when the reply to the mail was given to smtp-server. */
  receive(session: SMTPServerSession, mail: SMTPServerDataStream, answered: Promise<void>): void {
    const opened = this.#open.get(session.id);
    if (opened) opened.mail = mail;
    const { dataMs } = this.#limits;
    const tooSlow = opened && dataMs !== undefined && setTimeout(() => this.#endArriving(opened), dataMs);
    const over = answered.then(() => {
      this.#answers.delete(over);
      if (tooSlow) clearTimeout(tooSlow);
      if (!opened) return;
      opened.mail = null;
      if (opened.lastWords || this.#isClosing) this.#end(opened, opened.lastWords ?? SHUTTING_DOWN);
    });
    this.#answers.add(over);
  }

  /** Ends all sessions of these servers, which accept nothing new; mail whose final dot has come is answered before. */
  async close(servers: readonly StrictSmtpServer[]): Promise<void> {
    // The servers' own `close` would send 421 to every session after a while, whatever is being stored.
    for (const { server } of servers) server.close();
    this.#isClosing = true;
    for (const opened of this.#open.values()) if (opened.mail === null) this.#end(opened, SHUTTING_DOWN);
    const arriving = setTimeout(() => this.#endAll(), this.#limits.closeMs);
    await this.#allAnswered();
    clearTimeout(arriving);
    for (const opened of this.#open.values()) this.#endNow(opened, SHUTTING_DOWN);
    await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
  }

  /** Or the grace period is over. */
  async #allAnswered(): Promise<void> {
    const over = Promise.withResolvers<'over'>();
    const timer = setTimeout(() => over.resolve('over'), this.#limits.graceMs);
    while (this.#answers.size > 0) {
      if ((await Promise.race([Promise.allSettled(this.#answers), over.promise])) === 'over') break;
    }
    clearTimeout(timer);
  }

  #endAll(): void {
    for (const opened of this.#open.values()) this.#end(opened, SHUTTING_DOWN);
  }

  #endArriving(opened: OpenSession<Facts>): void {
    if (!opened.mail?.writableEnded) this.#endNow(opened, DATA_OVER);
  }

  #end(opened: OpenSession<Facts>, words: SmtpReply): void {
    if (opened.mail?.writableEnded) opened.lastWords = words;
    else this.#endNow(opened, words);
  }

  #endNow({ server, session, mail }: OpenSession<Facts>, { code, text }: SmtpReply): void {
    server.connectionOf(session)?.send(code, text);
    // Otherwise a client that keeps its side open would hold up what reads the mail.
    if (!mail?.writableEnded) mail?.destroy(new Error('the session ended before the final dot'));
  }
}
