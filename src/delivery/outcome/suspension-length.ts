// How long a pause lasts that a reply calls for. A permanent refusal is a verdict, and its rule's time
// applies. A temporary one is not: its pause begins with what the words can mean, a minute unless the rule
// says otherwise, and doubles while it repeats. A time that the reply names is respected. Pure.
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import type { SuspensionRule } from '../../classify/bounce-rule.ts';
import { findNamedDelay } from '../../protocol/smtp/named-delay.ts';
import type { Suspension } from '../../store/shaping.ts';

/** The last pause of the same mail for the same reason. */
export interface EarlierPause {
  ms: number;
  until: number;
}

/** Most limits are per minute. */
const FIRST_PAUSE_MS = MINUTE_MS;
/** The longest pause that one reply can cause, whatever time it names. */
const MAX_NAMED_MS = 4 * HOUR_MS;
/** A pause is a repetition within the last one's length after its end, or within this time if that is longer. */
const REPEATED_WITHIN_MS = 15 * MINUTE_MS;
/** Refusals within this time count as one. */
export const SAME_REPLY_MS = 10 * SECOND_MS;

export function pauseBounds(
  { forMs, fromMs }: SuspensionRule,
  smtpCode: number | null,
): { first: number; longest: number } {
  const isVerdict = smtpCode !== null && smtpCode >= 500;
  return { first: isVerdict ? forMs : Math.min(fromMs ?? FIRST_PAUSE_MS, forMs), longest: forMs };
}

export interface PauseFacts {
  suspend: SuspensionRule;
  smtpCode: number | null;
  /** The reply's text: it may name a time, or the period of the limit. */
  response: string;
  earlier: EarlierPause | null;
}

export function pauseLength({ suspend, smtpCode, response, earlier }: PauseFacts, now: number): number {
  const { first: least, longest } = pauseBounds(suspend, smtpCode);
  const first = Math.min(Math.max(least, byPeriod(response)), longest);
  const repeats = earlier !== null && earlier.until <= now && !isForgotten(earlier, now);
  const grown = repeats ? Math.min(Math.max(earlier.ms * 2, first), longest) : first;
  const namedMs = findNamedDelay(response);
  if (namedMs === null) return grown;
  const named = Math.min(namedMs, MAX_NAMED_MS);
  return repeats ? Math.max(named, grown) : named;
}

/** Limits per hour or day are rolling: part of them is free again long before the period ends. */
function byPeriod(response: string): number {
  if (/\b(?:daily|(?:per|a|each|one|24|this|last|past) ?-?(?:days?|24 ?h))\b/i.test(response)) return HOUR_MS;
  return /\b(?:hourly|(?:per|an|each|one|this|last|past) hours?)\b/i.test(response) ? 10 * MINUTE_MS : 0;
}

export function isForgotten({ ms, until }: EarlierPause, now: number): boolean {
  return now - until > Math.max(ms, REPEATED_WITHIN_MS);
}

/** Mail was delivered after the pause, so it was long enough. Null: nothing is left to remember. */
export function shrunk(earlier: EarlierPause): EarlierPause | null {
  const ms = earlier.ms / 2;
  return ms < FIRST_PAUSE_MS ? null : { ...earlier, ms };
}

type Span = Pick<Suspension, 'since' | 'until'>;

/** Whether a refusal changes the present pause. A verdict does, even right behind a temporary refusal: its pause is longer. */
export function isNews(known: Span | null, { since, until }: Span): boolean {
  if (known === null || known.until <= since) return true;
  return since - known.since >= SAME_REPLY_MS || until - known.until >= SAME_REPLY_MS;
}
