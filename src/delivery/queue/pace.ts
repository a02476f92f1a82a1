// The size of a session's batches, by how long the server takes per message: a session checks whose turn it
// is after each batch, so slow servers get smaller batches.

export interface Pace {
  /** The average time per message; null: unknown yet. */
  ms: number | null;
}

// Used until the server's pace is known. A smaller batch would open more connections for a few messages.
const UNKNOWN_PACE_BATCH = 10;
/** The target duration of a batch: other tenants wait no longer than that for their turn. */
const BATCH_MS = 800;
// The weight of the latest message in the moving average.
const PACE_WEIGHT = 0.2;

export function notePace(pace: Pace, elapsedMs: number): void {
  pace.ms = pace.ms === null ? elapsedMs : pace.ms + PACE_WEIGHT * (elapsedMs - pace.ms);
}

export function batchSize({ ms }: Pace, max: number): number {
  if (ms === null) return Math.min(max, UNKNOWN_PACE_BATCH);
  return Math.max(1, Math.min(max, Math.floor(BATCH_MS / Math.max(ms, 1))));
}
