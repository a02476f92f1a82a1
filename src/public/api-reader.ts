// /docs: the API description for people, shown by Swagger UI out of its npm package. What it calls is this
// service alone.
import fs from 'node:fs';
import { html } from '../http/html.ts';
import type { Route } from '../http/router.ts';
import { staticPage } from '../http/static-page.ts';
import { DOCS_POLICY, docsAsset, docsPage, HTML_TYPE, READER_PATH } from './docs-page.ts';

const START_SCRIPT = `// Opens the reader, light or dark as the system says. Keys that are typed in are forgotten with the page.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reader',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

/** Reads its files at once; call at the start. */
export function apiReader(style: Route): Route[] {
  const viewerCss = docsAsset('swagger-ui.css', 'text/css', packaged('swagger-ui.css'));
  const readerCss = docsAsset(
    'reader.css',
    'text/css',
    fs.readFileSync(new URL('./assets/reader.css', import.meta.url)),
  );
  const viewer = docsAsset('swagger-ui-bundle.js', 'text/javascript', packaged('swagger-ui-bundle.js'));
  const start = docsAsset('start.js', 'text/javascript', Buffer.from(START_SCRIPT));
  // Swagger UI brings a <main> of its own.
  const body = html`<div id="main" tabindex="-1">
<h1 class="unseen">API reference</h1>
<div id="reader"></div>
<noscript><p>This page needs JavaScript. <a href="/openapi.json">/openapi.json</a> has the same content.</p></noscript>
</div>`;
  const page = staticPage({
    mediaType: HTML_TYPE,
    cache: 'no-cache',
    headers: DOCS_POLICY,
    load: async () =>
      Buffer.from(
        docsPage({
          ...{ path: READER_PATH, title: 'API reference', body },
          ...{ styles: [viewerCss, style, readerCss], scripts: [viewer, start] },
        }),
      ),
  });
  return [{ method: 'GET', pattern: READER_PATH, handler: page }, viewerCss, readerCss, viewer, start];
}

function packaged(name: string): Buffer {
  return fs.readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
}
