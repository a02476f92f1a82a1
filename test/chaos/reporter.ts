// The receivers' own mail: bounces and complaints that come a moment after a delivery, over SMTP to the daemon's
// listener. A report that was not answered 250 is sent again, as a mail server does.
import { setTimeout as pause } from 'node:timers/promises';
import { composeArf } from '../../src/protocol/mail/reports/arf.ts';
import { dsnFor } from '../support/bounce-mail.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import type { ToReport } from './receiver.ts';
import type { Living } from './scene.ts';

const BOUNCES = 'bounces.mail.postrider.test';
const WORKERS = 4;
const LONGEST_WAIT_MS = 2000;
const LOOK_EVERY_MS = 10;
const AGAIN_AFTER_MS = 100;

interface Due extends ToReport {
  at: number;
}

export class Reporter {
  /** By message id: what was answered 250. */
  readonly accepted = new Map<string, ToReport['kind']>();
  readonly refusals: string[] = [];
  repeats = 0;
  readonly #scene: Living;
  readonly #random: () => number;
  readonly #due: Due[] = [];
  #working = 0;
  #over = false;

  constructor(scene: Living, random: () => number) {
    this.#scene = scene;
    this.#random = random;
  }

  add(report: ToReport): void {
    this.#due.push({ ...report, at: Date.now() + this.#random() * LONGEST_WAIT_MS });
  }

  get waiting(): number {
    return this.#due.length + this.#working;
  }

  async work(): Promise<void> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#workOne()));
  }

  end(): void {
    this.#over = true;
  }

  async #workOne(): Promise<void> {
    while (!this.#over) {
      const now = Date.now();
      const index = this.#due.findIndex(({ at }) => at <= now);
      const [report] = index < 0 ? [] : this.#due.splice(index, 1);
      if (report === undefined) {
        await pause(LOOK_EVERY_MS);
        continue;
      }
      this.#working++;
      await this.#bring(report);
      this.#working--;
    }
  }

  async #bring(report: Due): Promise<void> {
    const daemon = await this.#scene.running();
    const port = Number(daemon.find({ msg: 'ready' })[0]?.smtp_port);
    const reply = await send(port, report).catch(() => '');
    if (reply.startsWith('250')) {
      this.accepted.set(report.id, report.kind);
    } else if (reply.startsWith('5')) {
      this.refusals.push(`${report.kind} for ${report.id}: ${reply}`);
    } else {
      this.repeats++;
      this.#due.push({ ...report, at: Date.now() + AGAIN_AFTER_MS });
    }
  }
}

async function send(port: number, { kind, mail }: ToReport): Promise<string> {
  const client = await SmtpClient.hello(port);
  try {
    if (kind === 'dsn') return await client.send({ from: '', to: mail.from, data: dsnFor(mail) });
    return await client.send({ from: '', to: `fbl@${BOUNCES}`, data: arfFor(mail) });
  } finally {
    client.close();
  }
}

/** What complaint loops send of a large message: its beginning. */
const ORIGINAL_BYTES = 256 * 1024;

function arfFor({ to, raw }: ToReport['mail']): Buffer {
  return composeArf({
    feedbackType: 'abuse',
    from: 'complaints@receiver.test',
    to: `fbl@${BOUNCES}`,
    originalMessage: raw.subarray(0, ORIGINAL_BYTES),
    sourceIp: '192.0.2.1',
    arrivalDate: new Date(),
    reportedDomain: 'acme.test',
    originalRcptTo: to,
    reportingMta: 'mx.receiver.test',
    date: new Date(),
  });
}
