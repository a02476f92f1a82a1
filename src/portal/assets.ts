// The portal's own style and scripts, read once at the start. Their paths change with their content,
// so a copy is good for ever.
import { readdirSync, readFileSync } from 'node:fs';
import { Fault } from '../base/errors.ts';
import type { Route } from '../http/router.ts';
import { contentHash, staticPage } from '../http/static-page.ts';

const FOLDER = new URL('./assets/', import.meta.url);
const MEDIA_TYPES: Readonly<Record<string, string>> = { css: 'text/css', js: 'text/javascript' };

export interface Assets {
  routes: Route[];
  /** The path of a file of the folder. */
  pathOf(name: string): string;
}

/** Reads all files; call at the start. */
export function loadAssets(): Assets {
  const paths = new Map<string, string>();
  const routes = readdirSync(FOLDER).map((name): Route => {
    const bytes = readFileSync(new URL(name, FOLDER));
    const mediaType = MEDIA_TYPES[name.split('.').at(-1)!];
    if (!mediaType) throw new Fault(`src/portal/assets/${name} is of no known kind`);
    const pattern = `/portal/assets/${contentHash(bytes)}/${name}`;
    paths.set(name, pattern);
    const handler = staticPage({
      mediaType: `${mediaType}; charset=utf-8`,
      cache: 'public, max-age=31536000, immutable',
      load: async () => bytes,
    });
    return { method: 'GET', pattern, handler };
  });
  return {
    routes,
    pathOf(name) {
      const path = paths.get(name);
      if (path === undefined) throw new Fault(`there is no ${name} in src/portal/assets`);
      return path;
    },
  };
}
