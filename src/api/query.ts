// Query parameters of reading endpoints: each known, each given once. An empty one counts as absent, like null in a body.
import { type Refusal, refuse } from '../base/refusals.ts';
import { parseMomentOrDay } from '../base/text/rfc3339.ts';
import type { Tag } from '../store/submissions.ts';
import { parseTag } from '../submission/labels.ts';

const MAX_SHOWN_CHARS = 60;

/** Null when there is nothing against the parameters. */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): Refusal | null {
  for (const name of query.keys()) {
    if (!known.includes(name)) {
      const problem =
        known.length > 0 ? 'unknown parameter.' : 'unknown parameter; this list is always returned whole.';
      return invalid(name.slice(0, MAX_SHOWN_CHARS), problem);
    }
    if (query.getAll(name).length > 1) return invalid(name, 'must be given only once.');
  }
  return null;
}

export function readLimit(query: URLSearchParams, { max, byDefault }: { max: number; byDefault: number }) {
  const limit = query.get('limit') || String(byDefault);
  if (/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= max) return Number(limit);
  return invalid('limit', `must be an integer from 1 to ${max}.`);
}

/** One of a list of words; null when the parameter is absent. */
export function readChoice<Word extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly Word[],
): Word | null | Refusal {
  const given = query.get(name) || null;
  const word = words.find((known) => known === given);
  if (given === null || word !== undefined) return word ?? null;
  return invalid(name, `must be one of ${words.join(', ')}.`);
}

/** Null when the parameter is absent. */
export function readTag(query: URLSearchParams): Tag | null | Refusal {
  const text = query.get('tag') || null;
  if (text === null) return null;
  return parseTag(text) ?? invalid('tag', 'must be the name and value of a tag, like campaign:spring.');
}

/** Null when the parameter is absent. */
export function readTime(query: URLSearchParams, name: string): number | null | Refusal {
  const text = query.get(name) || null;
  if (text === null) return null;
  const problem = `must be an RFC 3339 time, like 2026-11-20T09:00:00Z, or a date.${plusAdvice(text)}`;
  return parseMomentOrDay(text) ?? invalid(name, problem);
}

/** What was a `+`, of a zone or in an address, arrives as a space. */
export function plusAdvice(text: string): string {
  return text.includes(' ') ? ' In a URL, write + as %2B.' : '';
}

/** The queue of the reading process turns over in seconds. */
const RETRY_AFTER_SECS = 2;

/** For a question that the reading process did not answer. */
export function refuseUnread(reason: string): Refusal {
  return { ...refuse('internal_error', reason), retryAfterSecs: RETRY_AFTER_SECS };
}

export function invalid(field: string, problem: string): Refusal {
  return refuse('validation_failed', `${field}: ${problem}`);
}
