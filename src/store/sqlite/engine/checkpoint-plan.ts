// When the write-ahead log is copied into the database, and how. Left to SQLite, a commit does it
// every 1,000 pages: two more fsyncs and 4 MB of scattered writes, on the thread that serves
// everybody. Here it is decided for a thread of its own; a pure function of what the log is like.

export interface LogState {
  /** Pages in the log since it was last begun anew, copied ones included. */
  pages: number;
  copied: number;
  /** Of the file, which keeps its size when the log begins anew. */
  fileBytes: number;
  /** Nothing has been committed for a while. */
  quiet: boolean;
  /** A reader has lately kept the log from beginning anew. */
  heldByReader: boolean;
}

/**
 * `copy`: as far as readers allow, beside the writer (PASSIVE). `begin_anew`: copy all, so that the
 * next commit overwrites the log from its start (RESTART). `shrink`: the same, and give its file back
 * to the disk (TRUNCATE). Both need the writer to wait.
 */
export type CheckpointStep = 'none' | 'copy' | 'begin_anew' | 'shrink';

export interface CheckpointDecision {
  decision: CheckpointStep;
  reason: string;
}

export interface CheckpointLimits {
  copyFromPages: number;
  beginAnewFromPages: number;
  shrinkFromBytes: number;
}

export const CHECKPOINT_LIMITS: CheckpointLimits = {
  // SQLite's own measure, 4 MiB: large enough that a page that is written often is copied once.
  copyFromPages: 1000,
  // 64 MiB of pages of 4 KiB. Readers look through the index of the whole log for each page, and a
  // crash has all of it read at the next start.
  beginAnewFromPages: 16_384,
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
  // After a copy: little is left then, and the writer waits for little.
  if (log.pages >= limits.beginAnewFromPages)
    return { decision: 'begin_anew', reason: `the log has ${log.pages} pages` };
  return { decision: 'none', reason: `only ${waiting} pages wait` };
}
