// The header field Retry-After (RFC 9110 section 10.2.3): seconds or a date.
import { SECOND_MS } from '../clock.ts';

/** In milliseconds from now; null: there is none that can be read. */
export function readRetryAfter(value: string | string[] | undefined, now: number): number | null {
  if (typeof value !== 'string') return null;
  const ms = /^\d+$/.test(value) ? Number(value) * SECOND_MS : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
