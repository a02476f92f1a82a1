// Query parameters of reading endpoints: each known, each given once. An empty one counts as absent, like null in a body.
import { type Refusal, refuse } from '../base/refusals.ts';

const MAX_SHOWN_CHARS = 60;

/** Null when there is nothing against the parameters. */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): Refusal | null {
  for (const name of query.keys()) {
    if (!known.includes(name)) return invalid(name.slice(0, MAX_SHOWN_CHARS), 'unknown parameter.');
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

export function invalid(field: string, problem: string): Refusal {
  return refuse('validation_failed', `${field}: ${problem}`);
}
