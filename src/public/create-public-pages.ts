// The pages that everybody may see: the API description for programs (/openapi.json) and for
// people (/docs), the guide, the mark. They are outside of the API's rules about answers.
import { readFile } from 'node:fs/promises';
import type { Route } from '../http/router.ts';
import { staticPage } from '../http/static-page.ts';
import { apiReader } from './api-reader.ts';
import { docsStyle } from './docs-page.ts';
import { guidePages } from './guide.ts';
import { icons } from './icons.ts';

const DESCRIPTION = new URL('../../schema/openapi.json', import.meta.url);

export interface PublicPages {
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
