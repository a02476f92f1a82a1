// Entry of the checkpoint thread: copies the write-ahead log into the database over its own connection when the
// writer reports commits. Ends on order.
import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { describeError } from '../../../base/errors.ts';
import { type CheckpointStep, nextCheckpoint } from './checkpoint-plan.ts';
import type { CheckpointOrder, CheckpointReport, CheckpointTask } from './checkpointer.ts';
import { openForCheckpoints } from './database-file.ts';

const { file, limits } = workerData as CheckpointTask;
const db = openForCheckpoints(file);
const port = parentPort!;

/** After a reader blocked a restart: backups take a while, and each attempt makes the writer wait. */
const RETRY_AFTER_READER_MS = 1000;
const MODES = { copy: 'PASSIVE', restart: 'RESTART', shrink: 'TRUNCATE' } as const;

interface CheckpointRow {
  /** 1: another connection blocked it. */
  busy: number;
  log: number;
  checkpointed: number;
}

class Checkpoints {
  #heldByReaderUntil = 0;

  check(quiet: boolean): CheckpointReport {
    let step = this.#next(quiet);
    if (step === 'copy') {
      this.#run(MODES.copy);
      step = this.#next(quiet);
    }
    return step === 'restart' || step === 'shrink' ? { kind: 'needs_pause', step } : this.#checked();
  }

  /** While the writer waits. */
  runAlone(step: 'restart' | 'shrink'): CheckpointReport {
    const { busy } = this.#run(MODES[step]);
    if (busy === 1) this.#heldByReaderUntil = performance.now() + RETRY_AFTER_READER_MS;
    return this.#checked();
  }

  #checked(): CheckpointReport {
    return { kind: 'checked', blocked: performance.now() < this.#heldByReaderUntil };
  }

  #next(quiet: boolean): CheckpointStep {
    const { log, checkpointed } = this.#run('NOOP');
    // -1 means that the log has not been opened yet.
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
    port.postMessage(order.kind === 'check' ? checkpoints.check(order.quiet) : checkpoints.runAlone(order.step));
  } catch (error) {
    port.postMessage({ kind: 'failed', reason: describeError(error) } satisfies CheckpointReport);
  }
});
