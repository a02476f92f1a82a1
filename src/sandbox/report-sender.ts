// Brings reports to the service's own inbound listener, over real SMTP and with the null
// sender. When nobody listens there, or nobody takes the report, it is tried a few times and
// then dropped with one line in the log. Reports live in memory only: a restart forgets them.
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { PeerFacts } from '../base/outcome.ts';
import type { Logger } from '../observe/log.ts';
import { openSession, type SmtpSession } from '../protocol/smtp/session.ts';
import type { ReportMail } from './report-mail.ts';

export interface ReportSender {
  send(report: ReportMail): void;
  /** Drops what still waits. */
  close(): Promise<void>;
}

export interface ReportSenderOptions {
  /** The inbound listener, on 127.0.0.1. */
  port: number;
  ehloName: string;
  log: Logger;
  /** Before each try. */
  pausesMs?: readonly number[];
}

// Before the first try too: a bounce that comes later comes after its message is known as delivered.
const PAUSES_MS = [1, 2, 5, 15, 60].map((seconds) => seconds * SECOND_MS);
/** Some ten thousand usual reports; a complaint carries the whole message. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024;
/** The listener limits the connections of one peer, at once and per minute: reports share a few of them. */
const MAX_SESSIONS = 4;
const LINGER_MS = 5 * SECOND_MS;

type Attempt = { kind: 'accepted' } | { kind: 'failed'; why: string; permanent: boolean };

export function createReportSender(options: ReportSenderOptions): ReportSender {
  const { log, pausesMs = PAUSES_MS } = options;
  const closing = new AbortController();
  const sessions = new Sessions(options, closing.signal);
  const underWay = new Set<Promise<void>>();
  let waitingBytes = 0;

  async function deliver(report: ReportMail): Promise<void> {
    let last: Attempt = { kind: 'failed', why: 'it was never tried', permanent: false };
    for (const pauseMs of pausesMs) {
      await sleep(pauseMs, undefined, { signal: closing.signal });
      last = await sessions.attempt(report);
      if (last.kind === 'accepted') return log.info({ report_to: report.rcptTo }, 'report delivered');
      if (last.permanent) break;
    }
    log.warn({ report_to: report.rcptTo, port: options.port }, `report given up: ${last.why}`);
  }

  return {
    send(report) {
      const bytes = report.message.length;
      if (waitingBytes + bytes > MAX_WAITING_BYTES) {
        return log.warn({ report_to: report.rcptTo }, 'report dropped: too many are waiting');
      }
      waitingBytes += bytes;
      const work = deliver(report)
        .catch((error: unknown) => {
          if (!closing.signal.aborted) log.error({ error }, `report failed: ${describeError(error)}`);
        })
        .finally(() => {
          waitingBytes -= bytes;
          underWay.delete(work);
        });
      underWay.add(work);
    },
    async close() {
      if (underWay.size > 0) log.info({ count: underWay.size }, 'reports that still waited are dropped');
      closing.abort();
      await Promise.all(underWay);
      await sessions.settled();
    },
  };
}

interface Waiting {
  report: ReportMail;
  done(attempt: Attempt): void;
  failed(error: unknown): void;
}

/**
 * A few connections to the listener. A runner sends over one of them what waits, idles for a while in case more
 * comes, and then ends; a failure costs the connection, not the runner.
 */
class Sessions {
  readonly #options: ReportSenderOptions;
  readonly #signal: AbortSignal;
  readonly #waiting: Waiting[] = [];
  readonly #idle: (() => void)[] = [];
  readonly #running = new Set<Promise<void>>();

  constructor(options: ReportSenderOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  attempt(report: ReportMail): Promise<Attempt> {
    return new Promise((done, failed) => {
      this.#waiting.push({ report, done, failed });
      const wake = this.#idle.pop();
      if (wake) wake();
      else if (this.#running.size < MAX_SESSIONS) this.#start();
    });
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  #start(): void {
    const running = this.#run().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #run(): Promise<void> {
    let session: SmtpSession | null = null;
    for (let next = await this.#next(); next; next = await this.#next()) {
      try {
        this.#signal.throwIfAborted();
        const opened: SmtpSession | Attempt = session ?? (await this.#open());
        session = 'kind' in opened ? null : opened;
        const attempt = 'kind' in opened ? opened : await send(opened, next.report, this.#signal);
        if (attempt.kind === 'failed' && session) {
          await session.close();
          session = null;
        }
        next.done(attempt);
      } catch (error) {
        next.failed(error);
      }
    }
    await session?.close();
  }

  async #next(): Promise<Waiting | undefined> {
    if (this.#waiting.length === 0) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.#signal.removeEventListener('abort', wake);
          const at = this.#idle.indexOf(wake);
          if (at >= 0) this.#idle.splice(at, 1);
          resolve();
        };
        const timer = setTimeout(wake, this.#signal.aborted ? 0 : LINGER_MS);
        this.#signal.addEventListener('abort', wake);
        this.#idle.push(wake);
      });
    }
    return this.#waiting.shift();
  }

  async #open(): Promise<SmtpSession | Attempt> {
    const { port, ehloName } = this.#options;
    const local = { mx: 'localhost', ip: '127.0.0.1', port, ehloName, tls: 'none', signal: this.#signal } as const;
    const opened = await openSession(local);
    return opened.kind === 'failed' ? failed(opened.peer) : opened.session;
  }
}

async function send(session: SmtpSession, report: ReportMail, signal: AbortSignal): Promise<Attempt> {
  const { rcptTo, message, needsEightBit } = report;
  // RFC 5321 section 4.5.5: nobody answers to a report, so it has no sender.
  const needs = { smtputf8: false, eightBit: needsEightBit };
  const result = await session.send({ mailFrom: '', rcptTo, message, needs, signal });
  return result.kind === 'accepted' ? { kind: 'accepted' } : failed(result.peer);
}

function failed(peer: PeerFacts): Attempt {
  const code = peer.smtpCode === null ? '' : `${peer.smtpCode} `;
  const permanent = peer.smtpCode !== null && peer.smtpCode >= 500;
  return { kind: 'failed', why: `${code}${peer.response}`, permanent };
}
