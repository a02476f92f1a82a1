// Markup of others for a frame in which nothing is loaded. Its policy does not hold back what a browser prepares:
// the names of `link` are looked up, and connections are opened for frames before they are refused (seen in
// Chromium 2026-11). Whoever wrote the mail would learn that it is read, and from where.

import { type Html, html } from '../http/html.ts';

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

/**
 * For the frame and for the policy of what is in it: nothing runs, no form is sent, and no link leads out. The origin
 * stays the portal's, or its script could not read how high the content is; with scripts allowed as well, the markup
 * could take that frame away. Mail of strangers has no such frame: its origin is nobody's.
 */
export const MEASURED_SANDBOX = 'allow-same-origin';

/** As high as what it shows, where there is script. */
export function measuredFrame(title: string, path: string): Html {
  return html`<iframe class="preview" sandbox="${MEASURED_SANDBOX}" data-measured title="${title}" src="${path}"></iframe>`;
}
