// Where bodies are read: small ones at once, on the thread that serves everybody; what is over 64 KiB
// in threads that can be killed, one body per tenant at a time, tenants in turns. A body of 5 MiB can
// be made to take a fifth of a second, in which nobody else would be answered.
import { describeError } from '../../base/errors.ts';
import { type Refusal, refuse } from '../../base/refusals.ts';
import type { Logger } from '../../observe/log.ts';
import { FairPool } from '../../threads/fair-pool.ts';
import { type Exceeded, JobPool } from '../../threads/job-pool.ts';
import type { BodyShape } from '../body-shape.ts';
import { BODY_LIMITS, type BodyJob, type BodyLimits, type BodyResult } from './body-job.ts';
import { readBody, receivedBody } from './read-body.ts';

export interface BodyReader {
  /** At once when the body is small. The bytes are gone afterwards. */
  read<Body>(tenantId: string, bytes: Buffer, shape: BodyShape<Body>): Body | Refusal | Promise<Body | Refusal>;
}

export interface BodyPoolOptions {
  log: Logger;
  limits?: BodyLimits;
}

/** Up to here everything is done in a few milliseconds, whatever the body holds. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** Long enough for the bodies before it to be read. */
const RETRY_AFTER_SECS = 2;

export class BodyPool implements BodyReader {
  readonly #pool: FairPool<BodyJob, BodyResult>;

  constructor({ log, limits = BODY_LIMITS }: BodyPoolOptions) {
    const { threads, jobMs, memoryMb } = limits;
    this.#pool = new FairPool({
      startThreads: (onIdle) =>
        new JobPool<BodyJob, BodyResult>({
          name: 'body parser',
          threads,
          memoryMb,
          jobMs,
          onIdle,
          entry: new URL('./body-worker.ts', import.meta.url),
          onTrouble: (error) =>
            log.error({ error, reason: describeError(error) }, 'a body parser thread died and was replaced'),
          exceeded: (_job, what) => ({ kind: 'refused', refusal: exceededRefusal(what, limits) }),
          transfers: ({ bytes: { buffer, byteLength } }) =>
            buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [],
        }),
      sizeOf: ({ bytes }) => bytes.byteLength,
      waitMs: limits.waitMs,
      sizePerTenant: limits.bytesPerTenant,
    });
  }

  read<Body>(tenantId: string, bytes: Buffer, shape: BodyShape<Body>): Body | Refusal | Promise<Body | Refusal> {
    return bytes.length <= SMALL_BODY_BYTES ? readBody(bytes, shape) : this.#readInThread(tenantId, bytes, shape);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #readInThread<Body>(tenantId: string, bytes: Buffer, shape: BodyShape<Body>): Promise<Body | Refusal> {
    const outcome = await this.#pool.run(tenantId, { bytes, shape: shape.schemaName });
    if (outcome.kind !== 'overloaded') return receivedBody(outcome, shape);
    return busy('Too many large requests are waiting to be parsed. Retry later.');
  }
}

/** Time may have run out because the machine is busy, memory only because of the body. */
function exceededRefusal(what: Exceeded, { jobMs, memoryMb }: BodyLimits): Refusal {
  if (what === 'memory') {
    return refuse(
      'validation_failed',
      `Parsing the request body takes more than ${memoryMb} MB of memory. Send fewer values.`,
    );
  }
  return busy(`Parsing the request body took longer than ${jobMs} ms. Retry later or send fewer values.`);
}

function busy(message: string): Refusal {
  return { ...refuse('internal_error', message), retryAfterSecs: RETRY_AFTER_SECS };
}
