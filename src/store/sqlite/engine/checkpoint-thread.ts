// Entry of the checkpoint thread: copies the write-ahead log into the database over a connection of
// its own, when the writer has told it that there were commits. Ends when told to.
import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { describeError } from '../../../base/errors.ts';
import { type CheckpointStep, nextCheckpoint } from './checkpoint-plan.ts';
import type { CheckpointOrder, CheckpointReport, CheckpointTask } from './checkpointer.ts';
import { openForCheckpoints } from './database-file.ts';

const { file, limits } = workerData as CheckpointTask;
const db = openForCheckpoints(file);
const port = parentPort!;

/** After a reader was in the way: backups take a while, and each try makes the writer wait. */
const AGAIN_AFTER_READER_MS = 1000;
const MODES = { copy: 'PASSIVE', begin_anew: 'RESTART', shrink: 'TRUNCATE' } as const;

interface CheckpointRow {
  /** 1: somebody was in the way. */
  busy: number;
  log: number;
  checkpointed: number;
}

class Checkpoints {
  #heldByReaderUntil = 0;

  look(quiet: boolean): CheckpointReport {
    let step = this.#next(quiet);
    if (step === 'copy') {
      this.#run(MODES.copy);
      step = this.#next(quiet);
    }
    return step === 'begin_anew' || step === 'shrink' ? { kind: 'needs_pause', step } : this.#looked();
  }

  /** While the writer waits. */
  runAlone(step: 'begin_anew' | 'shrink'): CheckpointReport {
    const { busy } = this.#run(MODES[step]);
    if (busy === 1) this.#heldByReaderUntil = performance.now() + AGAIN_AFTER_READER_MS;
    return this.#looked();
  }

  #looked(): CheckpointReport {
    return { kind: 'looked', inVain: performance.now() < this.#heldByReaderUntil };
  }

  #next(quiet: boolean): CheckpointStep {
    const { log, checkpointed } = this.#run('NOOP');
    // -1 stands for a log that has not been opened yet.
    const [pages, copied] = [Math.max(0, log), Math.max(0, checkpointed)];
    const fileBytes = fs.statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const heldByReader = performance.now() < this.#heldByReaderUntil;
    return nextCheckpoint({ pages, copied, fileBytes, quiet, heldByReader }, limits).decision;
  }

  #run(mode: 'NOOP' | (typeof MODES)[keyof typeof MODES]): CheckpointRow {
    return (db.pragma(`wal_checkpoint(${mode})`) as CheckpointRow[])[0]!;
  }
}

const checkpoints = new Checkpoints();
port.postMessage({ kind: 'ready' } satisfies CheckpointReport);
port.on('message', (order: CheckpointOrder) => {
  if (order.kind === 'close') {
    db.close();
    port.close();
    return;
  }
  try {
    port.postMessage(order.kind === 'look' ? checkpoints.look(order.quiet) : checkpoints.runAlone(order.step));
  } catch (error) {
    port.postMessage({ kind: 'failed', reason: describeError(error) } satisfies CheckpointReport);
  }
});
