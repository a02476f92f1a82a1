// Reads mails of strangers for the viewer in a thread that can be killed: one at a time, each within a limit
// of time and memory. The thread starts with the first mail, and ends when nobody has looked for a while.
import { Worker } from 'node:worker_threads';
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { MAIL_LIMITS, type MailReading } from './shown-mail.ts';

export interface MailReaderLimits {
  /** For one mail, the start of the thread included. */
  mailMs: number;
  memoryMb: number;
  /** Waiting. */
  mails: number;
  idleMs: number;
}

const LIMITS: MailReaderLimits = { mailMs: 5 * SECOND_MS, memoryMb: 128, mails: 16, idleMs: MINUTE_MS };

interface Job {
  octets: Buffer;
  resolve(reading: MailReading): void;
}

export interface MailReader {
  read(octets: Buffer): Promise<MailReading>;
  close(): Promise<void>;
}

export function createMailReader(limits: Partial<MailReaderLimits> = {}): MailReader {
  return new Reader({ ...LIMITS, ...limits });
}

class Reader implements MailReader {
  readonly #limits: MailReaderLimits;
  readonly #line: Job[] = [];
  #worker: Worker | null = null;
  #running: Job | null = null;
  #closed = false;
  /** Of the running mail, or of idleness. */
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: MailReaderLimits) {
    this.#limits = limits;
  }

  read(octets: Buffer): Promise<MailReading> {
    if (this.#closed) return Promise.resolve(unreadable('the service is restarting'));
    if (this.#line.length >= this.#limits.mails)
      return Promise.resolve(unreadable('too many mails are being read at once'));
    return new Promise((resolve) => {
      this.#line.push({ octets, resolve });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#end('the service is restarting');
    for (const { resolve } of this.#line.splice(0)) resolve(unreadable('the service is restarting'));
  }

  #next(): void {
    if (this.#running) return;
    const job = this.#line.shift();
    clearTimeout(this.#timer);
    if (!job) {
      this.#timer = setTimeout(() => this.#end(''), this.#limits.idleMs).unref();
      return;
    }
    this.#running = job;
    const { mailMs } = this.#limits;
    this.#timer = setTimeout(() => this.#end(`parsing took longer than ${mailMs / SECOND_MS} seconds`), mailMs);
    this.#worker ??= this.#start();
    // A copy of its own: small buffers share their memory with others. One octet too many shows that it was cut.
    const copy = new Uint8Array(job.octets.subarray(0, MAIL_LIMITS.octets + 1));
    this.#worker.postMessage(copy, [copy.buffer]);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./mail-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb },
      name: 'mail viewer',
    });
    worker.unref();
    worker.on('message', (reading: MailReading) => {
      if (this.#worker === worker) this.#settle(reading);
    });
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#end(describeError(error));
    });
    return worker;
  }

  /** Whatever it is at, the thread goes; the next mail gets another. */
  #end(reason: string): void {
    const worker = this.#worker;
    this.#worker = null;
    void worker?.terminate();
    this.#settle(unreadable(reason));
  }

  #settle(reading: MailReading): void {
    clearTimeout(this.#timer);
    this.#running?.resolve(reading);
    this.#running = null;
    // With nobody waiting, the time of idleness begins; without a thread, there is none to end.
    if (!this.#closed && (this.#line.length > 0 || this.#worker)) this.#next();
  }
}

function unreadable(reason: string): MailReading {
  return { kind: 'unreadable', reason };
}
