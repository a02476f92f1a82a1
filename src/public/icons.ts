// The mark: a post horn, drawn once. Its address stays the same, because browsers ask for it by themselves.
import { readFileSync } from 'node:fs';
import type { Route } from '../http/router.ts';
import { staticPage } from '../http/static-page.ts';

const ICONS = { 'favicon.svg': 'image/svg+xml', 'favicon.ico': 'image/x-icon' } as const;

/** Reads its files at once; call at the start. */
export function icons(): Route[] {
  return Object.entries(ICONS).map(([name, mediaType]) => {
    const bytes = readFileSync(new URL(`./assets/${name}`, import.meta.url));
    const handler = staticPage({
      mediaType,
      cache: 'public, max-age=86400',
      // Nothing in it runs when somebody opens it by itself.
      headers: { 'Content-Security-Policy': "default-src 'none'" },
      load: async () => bytes,
    });
    return { method: 'GET', pattern: `/${name}`, handler };
  });
}
