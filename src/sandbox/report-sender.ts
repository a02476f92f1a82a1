// Brings reports to the service's own inbound listener, over real SMTP and with the null
// sender. When nobody listens there, or nobody takes the report, it is tried a few times and
// then dropped with one line in the log. Reports live in memory only: a restart forgets them.
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { PeerFacts } from '../base/outcome.ts';
import type { Logger } from '../observe/log.ts';
import { openSession } from '../protocol/smtp/session.ts';
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
const MAX_WAITING = 1000;

type Attempt = { kind: 'accepted' } | { kind: 'failed'; why: string; permanent: boolean };

export function createReportSender(options: ReportSenderOptions): ReportSender {
  const { log, pausesMs = PAUSES_MS } = options;
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();

  async function deliver(report: ReportMail): Promise<void> {
    let last: Attempt = { kind: 'failed', why: 'it was never tried', permanent: false };
    for (const pauseMs of pausesMs) {
      await sleep(pauseMs, undefined, { signal: closing.signal });
      last = await attempt(report, options, closing.signal);
      if (last.kind === 'accepted') return log.info({ report_to: report.rcptTo }, 'report delivered');
      if (last.permanent) break;
    }
    log.warn({ report_to: report.rcptTo, port: options.port }, `report given up: ${last.why}`);
  }

  return {
    send(report) {
      if (underWay.size >= MAX_WAITING) return log.warn({ report_to: report.rcptTo }, 'report dropped: too many wait');
      const work = deliver(report)
        .catch((error: unknown) => {
          if (!closing.signal.aborted) log.error({ error }, `report failed: ${describeError(error)}`);
        })
        .finally(() => underWay.delete(work));
      underWay.add(work);
    },
    async close() {
      if (underWay.size > 0) log.info({ count: underWay.size }, 'reports that still waited are dropped');
      closing.abort();
      await Promise.all(underWay);
    },
  };
}

async function attempt(report: ReportMail, options: ReportSenderOptions, signal: AbortSignal): Promise<Attempt> {
  const { port, ehloName } = options;
  const opened = await openSession({ mx: 'localhost', ip: '127.0.0.1', port, ehloName, tls: 'none', signal });
  if (opened.kind === 'failed') return failed(opened.peer);
  const { session } = opened;
  const { rcptTo, message, needsEightBit } = report;
  // RFC 5321 section 4.5.5: nobody answers to a report, so it has no sender.
  const needs = { smtputf8: false, eightBit: needsEightBit };
  const result = await session.send({ mailFrom: '', rcptTo, message, needs, signal });
  await session.close();
  return result.kind === 'accepted' ? { kind: 'accepted' } : failed(result.peer);
}

function failed(peer: PeerFacts): Attempt {
  const code = peer.smtpCode === null ? '' : `${peer.smtpCode} `;
  const permanent = peer.smtpCode !== null && peer.smtpCode >= 500;
  return { kind: 'failed', why: `${code}${peer.response}`, permanent };
}
