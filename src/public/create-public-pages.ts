// The pages that everybody may see: the API description for programs (/openapi.json) and for
// people (/docs), the guide, the mark. They are outside of the API's rules about answers.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Route } from '../http/router.ts';
import { staticPage } from '../http/static-page.ts';
import { apiReader } from './api-reader.ts';
import { docsStyle } from './docs-page.ts';
import { guidePages } from './guide.ts';
import { icons } from './icons.ts';

export interface PublicPages {
  routes: Route[];
  /** Of the pages under /docs. */
  style: Route;
}

/** Reads the files of the reader at once; call at the start. */
export function createPublicPages(): PublicPages {
  const style = docsStyle();
  const description = staticPage({ mediaType: 'application/json', cache: 'no-cache', load: describe });
  const openapi: Route = { method: 'GET', pattern: '/openapi.json', handler: description };
  return { routes: [openapi, ...icons(), style, ...apiReader(style), ...guidePages(style)], style };
}

/**
 * Reading the YAML takes 0.3 s of a processor: too long for the main thread while it works, and
 * for every start of a daemon whose description nobody asks for.
 */
async function describe(): Promise<Buffer> {
  const thread = new Worker(new URL('./description-thread.ts', import.meta.url));
  const [json] = await once(thread, 'message');
  return Buffer.from(json);
}
