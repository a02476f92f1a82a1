// Opens the portal's reads: queries wait in a bounded, fair queue for a process that answers one after the other. The
// first query starts it, or warm() when one is expected; it ends when it was idle for long or when a query takes too
// long, and is restarted when it dies.
import { MINUTE_MS, SECOND_MS } from '../../../base/clock.ts';
import { Fault } from '../../../base/errors.ts';
import type { PortalReads, ReadOutcome } from '../../reads.ts';
import { QUERIES } from '../../sql/reading/reading-queries.ts';
import { BUSY, CLOSING, STOPPED } from '../../sql/reading/refusals.ts';
import { ReadingChild } from './reading-child.ts';
import type { QueryRegistry, ReadingReport } from './reading-messages.ts';

interface ReadingOptions {
  file: string;
  /** For the log: why the process died, which query was stopped. */
  onTrouble(reason: string): void;
  limits?: Partial<ReadingLimits>;
}

export interface ReadingLimits extends QueueLimits {
  /** For one query, once it runs. */
  queryMs: number;
  /** In the queue. */
  waitMs: number;
  startMs: number;
  /** After it died unexpectedly. */
  restartPauseMs: number;
  idleMs: number;
}

const LIMITS: ReadingLimits = {
  inAll: 64,
  perTenant: 8,
  queryMs: 5 * SECOND_MS,
  waitMs: 10 * SECOND_MS,
  startMs: 10 * SECOND_MS,
  restartPauseMs: SECOND_MS,
  idleMs: 10 * MINUTE_MS,
};

interface Reading<Reads> {
  reads: Reads;
  /** Starts the process unless it runs; the pause after a death is kept. */
  warm(): void;
  close(): Promise<void>;
}

export function openPortalReads(options: ReadingOptions): Reading<PortalReads> {
  const module = new URL('../../sql/reading/reading-queries.ts', import.meta.url);
  const reading = openReading<Omit<PortalReads, 'warm'>>({ ...options, module, queries: QUERIES });
  return { ...reading, reads: { ...reading.reads, warm: reading.warm } };
}

/** `module` exports `queries` as QUERIES; it is loaded by the process. */
export function openReading<Reads>(options: ReadingOptions & { module: URL; queries: QueryRegistry }): Reading<Reads> {
  const reader = new Reader(options);
  const names = Object.keys(options.queries);
  const reads = names.map((name) => [name, (...args: unknown[]) => reader.ask(name, args)] as const);
  return { reads: Object.fromEntries(reads) as Reads, warm: () => reader.warm(), close: () => reader.close() };
}

const DIED =
  'The process that reads lists has ended in the middle of this. It is started again: try again in a moment.';
const NO_START = 'The process that reads lists cannot be started at the moment. Try again in a minute.';

interface Job {
  name: string;
  args: unknown[];
  /** Limits its time in the queue. */
  timer: NodeJS.Timeout;
  refuse(reason: string): void;
  fail(reason: string): void;
  answer(value: unknown): void;
}

/** Of the one process; `ending`: it was killed, and has not exited yet. */
type State = 'none' | 'starting' | 'idle' | 'busy' | 'ending' | 'pausing' | 'closed';

/**
 * none → starting (a query came, or is expected) → idle ⇄ busy. A process that has been idle for long, does not start
 * or takes too long over a query is killed: ending → none. One that dies or does not start is followed by a pause:
 * pausing → none. At each of these, the next waiting query is run.
 */
