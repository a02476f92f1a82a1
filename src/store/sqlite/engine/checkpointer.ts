// The writer's side of the checkpoint thread: tells it when there were commits, and keeps the
// writer still for the moment in which the log begins anew. While the thread does not run, or fails, SQLite
// does its checkpoints inside the commits, as it would by itself: the log is bounded in any case.
import { Fault } from '../../../base/errors.ts';
import { HostedThread, type Life, WorkerHost } from '../../../base/worker-host.ts';
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

/** Is told to end, and then closes its connection first. */
interface CheckpointLife {
  order(order: CheckpointOrder): void;
  /** It has done what it was ordered. */
  rest(): void;
  end(): Promise<void>;
}

class CheckpointThread implements Checkpointer {
  readonly #kit: CheckpointerKit;
  readonly #host: WorkerHost<CheckpointLife>;
  #atWork = false;
  /** Somebody asked for a look meanwhile. */
  #missedLook = false;
  #resumeWriter: (() => void) | null = null;
  #lookTimer: NodeJS.Timeout | null = null;
  #quietTimer: NodeJS.Timeout | null = null;
  #closing = false;

  constructor(kit: CheckpointerKit) {
    this.#kit = kit;
    this.#host = new WorkerHost({
      name: 'the checkpoint thread',
      start: (life) => this.#start(life),
      onLost: (fault) => this.#lost(fault),
    });
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
    for (const timer of [this.#lookTimer, this.#quietTimer]) if (timer) clearTimeout(timer);
    await this.#host.end();
    this.#rest();
  }

  #start(life: Life): CheckpointLife {
    const { entry = new URL('./checkpoint-thread.ts', import.meta.url), file, limits } = this.#kit;
    const workerData: CheckpointTask = { file, limits };
    const resourceLimits = { maxYoungGenerationSizeMb: 1 }; // it makes next to nothing, and otherwise takes 16 times that
    const listener = {
      onMessage: (report: CheckpointReport) => this.#hear(report),
      onEnd: (error: unknown) => life.lost(error),
    };
    const thread = new HostedThread(entry, { workerData, name: 'checkpoint', resourceLimits }, listener);
    // Closing the store ends it; forgetting to must not keep the process. At work it does: the writer may wait for it.
    thread.hold(false);
    return {
      order(order) {
        thread.hold(true);
        thread.post(order);
      },
      rest: () => thread.hold(this.#closing),
      async end() {
        this.order({ kind: 'close' });
        await thread.exited;
      },
    };
  }

  #look(quiet: boolean): void {
    if (!this.#host.current) return;
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
    this.#host.current?.rest();
    this.#resumeWriter?.();
    this.#resumeWriter = null;
    if (!this.#missedLook || this.#closing) return;
    this.#missedLook = false;
    this.#look(false);
  }

  #lost(fault: Fault): void {
    this.#rest();
    this.#kit.checkpointInCommits(true);
    this.#kit.onFault(fault);
  }

  #order(order: CheckpointOrder): void {
    this.#host.current?.order(order);
  }
}
