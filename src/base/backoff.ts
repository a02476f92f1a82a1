// When to retry: a ladder of pauses (data, from the configuration) with jitter.

export interface RetryLadder {
  /** The pause after the first, second, … attempt; the last one repeats. */
  stepsMs: readonly number[];
  /** 0.2 means that each pause is lengthened or shortened by up to 20 %. */
  jitter: number;
}

export function pauseAfterAttempt(ladder: RetryLadder, attempt: number, random: () => number): number {
  const step = atStep(ladder.stepsMs, attempt) ?? 0;
  return Math.round(step * (1 + ladder.jitter * (2 * random() - 1)));
}

/** The pause after each attempt, from the first: for callers that do not know the number of the attempt yet. */
export function pausesAfterAttempts(ladder: RetryLadder, random: () => number): number[] {
  return ladder.stepsMs.map((_, index) => pauseAfterAttempt(ladder, index + 1, random));
}

/** The value for a step, counted from 1; the last value also applies to all later steps. */
export function atStep<T>(values: readonly T[], step: number): T | undefined {
  return values[Math.min(step, values.length) - 1];
}
