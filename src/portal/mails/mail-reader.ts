// Reads mails of strangers for the viewer in a thread that can be killed: one at a time, each within a limit
// of time and memory. The thread starts with the first mail, and ends when nobody has looked for a while.
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import { FairPool } from '../../threads/fair-pool.ts';
import { type Exceeded, JobPool } from '../../threads/job-pool.ts';
import { MAIL_LIMITS, type MailReading } from './shown-mail.ts';

export interface MailReaderLimits {
  /** For one mail. */
  mailMs: number;
  /** How long a mail waits for its turn, the start of the thread included. */
  waitMs: number;
  memoryMb: number;
  /** Waiting. */
  mails: number;
  idleMs: number;
}

const LIMITS: MailReaderLimits = {
  mailMs: 5 * SECOND_MS,
  waitMs: 20 * SECOND_MS,
  memoryMb: 128,
  mails: 16,
  idleMs: MINUTE_MS,
};
/** There is one thread, and who looks at mails are the operator's people: they share a queue. */
const EVERYBODY = '';

export interface MailReader {
  read(octets: Buffer): Promise<MailReading>;
  close(): Promise<void>;
}

export function createMailReader({ log, limits }: { log: Logger; limits?: Partial<MailReaderLimits> }): MailReader {
  const onTrouble = (error: unknown) => log.error({ error, reason: describeError(error) }, 'a mail viewer thread died');
  return new Reader({ ...LIMITS, ...limits }, onTrouble);
}

class Reader implements MailReader {
  readonly #pool: FairPool<Uint8Array<ArrayBuffer>, MailReading>;
  #isClosed = false;

  constructor({ mailMs, waitMs, memoryMb, mails, idleMs }: MailReaderLimits, onTrouble: (error: unknown) => void) {
    const exceeded = (_mail: Uint8Array<ArrayBuffer>, what: Exceeded) =>
      unreadable(
        what === 'time'
          ? `parsing took longer than ${mailMs / SECOND_MS} seconds`
          : `parsing needs more than ${memoryMb} MB of memory`,
      );
    this.#pool = new FairPool({
      startThreads: (onIdle) =>
        new JobPool<Uint8Array<ArrayBuffer>, MailReading>({
          name: 'mail viewer',
          threads: 1,
          memoryMb,
          jobMs: mailMs,
          onIdle,
          onTrouble,
          exceeded,
          entry: new URL('./mail-thread.ts', import.meta.url),
          transfers: (mail) => [mail.buffer],
        }),
      waitMs,
      idleMs,
      // Until the thread is ready, the first one waits as well.
      sizePerTenant: mails + 1,
    });
  }

  async read(octets: Buffer): Promise<MailReading> {
    // A copy of its own: small buffers share their memory with others. One octet too many shows that it was cut.
    const copy = new Uint8Array(octets.subarray(0, MAIL_LIMITS.octets + 1));
    try {
      const outcome = await this.#pool.run(EVERYBODY, copy);
      return outcome.kind === 'overloaded' ? unreadable('too many mails are being read at once') : outcome;
    } catch (error) {
      return unreadable(this.#isClosed ? 'the service is restarting' : describeError(error));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.close();
  }
}

function unreadable(reason: string): MailReading {
  return { kind: 'unreadable', reason };
}
