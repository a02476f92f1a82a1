// A token bucket: so many tokens at once, refilled continuously. It is kept as one number, the time at which it is
// full again, so that millions of them take little memory, and a full one is the same as none.
// Times must come from a `steadyClock`: one that is set back would make everybody wait for it to catch up, and the
// milliseconds since 1970 leave too few digits for fractions of a millisecond to add up.

export interface TokenBucket {
  capacity: number;
  /** From one token to the next. */
  refillMs: number;
}

/** Divisions leave crumbs of a millisecond, which must not cost anybody a token. */
export const CRUMB = 1e-2;

/** When the bucket is full again once these tokens are taken. It may go below zero. */
export function fullAfter({ refillMs }: TokenBucket, fullAt: number, now: number, tokens = 1): number {
  return Math.max(fullAt, now) + tokens * refillMs;
}

/** Negative when more was taken than there was. */
export function tokensLeft({ capacity, refillMs }: TokenBucket, fullAt: number, now: number): number {
  return fullAt > now ? capacity - (fullAt - now) / refillMs : capacity;
}

/** 0: a token can be taken now. */
export function tokenWaitMs(bucket: TokenBucket, fullAt: number, now: number): number {
  const waitMs = fullAfter(bucket, fullAt, now) - now - bucket.capacity * bucket.refillMs;
  return waitMs <= CRUMB ? 0 : waitMs;
}
