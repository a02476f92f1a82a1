// Time as a parameter: everything that needs the time gets a Clock, so that tests can control it. All times inside
// Postrider are milliseconds since 1970.

export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/**
 * Milliseconds since its creation, from a clock that may be set back: it then continues from its last value. The
 * numbers are small, so that fractions of a millisecond can be added to them.
 */
export function steadyClock(clock: Clock): Clock {
  let origin = clock.now();
  let latest = 0;
  return {
    now() {
      const shown = clock.now() - origin;
      if (shown < latest) origin -= latest - shown;
      latest = Math.max(latest, shown);
      return latest;
    },
  };
}

/** RFC 3339 in UTC with milliseconds, the only format of times outside the daemon. */
export function toTimestamp(ms: number): string {
  // A damaged row can contain a time beyond the calendar, and must still be listed.
  return new Date(Math.min(ms, LAST_TIME_MS)).toISOString();
}

/** The end of JavaScript's calendar (ECMA-262, time values). */
const LAST_TIME_MS = 8.64e15;

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
