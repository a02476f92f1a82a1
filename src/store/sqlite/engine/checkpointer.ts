// The writer's side of the checkpoint thread: tells it when there were commits, and keeps the
// writer still for the moment in which the log begins anew. While the thread does not run, or fails, SQLite
// does its checkpoints inside the commits, as it would by itself: the log is bounded in any case.
import { Worker } from 'node:worker_threads';
import { describeError, Fault } from '../../../base/errors.ts';
import { RestartPauses } from '../../../base/restart-pauses.ts';
import type { CheckpointLimits } from './checkpoint-plan.ts';

export type CheckpointOrder =
  | { kind: 'look'; quiet: boolean }
  | { kind: 'run'; step: 'begin_anew' | 'shrink' }
  | { kind: 'close' };

export type CheckpointReport =
  | { kind: 'ready' }
  /** `inVain`: a reader was in the way, and something is left to do. */
  | { kind: 'looked'; inVain: boolean }
  | { kind: 'needs_pause'; step: 'begin_anew' | 'shrink' }
  | { kind: 'failed'; reason: string };

export interface CheckpointTask {
  file: string;
  limits: CheckpointLimits;
}

export interface CheckpointerKit extends CheckpointTask {
  /** What the thread runs; the product's own when left out. */
  entry?: URL;
  /** Whether SQLite is to do checkpoints inside commits. */
  checkpointInCommits(on: boolean): void;
  /** Commits nothing until the promise settles. */
  pauseWriter(over: Promise<void>): void;
  onFault(error: unknown): void;
}

export interface Checkpointer {
  /** There was a commit. */
  committed(): void;
  close(): Promise<void>;
}

// At full load a hundred commits; far from what fills the log.
const LOOK_AFTER_MS = 25;
const QUIET_AFTER_MS = 1000;

export function startCheckpointer(kit: CheckpointerKit): Checkpointer {
  return new CheckpointThread(kit);
}

class CheckpointThread implements Checkpointer {
  readonly #kit: CheckpointerKit;
  #worker: Worker | null = null;
  #atWork = false;
  /** Somebody asked for a look meanwhile. */
  #missedLook = false;
  #resumeWriter: (() => void) | null = null;
  #lookTimer: NodeJS.Timeout | null = null;
  #quietTimer: NodeJS.Timeout | null = null;
  #replaceTimer: NodeJS.Timeout | null = null;
  readonly #pauses = new RestartPauses();
  #bornAt = 0;
  #death: unknown = null;
  #closing = false;

  constructor(kit: CheckpointerKit) {
    this.#kit = kit;
    this.#start();
  }

  committed(): void {
    if (this.#lookTimer || this.#closing) return;
    this.#lookTimer = setTimeout(() => {
      this.#lookTimer = null;
      this.#look(false);
    }, LOOK_AFTER_MS).unref();
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const timer of [this.#lookTimer, this.#quietTimer, this.#replaceTimer]) if (timer) clearTimeout(timer);
    const worker = this.#worker;
    if (!worker) return;
    worker.ref();
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    this.#order({ kind: 'close' });
    await exited;
  }

  #start(): void {
    this.#replaceTimer = null;
    this.#bornAt = performance.now();
    const worker = new Worker(this.#kit.entry ?? new URL('./checkpoint-thread.ts', import.meta.url), {
      workerData: { file: this.#kit.file, limits: this.#kit.limits } satisfies CheckpointTask,
      name: 'checkpoint',
      resourceLimits: { maxYoungGenerationSizeMb: 1 }, // it makes next to nothing, and otherwise takes 16 times that
    });
    worker.unref(); // closing the store ends it; forgetting to must not keep the process
    worker.on('message', (report: CheckpointReport) => this.#hear(report));
    worker.on('error', (error) => {
      this.#death = error;
    });
    worker.once('exit', () => this.#lost());
    this.#worker = worker;
  }

  #look(quiet: boolean): void {
    if (!this.#worker) return;
    if (this.#atWork) {
      this.#missedLook = true;
      return;
    }
    this.#atWork = true;
    this.#order({ kind: 'look', quiet });
    if (!quiet) this.#lookWhenQuiet();
  }

  #lookWhenQuiet(): void {
    if (this.#quietTimer) clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#look(true), QUIET_AFTER_MS).unref();
  }

  #hear(report: CheckpointReport): void {
    if (report.kind === 'ready') {
      this.#kit.checkpointInCommits(false);
      return;
    }
    if (report.kind === 'needs_pause' && !this.#closing) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resumeWriter = resolve;
      this.#kit.pauseWriter(promise);
      this.#order({ kind: 'run', step: report.step });
      return;
    }
    if (report.kind === 'looked') {
      this.#kit.checkpointInCommits(false);
      if (report.inVain) this.#lookWhenQuiet();
    }
    if (report.kind === 'failed') {
      // A thread that lives and fails each time would let the log grow without end.
      this.#kit.checkpointInCommits(true);
      this.#kit.onFault(new Fault('a checkpoint failed', { detail: report.reason }));
    }
    this.#rest();
  }

  #rest(): void {
    this.#atWork = false;
    this.#resumeWriter?.();
    this.#resumeWriter = null;
    if (!this.#missedLook || this.#closing) return;
    this.#missedLook = false;
    this.#look(false);
  }

  #lost(): void {
    this.#worker = null;
    this.#rest();
    if (this.#closing) return;
    this.#kit.checkpointInCommits(true);
    const pauseMs = this.#pauses.next(performance.now() - this.#bornAt);
    const said = this.#death === null ? '' : `: ${describeError(this.#death)}`;
    const what = `the checkpoint thread has ended${said}; it is started again in ${pauseMs / 1000} s`;
    this.#kit.onFault(new Fault(what, { cause: this.#death }));
    this.#death = null;
    this.#replaceTimer = setTimeout(() => this.#start(), pauseMs).unref();
  }

  #order(order: CheckpointOrder): void {
    this.#worker?.postMessage(order);
  }
}
