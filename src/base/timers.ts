// Everything that runs periodically, in one place: each timer with its period, its next run and the result of the last
// one. Runs of one timer never overlap.
import type { Clock } from './clock.ts';
import { describeError } from './errors.ts';

export interface TimerSpec {
  name: string;
  periodMs: number;
  /** Until the first run; missing: one period. */
  firstMs?: number;
  /** Of several nodes only one runs it; missing: each does. */
  byLeader?: true;
  /** Returns what it did, in a few words. One that may take long ends early once `stopped` is aborted. */
  run(stopped: AbortSignal): Promise<string>;
}

export interface TimerStatus {
  name: string;
  periodMs: number;
  nextRunAt: number;
  /** When the last run began. */
  lastRunAt: number | null;
  /** Of the last finished run; a run in progress has no result yet. */
  lastResult: string | null;
  isRunning: boolean;
}

interface Entry extends Omit<TimerStatus, 'isRunning'> {
  spec: TimerSpec;
  running: Promise<void> | null;
}

export interface TimersOptions {
  clock: Clock;
  /** How often due timers are checked for. */
  tickMs: number;
  /** Whether this node runs a timer that only one may run. */
  lead(timer: TimerSpec): Promise<boolean>;
  onError(name: string, error: unknown): void;
}

export class Timers {
  readonly #options: TimersOptions;
  readonly #entries: Entry[] = [];
  readonly #ticker: NodeJS.Timeout;
  readonly #stopped = new AbortController();

  constructor(options: TimersOptions) {
    this.#options = options;
    this.#ticker = setInterval(() => this.tick(), options.tickMs);
  }

  add(spec: TimerSpec): void {
    const { name, periodMs, firstMs = periodMs } = spec;
    const nextRunAt = this.#options.clock.now() + firstMs;
    this.#entries.push({ name, periodMs, spec, nextRunAt, lastRunAt: null, lastResult: null, running: null });
  }

  /** Starts due timers; settles when they are done. */
  async tick(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    const now = this.#options.clock.now();
    const due = this.#entries.filter((entry) => isDue(entry, now) && !entry.running);
    await Promise.all(due.map((entry) => this.#start(entry, now)));
  }

  /** Lets it run at the next look at the clock, or again after a run in progress. */
  hasten(name: string): void {
    for (const entry of this.#entries) if (entry.name === name) entry.nextRunAt = this.#options.clock.now();
  }

  list(): TimerStatus[] {
    return this.#entries.map(({ name, periodMs, nextRunAt, lastRunAt, lastResult, running }) => {
      return { name, periodMs, nextRunAt, lastRunAt, lastResult, isRunning: running !== null };
    });
  }

  /** Starts nothing new, and waits for running timers. */
  async stop(): Promise<void> {
    clearInterval(this.#ticker);
    this.#stopped.abort();
    await Promise.all(this.#entries.map((entry) => entry.running));
  }

  #start(entry: Entry, now: number): Promise<void> {
    entry.lastRunAt = now;
    entry.nextRunAt = now + entry.periodMs;
    entry.running = this.#run(entry.spec)
      .then((result) => {
        entry.lastResult = result;
      })
      .catch((error: unknown) => {
        entry.lastResult = `failed: ${describeError(error)}`;
        this.#options.onError(entry.name, error);
      })
      .finally(() => {
        entry.running = null;
      });
    return entry.running;
  }

  async #run(spec: TimerSpec): Promise<string> {
    if (spec.byLeader && !(await this.#options.lead(spec))) return 'another node runs it';
    return spec.run(this.#stopped.signal);
  }
}

/** Also after the clock was set back: a run that is further away than any pause would otherwise not come for years. */
function isDue({ nextRunAt, spec: { periodMs, firstMs = 0 } }: Entry, now: number): boolean {
  return nextRunAt <= now || nextRunAt > now + Math.max(periodMs, firstMs);
}
