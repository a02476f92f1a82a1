// Opens the portal's reads: queries wait in a bounded, fair line for a process that answers one after
// the other. It is started by the first question or by who expects one, ended when nobody has asked for
// a while or when a query takes too long, and started again when it dies.
import { MINUTE_MS, SECOND_MS } from '../../../base/clock.ts';
import { Fault } from '../../../base/errors.ts';
import type { PortalReads, ReadOutcome } from '../../reads.ts';
import { ReadingChild } from './reading-child.ts';
import type { QueryRegistry, ReadingReport } from './reading-messages.ts';
import { QUERIES } from './reading-queries.ts';

interface ReadingOptions {
  file: string;
  /** What somebody should know: why the process died, which query was stopped. */
  onTrouble(reason: string): void;
  limits?: Partial<ReadingLimits>;
}

export interface ReadingLimits extends LineLimits {
  /** For one query, once it is its turn. */
  queryMs: number;
  /** In the line. */
  waitMs: number;
  startMs: number;
  /** After a death that nobody here has brought about. */
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
  /** Starts the process where there is none; a pause after a death is kept. */
  warm(): void;
  close(): Promise<void>;
}

export function openPortalReads(options: ReadingOptions): Reading<PortalReads> {
  const module = new URL('./reading-queries.ts', import.meta.url);
  const reading = openReading<Omit<PortalReads, 'warm'>>({ ...options, module, queries: QUERIES });
  return { ...reading, reads: { ...reading.reads, warm: reading.warm } };
}

/** `module` exports `queries` as QUERIES; it is loaded by the process. */
export function openReading<Reads>(options: ReadingOptions & { module: URL; queries: QueryRegistry }): Reading<Reads> {
  const reader = new Reader(options);
  const names = Object.keys(options.queries);
  const reads = names.map((name) => [name, (...asked: unknown[]) => reader.ask(name, asked)] as const);
  return { reads: Object.fromEntries(reads) as Reads, warm: () => reader.warm(), close: () => reader.close() };
}

const BUSY = 'Too many lists are being looked at right now, so this one was not begun. Try again in a moment.';
const STOPPED = 'This was stopped because it took too long. Ask for a shorter time or for less at once.';
const DIED =
  'The process that reads lists has ended in the middle of this. It is started again: try again in a moment.';
const NO_START = 'The process that reads lists cannot be started at the moment. Try again in a minute.';
const CLOSING = 'The service is being restarted. Try again in a moment.';

interface Job {
  name: string;
  asked: unknown[];
  /** Of its time in the line. */
  timer: NodeJS.Timeout;
  refuse(reason: string): void;
  fail(reason: string): void;
  answer(value: unknown): void;
}

/** Of the one process; `ending`: it was killed, and has not gone yet. */
type State = 'none' | 'starting' | 'idle' | 'busy' | 'ending' | 'pausing' | 'closed';

/**
 * none → starting (a question came, or is expected) → idle ⇄ busy. A process that has been idle for
 * long, does not start or takes too long over a query is killed: ending → none. One that dies of itself,
 * or does not start, leaves a pause before the next: pausing → none. Whoever waits is asked about again
 * at each of these.
 */