class Reader {
  readonly #options: ReadingOptions & { module: URL };
  readonly #limits: ReadingLimits;
  readonly #queue: ReadQueue<Job>;
  #state: State = 'none';
  #child: ReadingChild | null = null;
  #running: Job | null = null;
  /** Of the current state. */
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReadingOptions & { module: URL }) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#queue = new ReadQueue(this.#limits);
  }

  ask(name: string, args: unknown[]): Promise<ReadOutcome<unknown>> {
    if (this.#state === 'closed') return Promise.resolve({ kind: 'refused', reason: CLOSING });
    const { promise, resolve, reject } = Promise.withResolvers<ReadOutcome<unknown>>();
    const tenant = String(args[0]);
    const job: Job = {
      name,
      args,
      timer: setTimeout(() => {
        this.#queue.remove(tenant, job);
        job.refuse(BUSY);
      }, this.#limits.waitMs),
      refuse: (reason) => resolve({ kind: 'refused', reason }),
      fail: (detail) => reject(new Fault('a list could not be read', { detail: `${name}: ${detail}` })),
      answer: (value) => resolve({ kind: 'found', value }),
    };
    if (this.#queue.add(tenant, job)) this.#next();
    else refuseAll([job], BUSY);
    return promise;
  }

  warm(): void {
    if (this.#state === 'none') this.#start();
  }

  async close(): Promise<void> {
    this.#enter('closed');
    refuseAll([this.#running, ...this.#queue.clear()], CLOSING);
    this.#running = null;
    await this.#child?.kill();
  }

  #enter(state: State, timer?: NodeJS.Timeout): void {
    clearTimeout(this.#timer);
    this.#state = state;
    this.#timer = timer;
  }

  #next(): void {
    if (this.#queue.isEmpty) return;
    if (this.#state === 'none') this.#start();
    else if (this.#state === 'idle') this.#run(this.#queue.take()!);
  }

  #start(): void {
    const { file, module } = this.#options;
    const { startMs } = this.#limits;
    const onTimeout = () => {
      this.#end(`it did not start within ${startMs} ms`);
      refuseAll(this.#queue.clear(), NO_START);
    };
    this.#enter('starting', setTimeout(onTimeout, startMs).unref());
    const onReport = (report: ReadingReport) => this.#onReport(report);
    this.#child = new ReadingChild({ file, module, onReport, onEnd: (reason) => this.#lost(reason) });
  }

  #run(job: Job): void {
    clearTimeout(job.timer);
    const { queryMs } = this.#limits;
    const onTimeout = () => {
      this.#end(`${job.name} took longer than ${queryMs} ms`);
      refuseAll([this.#takeRunning()], STOPPED);
    };
    this.#enter('busy', setTimeout(onTimeout, queryMs));
    this.#running = job;
    this.#child!.ask({ name: job.name, args: job.args });
  }

  #onReport(report: ReadingReport): void {
    if (this.#state !== 'starting' && this.#state !== 'busy') return; // it was killed just as it finished
    const job = this.#takeRunning();
    if (report.kind === 'answer') job?.answer(report.value);
    else if (report.kind === 'failed') job?.fail(report.reason);
    this.#enter('idle', setTimeout(() => this.#end(null), this.#limits.idleMs).unref());
    this.#next();
  }

  /** Kills the process; `reason` is for the log. */
  #end(reason: string | null): void {
    this.#enter('ending');
    if (reason !== null) this.#options.onTrouble(`the reading process is ended: ${reason}`);
    void this.#child!.kill();
  }

  #lost(reason: string): void {
    this.#child = null;
    if (this.#state === 'closed') return;
    const proceed = () => {
      this.#enter('none');
      this.#next();
    };
    if (this.#state === 'ending') {
      proceed();
      return;
    }
    this.#options.onTrouble(`the reading process has died and is started again: ${reason}`);
    refuseAll([this.#takeRunning()], DIED);
    if (this.#state === 'starting') refuseAll(this.#queue.clear(), NO_START);
    this.#enter('pausing', setTimeout(proceed, this.#limits.restartPauseMs).unref());
  }

  #takeRunning(): Job | null {
    const job = this.#running;
    this.#running = null;
    return job;
  }
}

function refuseAll(jobs: readonly (Job | null)[], reason: string): void {
  for (const job of jobs) {
    clearTimeout(job?.timer);
    job?.refuse(reason);
  }
}

// Which query runs next: tenants take turns, and the queue is bounded, in all and per tenant.

interface QueueLimits {
  inAll: number;
  perTenant: number;
}

class ReadQueue<Job> {
  readonly #limits: QueueLimits;
  /** The tenant whose turn it is comes first. */
  readonly #byTenant = new Map<string, Job[]>();
  #size = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** False: the queue is full. */
  add(tenant: string, job: Job): boolean {
    const jobs = this.#byTenant.get(tenant) ?? [];
    if (this.#size >= this.#limits.inAll || jobs.length >= this.#limits.perTenant) return false;
    this.#byTenant.set(tenant, [...jobs, job]);
    this.#size++;
    return true;
  }

  take(): Job | null {
    for (const [tenant, [job, ...others]] of this.#byTenant) {
      this.#byTenant.delete(tenant);
      if (others.length > 0) this.#byTenant.set(tenant, others);
      this.#size--;
      return job!;
    }
    return null;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** After it has waited for too long. */
  remove(tenant: string, job: Job): void {
    const jobs = this.#byTenant.get(tenant) ?? [];
    const others = jobs.filter((other) => other !== job);
    this.#size -= jobs.length - others.length;
    if (others.length > 0) this.#byTenant.set(tenant, others);
    else this.#byTenant.delete(tenant);
  }

  /** Empties the queue and returns what was in it. */
  clear(): Job[] {
    const waiting = [...this.#byTenant.values()].flat();
    this.#byTenant.clear();
    this.#size = 0;
    return waiting;
  }
}
