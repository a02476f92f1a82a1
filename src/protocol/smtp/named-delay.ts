// Finds the delay in the text of a temporary rejection, such as "try again in 5 minutes" or "greylisted for 300
// seconds". No RFC defines a field for it; the wording is free. Only a duration that belongs to a request to retry
// counts, not limits, sizes and counters ("300 messages in 60 minutes"). When in doubt, there is no delay.
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts';

const MAX_TEXT_CHARACTERS = 1_000;
const MAX_DELAY_MS = DAY_MS;

// Words for a retry or a delay.
const ASK = 'try|re-?try|re-?trying|again|wait|come back|re-?send|re-?submit|re-?connect|back off|pause';
const STATE = '(?:gr[ae]y-?list(?:ed|ing)?|deferred|delayed|throttled|blocked|penali[sz]ed|rate.?limited)';
// Words allowed between them and the duration; any other word breaks the connection.
const LINK =
  'again|later|in|after|for|at|least|about|around|approximately|approx|another|once|only|the|next|is|time|period|delay|minimum|you|your|message|mail|email|request|connection|delivery|sending|it|this|please|until';
// "after" and "allow" use the opposite order: "after 15 minutes please retry".
const AFTERWARDS =
  ',?\\s+(?:and\\s+|then\\s+|before\\s+|please\\s+|to\\s+)*(?:re-?try(?:ing)?|try(?:ing)?|re-?send(?:ing)?)\\b';

const UNIT = '(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|hr|h|days?|d)(?![a-z])';
// "5-10 minutes", "5 to 10 minutes": the longer one is safe.
const AMOUNT = '(?:\\d{1,6}\\s*(?:-|to)\\s*)?(?:\\d{1,6}(?:\\.\\d{1,3})?\\s*|(?:an?|one)\\s+)(?:more\\s+|full\\s+)?';
const PART = AMOUNT + UNIT;
const CLOCK = '\\d{1,3}:\\d{2}:\\d{2}(?!\\d)';
const DURATION = `(${CLOCK}|${PART}(?:(?:\\s*,|\\s+and)?\\s*${PART}){0,3})`;

const GAP = '[\\s,:(~=-]';
const FORWARD = new RegExp(`\\b(?:${ASK}|${STATE})\\b(?:${GAP}+(?:${LINK})\\b){0,8}${GAP}*(?<![\\d.])${DURATION}`, 'i');
const BACKWARD = new RegExp(
  `\\b(?:after|allow)(?:\\s+(?:at|least|about|another)){0,3}\\s+${DURATION}${AFTERWARDS}`,
  'i',
);
const AMOUNT_AND_UNIT = new RegExp(`(\\d+(?:\\.\\d+)?\\s*|\\b(?:an?|one)\\s+)(?:more\\s+|full\\s+)?(${UNIT})`, 'gi');

/** Milliseconds, at most a day; null when the server names none. */
export function findNamedDelay(text: string): number | null {
  const bounded = text.slice(0, MAX_TEXT_CHARACTERS);
  const duration = (FORWARD.exec(bounded) ?? BACKWARD.exec(bounded))?.[1];
  if (duration === undefined) return null;
  const delayMs = duration.includes(':') ? clockToMs(duration) : partsToMs(duration);
  return delayMs > 0 ? Math.min(Math.round(delayMs), MAX_DELAY_MS) : null;
}

function clockToMs(clock: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number);
  return hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS;
}

function partsToMs(duration: string): number {
  let total = 0;
  for (const [, amount = '', unit = ''] of duration.matchAll(AMOUNT_AND_UNIT)) {
    total += (/^\d/.test(amount) ? Number(amount) : 1) * unitToMs(unit);
  }
  return total;
}

function unitToMs(unit: string): number {
  switch (unit[0]?.toLowerCase()) {
    case 's':
      return SECOND_MS;
    case 'm':
      return MINUTE_MS;
    case 'h':
      return HOUR_MS;
    default:
      return DAY_MS;
  }
}