class Reader {
  readonly #options: ReadingOptions & { module: URL };
  readonly #limits: ReadingLimits;
  readonly #line: ReadingLine<Job>;
  #state: State = 'none';
  #child: ReadingChild | null = null;
  #running: Job | null = null;
  /** Of the present state. */
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReadingOptions & { module: URL }) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#line = new ReadingLine(this.#limits);
  }

  ask(name: string, asked: unknown[]): Promise<ReadOutcome<unknown>> {
    if (this.#state === 'closed') return Promise.resolve({ kind: 'refused', reason: CLOSING });
    const { promise, resolve, reject } = Promise.withResolvers<ReadOutcome<unknown>>();
    const tenant = String(asked[0]);
    const job: Job = {
      ...{ name, asked },
      timer: setTimeout(() => {
        this.#line.remove(tenant, job);
        job.refuse(BUSY);
      }, this.#limits.waitMs),
      refuse: (reason) => resolve({ kind: 'refused', reason }),
      fail: (detail) => reject(new Fault('a list could not be read', { detail: `${name}: ${detail}` })),
      answer: (value) => resolve({ kind: 'found', value }),
    };
    if (this.#line.add(tenant, job)) this.#next();
    else refuseAll([job], BUSY);
    return promise;
  }

  warm(): void {
    if (this.#state === 'none') this.#start();
  }

  async close(): Promise<void> {
    this.#enter('closed');
    refuseAll([this.#running, ...this.#line.clear()], CLOSING);
    this.#running = null;
    await this.#child?.kill();
  }

  #enter(state: State, timer?: NodeJS.Timeout): void {
    clearTimeout(this.#timer);
    this.#state = state;
    this.#timer = timer;
  }

  #next(): void {
    if (this.#line.isEmpty) return;
    if (this.#state === 'none') this.#start();
    else if (this.#state === 'idle') this.#run(this.#line.take()!);
  }

  #start(): void {
    const { file, module } = this.#options;
    const { startMs } = this.#limits;
    const late = () => {
      this.#end(`it did not start within ${startMs} ms`);
      refuseAll(this.#line.clear(), NO_START);
    };
    this.#enter('starting', setTimeout(late, startMs).unref());
    const onReport = (report: ReadingReport) => this.#hear(report);
    this.#child = new ReadingChild({ file, module, onReport, onEnd: (reason) => this.#lost(reason) });
  }

  #run(job: Job): void {
    clearTimeout(job.timer);
    const { queryMs } = this.#limits;
    const late = () => {
      this.#end(`${job.name} took longer than ${queryMs} ms`);
      refuseAll([this.#takeRunning()], STOPPED);
    };
    this.#enter('busy', setTimeout(late, queryMs));
    this.#running = job;
    this.#child!.ask({ name: job.name, asked: job.asked });
  }

  #hear(report: ReadingReport): void {
    if (this.#state !== 'starting' && this.#state !== 'busy') return; // killed just as it came to an end
    const job = this.#takeRunning();
    if (report.kind === 'answer') job?.answer(report.value);
    else if (report.kind === 'failed') job?.fail(report.reason);
    this.#enter('idle', setTimeout(() => this.#end(null), this.#limits.idleMs).unref());
    this.#next();
  }

  /** Kills it; `reason` is for the log. */
  #end(reason: string | null): void {
    this.#enter('ending');
    if (reason !== null) this.#options.onTrouble(`the reading process is ended: ${reason}`);
    void this.#child!.kill();
  }

  #lost(reason: string): void {
    this.#child = null;
    if (this.#state === 'closed') return;
    const goOn = () => {
      this.#enter('none');
      this.#next();
    };
    if (this.#state === 'ending') {
      goOn();
      return;
    }
    this.#options.onTrouble(`the reading process has died and is started again: ${reason}`);
    refuseAll([this.#takeRunning()], DIED);
    if (this.#state === 'starting') refuseAll(this.#line.clear(), NO_START);
    this.#enter('pausing', setTimeout(goOn, this.#limits.restartPauseMs).unref());
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

// Who is answered next: tenants take turns, and what waits is bounded, in all and per tenant.

interface LineLimits {
  inAll: number;
  perTenant: number;
}

class ReadingLine<Job> {
  readonly #limits: LineLimits;
  /** The tenant whose turn it is stands first. */
  readonly #lines = new Map<string, Job[]>();
  #size = 0;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  /** False: too much waits already. */
  add(tenant: string, job: Job): boolean {
    const line = this.#lines.get(tenant) ?? [];
    if (this.#size >= this.#limits.inAll || line.length >= this.#limits.perTenant) return false;
    this.#lines.set(tenant, [...line, job]);
    this.#size++;
    return true;
  }

  take(): Job | null {
    for (const [tenant, [job, ...others]] of this.#lines) {
      this.#lines.delete(tenant);
      if (others.length > 0) this.#lines.set(tenant, others);
      this.#size--;
      return job!;
    }
    return null;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** It has waited long enough. */
  remove(tenant: string, job: Job): void {
    const line = this.#lines.get(tenant) ?? [];
    const others = line.filter((other) => other !== job);
    this.#size -= line.length - others.length;
    if (others.length > 0) this.#lines.set(tenant, others);
    else this.#lines.delete(tenant);
  }

  /** All that wait; nobody waits any more. */
  clear(): Job[] {
    const waiting = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#size = 0;
    return waiting;
  }
}
