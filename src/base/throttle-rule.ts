// How attempts are throttled: some are free, then each must wait twice as long as the one before. Who keeps the counts is
// decided elsewhere.

export interface ThrottleRule {
  freeTries: number;
  firstWaitMs: number;
  longestWaitMs: number;
  /** Forgotten after so long without an attempt. */
  forgetAfterMs: number;
}

export interface Tries {
  count: number;
  /** When the next attempt is allowed. */
  openAt: number;
  forgottenAt: number;
}

/** 0: an attempt is allowed now. */
export function waitAfter(tries: Tries | undefined, now: number): number {
  return tries && tries.forgottenAt > now ? Math.max(0, tries.openAt - now) : 0;
}

/** `before` and one more attempt. */
export function countTry(rule: ThrottleRule, before: Tries | undefined, now: number): Tries {
  const count = (before && before.forgottenAt > now ? before.count : 0) + 1;
  const over = count - rule.freeTries;
  const waitMs = over < 0 ? 0 : Math.min(rule.longestWaitMs, rule.firstWaitMs * 2 ** over);
  return { count, openAt: now + waitMs, forgottenAt: now + rule.forgetAfterMs };
}
