// `scheduled_at` as Resend's users write it: a time, or words like "in 5 min". Only the words are read here; what is left
// is a time in RFC 3339 for the service to check.
import { DAY_MS, HOUR_MS, MINUTE_MS, toTimestamp } from '../../base/clock.ts';

export type ReadSchedule = { ok: true; sendAt: string } | { ok: false; problem: string };

const WORDS = /^in +(\d{1,6}) +(mins?|minutes?|hours?|days?)$/i;
/** Whatever begins like a date is meant as a time. */
const TIME = /^\d{4}-/;

export function readScheduledAt(text: string, now: number): ReadSchedule {
  const given = text.trim();
  if (TIME.test(given)) return { ok: true, sendAt: given };
  const [, count, unit] = WORDS.exec(given) ?? [];
  if (count !== undefined && unit !== undefined) {
    return { ok: true, sendAt: toTimestamp(now + Number(count) * unitMs(unit.toLowerCase())) };
  }
  const inAnHour = toTimestamp(now + HOUR_MS);
  return {
    ok: false,
    problem: `write the time as RFC 3339, such as ${inAnHour} for in one hour, or as "in 5 min", "in 2 hours" or "in 1 day".`,
  };
}

function unitMs(unit: string): number {
  if (unit.startsWith('min')) return MINUTE_MS;
  return unit.startsWith('hour') ? HOUR_MS : DAY_MS;
}
