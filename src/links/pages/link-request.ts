// What the pages behind links in mail share: the client, whether a fetch counts, and headers that keep them out of
// caches and search engines.
import type { HttpReply, HttpRequest } from '../../http/http.ts';

export const NEVER_STORED = {
  'Cache-Control': 'no-store, private',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
} as const;

/**
 * Whether it is a real fetch: not HEAD, which programs use to check links, and not a prefetch. Sec-Purpose is from the
 * Fetch standard, the others are older names of browsers.
 */
export function counts(request: HttpRequest): boolean {
  if (request.method !== 'GET') return false;
  const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map((name) => request.header(name) ?? '');
  return !purposes.some((purpose) => /prefetch|prerender|preview/i.test(purpose));
}

export function fetcherOf(request: HttpRequest): { ip: string; userAgent: string | null } {
  return { ip: request.clientAddress, userAgent: request.header('user-agent') || null };
}

/** For tokens that are not ours, and for all unknown paths. */
export function nothingThere(): HttpReply {
  return {
    status: 404,
    headers: { ...NEVER_STORED, 'Content-Type': 'text/plain; charset=utf-8' },
    body: 'Not found. If you copied this link from a mail, make sure it is complete.\n',
  };
}
