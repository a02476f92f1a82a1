// The pages that everybody may see: the API description for programs (/openapi.json) and for
// people (/docs), the guide, the mark. They are outside of the API's rules about answers.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Route } from '../http/router.ts';
import { staticPage } from '../http/static-page.ts';
import { apiReader, docsStyle } from './api-reader.ts';
import { guidePages } from './guide.ts';

const DESCRIPTION = new URL('../../schema/openapi.json', import.meta.url);

interface PublicPages {
  routes: Route[];
  /** Of the pages under /docs. */
  style: Route;
}

/** Reads the files of the reader at once; call at the start. */
export function createPublicPages(): PublicPages {
  const style = docsStyle();
  const description = staticPage({
    mediaType: 'application/json',
    cache: 'no-cache',
    load: () => readFile(DESCRIPTION),
  });
  const openapi: Route = { method: 'GET', pattern: '/openapi.json', handler: description };
  return { routes: [openapi, ...icons(), style, ...apiReader(style), ...guidePages(style)], style };
}

// The mark: a post horn, drawn once. Its address stays the same, because browsers ask for it by themselves.

const ICONS = { 'favicon.svg': 'image/svg+xml', 'favicon.ico': 'image/x-icon' } as const;

/** Reads its files at once; call at the start. */
function icons(): Route[] {
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
