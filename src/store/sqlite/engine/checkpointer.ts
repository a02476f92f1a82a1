// The writer's side of the checkpoint thread: notifies it of commits, and pauses the writer while the log
// restarts. While the thread doesn't run, or fails, SQLite does checkpoints inside commits, as is its default:
// the log is bounded in any case.
import { Fault } from '../../../base/errors.ts';
import { HostedThread, type Life, WorkerHost } from '../../../threads/worker-host.ts';
import type { CheckpointLimits } from './checkpoint-plan.ts';

export type CheckpointOrder =
  | { kind: 'check'; quiet: boolean }
  | { kind: 'run'; step: 'restart' | 'shrink' }
  | { kind: 'close' };

export type CheckpointReport =
  | { kind: 'ready' }
  /** `blocked`: a reader was in the way, and there is more to do. */
  | { kind: 'checked'; blocked: boolean }
  | { kind: 'needs_pause'; step: 'restart' | 'shrink' }
  | { kind: 'failed'; reason: string };

export interface CheckpointTask {
  file: string;
  limits: CheckpointLimits;
}

export interface CheckpointerKit extends CheckpointTask {
  /** The module that the thread runs; by default the product's own. */
  entry?: URL;
  /** Whether SQLite is to do checkpoints inside commits. */
  checkpointInCommits(on: boolean): void;
  /** Commits nothing until the promise settles. */
  pauseWriter(over: Promise<void>): void;
  onFault(error: unknown): void;
}

export interface Checkpointer {
  /** Reports a commit. */
  committed(): void;
  close(): Promise<void>;
}

// At full load some hundred commits; far from filling the log.
const CHECK_AFTER_MS = 25;
const QUIET_AFTER_MS = 1000;

export function startCheckpointer(kit: CheckpointerKit): Checkpointer {
  return new CheckpointThread(kit);
}

/** The thread closes its connection before it ends, so it must be told. */
interface CheckpointLife {
  order(order: CheckpointOrder): void;
  /** It has done its order. */
  rest(): void;
  end(): Promise<void>;
}

class CheckpointThread implements Checkpointer {
  readonly #kit: CheckpointerKit;
  readonly #host: WorkerHost<CheckpointLife>;
  #busy = false;
  /** A check was requested meanwhile. */
  #checkAgain = false;
  #resumeWriter: (() => void) | null = null;
  #checkTimer: NodeJS.Timeout | null = null;
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
    if (this.#checkTimer || this.#closing) return;
    this.#checkTimer = setTimeout(() => {
      this.#checkTimer = null;
      this.#check(false);
    }, CHECK_AFTER_MS).unref();
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const timer of [this.#checkTimer, this.#quietTimer]) if (timer) clearTimeout(timer);
    await this.#host.end();
    this.#rest();
  }

  #start(life: Life): CheckpointLife {
    const { entry = new URL('./checkpoint-thread.ts', import.meta.url), file, limits } = this.#kit;
    const workerData: CheckpointTask = { file, limits };
    const resourceLimits = { maxYoungGenerationSizeMb: 1 }; // it allocates almost nothing; V8's default is 16 MiB
    const listener = {
      onMessage: (report: CheckpointReport) => this.#onReport(report),
      onEnd: (error: unknown) => life.lost(error),
    };
    const thread = new HostedThread(entry, { workerData, name: 'checkpoint', resourceLimits }, listener);
    // Closing the store ends it; a store left open must not keep the process alive, unless the writer waits for it.
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

  #check(quiet: boolean): void {
    if (!this.#host.current) return;
    if (this.#busy) {
      this.#checkAgain = true;
      return;
    }
    this.#busy = true;
    this.#order({ kind: 'check', quiet });
    if (!quiet) this.#checkWhenQuiet();
  }

  #checkWhenQuiet(): void {
    if (this.#quietTimer) clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#check(true), QUIET_AFTER_MS).unref();
  }

  #onReport(report: CheckpointReport): void {
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
    if (report.kind === 'checked') {
      this.#kit.checkpointInCommits(false);
      if (report.blocked) this.#checkWhenQuiet();
    }
    if (report.kind === 'failed') {
      // A thread that runs and fails every time would let the log grow without limit.
      this.#kit.checkpointInCommits(true);
      this.#kit.onFault(new Fault('a checkpoint failed', { detail: report.reason }));
    }
    this.#rest();
  }

  #rest(): void {
    this.#busy = false;
    this.#host.current?.rest();
    this.#resumeWriter?.();
    this.#resumeWriter = null;
    if (!this.#checkAgain || this.#closing) return;
    this.#checkAgain = false;
    this.#check(false);
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
