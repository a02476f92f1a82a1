// When to try again: a ladder of pauses (data, from the configuration) with jitter.

export interface RetryLadder {
  /** The pause after the first, second, … attempt; the last one repeats. */
  stepsMs: readonly number[];
  /** 0.2 means each pause is stretched or shrunk by up to 20 %. */
  jitter: number;
}

export function pauseAfterAttempt(ladder: RetryLadder, attempt: number, random: () => number): number {
  const step = ladder.stepsMs[Math.min(attempt, ladder.stepsMs.length) - 1] ?? 0;
  return Math.round(step * (1 + ladder.jitter * (2 * random() - 1)));
}
