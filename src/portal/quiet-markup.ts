// Markup of others for a frame in which nothing is loaded. Its policy does not hold back what a browser prepares:
// the names of `link` are looked up, and connections are opened for frames before they are refused (seen in
// Chromium 2026-11). Whoever wrote the mail would learn that it is read, and from where.

/** Under other names browsers do nothing with them. */
const PREPARED = /<(?=(?:link|iframe|frame|object|embed|portal|fencedframe)[\s/>])/gi;

export function quietMarkup(source: string): string {
  return source.replace(PREPARED, '<no-');
}

/** Beside the policy of the frame. */
export const QUIET_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Referrer-Policy': 'no-referrer',
  'X-DNS-Prefetch-Control': 'off',
} as const;
