// A token bucket: a burst of tokens, refilled continuously. It is stored as one number, the time when it is full again,
// so that millions of them take little memory, and a full one is the same as none.
// Times must come from a `steadyClock`: after a clock was set back, everyone would wait for it to catch up, and
// milliseconds since 1970 leave too few digits for fractions of a millisecond to add up.

export interface TokenBucket {
  capacity: number;
  /** From one token to the next. */
  refillMs: number;
}

/** Rounding errors in fractions of a millisecond must not cost a token. */
export const ROUNDING_MS = 1e-2;

/** When the bucket is full again after these tokens are taken. It may go below zero. */
export function fullAfter({ refillMs }: TokenBucket, fullAt: number, now: number, tokens = 1): number {
  return Math.max(fullAt, now) + tokens * refillMs;
}

/** Negative when more tokens were taken than there were. */
export function tokensLeft({ capacity, refillMs }: TokenBucket, fullAt: number, now: number): number {
  return fullAt > now ? capacity - (fullAt - now) / refillMs : capacity;
}

/** 0: a token can be taken now. */
export function tokenWaitMs(bucket: TokenBucket, fullAt: number, now: number): number {
  const waitMs = fullAfter(bucket, fullAt, now) - now - bucket.capacity * bucket.refillMs;
  return waitMs <= ROUNDING_MS ? 0 : waitMs;
}
