// How many messages a session gets at once, by how long the server takes for one: a session that is
// fed asks whose turn it is after each batch, so slow servers get smaller batches.

export interface Pace {
  /** How long a message takes, on average; null: nobody knows yet. */
  ms: number | null;
}

// As long as nobody knows how slow the server is. Fewer would open more connections for a few messages.
const FIRST_BATCH_OF_A_STRANGER = 10;
/** A session asks whose turn it is this often at least: others wait no longer than that. */
const BATCH_MS = 800;
// How much the latest message counts in the average of how long one takes.
const PACE_WEIGHT = 0.2;

export function notePace(pace: Pace, elapsedMs: number): void {
  pace.ms = pace.ms === null ? elapsedMs : pace.ms + PACE_WEIGHT * (elapsedMs - pace.ms);
}

export function batchSize({ ms }: Pace, most: number): number {
  if (ms === null) return Math.min(most, FIRST_BATCH_OF_A_STRANGER);
  return Math.max(1, Math.min(most, Math.floor(BATCH_MS / Math.max(ms, 1))));
}
