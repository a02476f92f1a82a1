// What the pages behind links in mail have in common: who asks, whether it counts, and the headers
// that keep copies of them out of caches and search engines.
import type { HttpReply, HttpRequest } from '../../http/http.ts';

export const NEVER_STORED = {
  'Cache-Control': 'no-store, private',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
} as const;

/**
 * Whether somebody really fetches it: not by HEAD, which programs use to look whether a link lives, and
 * not ahead of time. Sec-Purpose is the Fetch standard's, the others are older names of browsers.
 */
export function counts(request: HttpRequest): boolean {
  if (request.method !== 'GET') return false;
  const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map((name) => request.header(name) ?? '');
  return !purposes.some((purpose) => /prefetch|prerender|preview/i.test(purpose));
}

export function fetcherOf(request: HttpRequest): { ip: string; userAgent: string | null } {
  return { ip: request.clientAddress, userAgent: request.header('user-agent') || null };
}

/** For tokens that we have not made, and for everything else that is not there. */
export function nothingThere(): HttpReply {
  return {
    status: 404,
    headers: { ...NEVER_STORED, 'Content-Type': 'text/plain; charset=utf-8' },
    body: 'Not found. If you copied this link from a mail, make sure it is complete.\n',
  };
}
