// When the write-ahead log is copied into the database, and how. Left to SQLite, a commit does it every 1,000
// pages: two more fsyncs and 4 MB of scattered writes, on the thread that commits. Here it is decided for a
// separate thread, as a pure function of the log's state.

export interface LogState {
  /** Pages in the log since it was last restarted, copied ones included. */
  pages: number;
  copied: number;
  /** Size of the log file, which does not shrink when the log restarts. */
  fileBytes: number;
  /** Nothing has been committed for a while. */
  quiet: boolean;
  /** A reader has recently kept the log from restarting. */
  heldByReader: boolean;
}

/**
 * `copy`: as far as readers allow, beside the writer (PASSIVE). `restart`: copy all, so that the next commit
 * overwrites the log from its start (RESTART). `shrink`: the same, and truncate the file (TRUNCATE). The last two
 * need the writer to wait.
 */
export type CheckpointStep = 'none' | 'copy' | 'restart' | 'shrink';

export interface CheckpointDecision {
  decision: CheckpointStep;
  reason: string;
}

export interface CheckpointLimits {
  copyFromPages: number;
  restartFromPages: number;
  shrinkFromBytes: number;
}

export const CHECKPOINT_LIMITS: CheckpointLimits = {
  // SQLite's own default, 4 MiB: large enough that a page that is written often is copied once.
  copyFromPages: 1000,
  // 64 MiB of pages of 4 KiB. Readers search the index of the whole log for each page, and after a crash
  // all of it is read at the next start.
  restartFromPages: 16_384,
  shrinkFromBytes: 16 * 1024 * 1024,
};

export function nextCheckpoint(log: LogState, limits: CheckpointLimits = CHECKPOINT_LIMITS): CheckpointDecision {
  const waiting = log.pages - log.copied;
  const enough = waiting >= limits.copyFromPages;
  if (log.heldByReader) {
    if (enough) return { decision: 'copy', reason: 'a reader holds the log; what it allows is copied' };
    return { decision: 'none', reason: 'a reader holds the log' };
  }
  if (log.quiet && log.fileBytes >= limits.shrinkFromBytes) {
    return { decision: 'shrink', reason: `nothing is written, and the log takes ${log.fileBytes} bytes` };
  }
  if (enough) return { decision: 'copy', reason: `${waiting} pages wait` };
  // Only after a copy: then little is left to do, and the writer waits briefly.
  if (log.pages >= limits.restartFromPages) return { decision: 'restart', reason: `the log has ${log.pages} pages` };
  return { decision: 'none', reason: `only ${waiting} pages wait` };
}
