// The portal's lists and sums: a few at once, on connections of their own, so that none of them is in the way of mail. Tenants
// take turns in a bounded queue. The server stops a query that takes too long.
import { SECOND_MS } from '../../base/clock.ts';
import { FairQueue } from '../../base/fair-queue.ts';
import type { PortalReads, ReadOutcome } from '../reads.ts';
import { QUERIES } from '../sql/reading/reading-queries.ts';
import { BUSY, CLOSING, STOPPED } from '../sql/reading/refusals.ts';
import type { Queries, Steps } from '../sql/steps.ts';
import { wasStopped } from './engine/database-fault.ts';
import { Primary } from './engine/primary.ts';
import { ReadPool } from './engine/read-pool.ts';
import { parseServerAddress } from './engine/server-address.ts';
import { VerbRunner } from './engine/verb-runner.ts';

export interface PortalReadOptions {
  url: string;
  /** For the log: which query was stopped. */
  onTrouble(reason: string): void;
  limits?: Partial<PortalReadLimits>;
}

export interface PortalReadLimits {
  atOnce: number;
  inAll: number;
  perTenant: number;
  /** For each statement of a query. */
  queryMs: number;
  /** In the queue. */
  waitMs: number;
}

const LIMITS: PortalReadLimits = {
  atOnce: 2,
  inAll: 64,
  perTenant: 8,
  queryMs: 5 * SECOND_MS,
  waitMs: 10 * SECOND_MS,
};

type AnyQuery = (db: Queries, ...args: unknown[]) => Steps<unknown>;

interface Job {
  name: string;
  args: unknown[];
  /** Limits its time in the queue. */
  timer: NodeJS.Timeout;
  settle(outcome: ReadOutcome<unknown> | Promise<ReadOutcome<unknown>>): void;
}

export function openPostgresPortalReads(options: PortalReadOptions): { reads: PortalReads; close(): Promise<void> } {
  const reader = new PortalReader(options);
  const asked = Object.keys(QUERIES).map((name) => [name, (...args: unknown[]) => reader.ask(name, args)]);
  const reads = { ...(Object.fromEntries(asked) as Omit<PortalReads, 'warm'>), warm: () => {} };
  return { reads, close: () => reader.close() };
}

class PortalReader {
  readonly #onTrouble: (reason: string) => void;
  readonly #limits: PortalReadLimits;
  readonly #queue: FairQueue<Job>;
  readonly #pool: ReadPool;
  readonly #runner: VerbRunner;
  #running = 0;
  #closed = false;

  constructor({ url, onTrouble, limits }: PortalReadOptions) {
    this.#onTrouble = onTrouble;
    this.#limits = { ...LIMITS, ...limits };
    const { inAll, perTenant, queryMs, atOnce } = this.#limits;
    this.#queue = new FairQueue({ inAll, perKey: perTenant });
    const terms = { applicationName: 'postrider-portal', statementMs: queryMs };
    this.#pool = new ReadPool({
      primary: new Primary(parseServerAddress(url)),
      terms,
      cache: null,
      maxConnections: atOnce,
    });
    this.#runner = new VerbRunner((work) => this.#pool.read(this.#runner, work));
  }

  ask(name: string, args: unknown[]): Promise<ReadOutcome<unknown>> {
    return new Promise((resolve) => {
      if (this.#closed) return resolve({ kind: 'refused', reason: CLOSING });
      const tenant = String(args[0]);
      const giveUp = () => {
        this.#queue.remove(tenant, job);
        resolve({ kind: 'refused', reason: BUSY });
      };
      const job: Job = { name, args, timer: setTimeout(giveUp, this.#limits.waitMs), settle: resolve };
      if (this.#queue.add(tenant, job)) this.#runNext();
      else {
        clearTimeout(job.timer);
        resolve({ kind: 'refused', reason: BUSY });
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer, settle } of this.#queue.clear()) {
      clearTimeout(timer);
      settle({ kind: 'refused', reason: CLOSING });
    }
    await this.#pool.close();
  }

  #runNext(): void {
    if (this.#running >= this.#limits.atOnce) return;
    const job = this.#queue.take()?.job;
    if (!job) return;
    clearTimeout(job.timer);
    this.#running++;
    const outcome = this.#run(job).finally(() => {
      this.#running--;
      this.#runNext();
    });
    job.settle(outcome);
  }

  async #run({ name, args }: Job): Promise<ReadOutcome<unknown>> {
    try {
      const query = QUERIES[name as keyof typeof QUERIES] as AnyQuery;
      return { kind: 'found', value: await this.#pool.read(this.#runner, () => query(this.#runner, ...args)) };
    } catch (error) {
      if (!wasStopped(error)) throw error;
      this.#onTrouble(`${name} took longer than ${this.#limits.queryMs / SECOND_MS} s and was stopped`);
      return { kind: 'refused', reason: STOPPED };
    }
  }
}
