// /docs: the API description for people, shown by Swagger UI out of its npm package. What it calls is this
// service alone.
import fs, { readFileSync } from 'node:fs';
import { type Html, html } from '../http/html.ts';
import type { Route } from '../http/router.ts';
import { contentHash, staticPage } from '../http/static-page.ts';

const START_SCRIPT = `// Opens the reader, light or dark as the system says. Keys that are typed in are forgotten with the page.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
// Swagger UI sends the example of a parameter unless it is deleted: an optional one is only to read.
const onlyToRead = (parameter) => {
  if (parameter.required || parameter.example === undefined) return;
  parameter.description += '\\n\\nExample: \`' + parameter.example + '\`';
  delete parameter.example;
};
const examplesToRead = (description) => {
  const calls = Object.values(description.paths).flatMap((path) => Object.values(path));
  const listed = calls.flatMap((call) => call.parameters ?? []);
  [...listed, ...Object.values(description.components.parameters)].forEach(onlyToRead);
  return description;
};
const updateSpec = (original) => (text) => original(text && JSON.stringify(examplesToRead(JSON.parse(text))));
SwaggerUIBundle({
  plugins: [{ statePlugins: { spec: { wrapActions: { updateSpec } } } }],
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
          path: READER_PATH,
          title: 'API reference',
          body,
          styles: [viewerCss, style, readerCss],
          scripts: [viewer, start],
        }),
      ),
  });
  return [{ method: 'GET', pattern: READER_PATH, handler: page }, viewerCss, readerCss, viewer, start];
}

function packaged(name: string): Buffer {
  return fs.readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
}

// The frame of the pages under /docs: the mark, the way to the others, the style. As the portal it has no
// script or style of its own inside, so that the policy can forbid them; nothing is loaded from elsewhere.

export const GUIDE_PATH = '/docs/guide';
const READER_PATH = '/docs';

export const HTML_TYPE = 'text/html; charset=utf-8';

/** `connect-src` is for the API description, and for calls that people try out. */
export const DOCS_POLICY = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
} as const;

const ENTRIES = [
  { path: GUIDE_PATH, label: 'Guide' },
  { path: READER_PATH, label: 'API reference' },
  { path: '/portal', label: 'Portal' },
] as const;

/** The path changes with the content, so a copy is good for ever. */
function docsAsset(name: string, mediaType: string, bytes: Buffer): Route {
  const handler = staticPage({
    mediaType: `${mediaType}; charset=utf-8`,
    cache: 'public, max-age=31536000, immutable',
    load: async () => bytes,
  });
  return { method: 'GET', pattern: `/docs/${contentHash(bytes)}/${name}`, handler };
}

/** Reads its file at once; call at the start. */
export function docsStyle(): Route {
  return docsAsset('docs.css', 'text/css', readFileSync(new URL('./assets/docs.css', import.meta.url)));
}

interface DocsPage {
  /** Which of the entries it is; null for none. */
  path: string | null;
  title: string;
  body: Html;
  styles: readonly Route[];
  scripts?: readonly Route[];
}

export function docsPage({ path, title, body, styles, scripts = [] }: DocsPage): string {
  const links = ENTRIES.map(
    (entry) =>
      html`<li><a href="${entry.path}"${entry.path === path && html` aria-current="page"`}>${entry.label}</a></li>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Postrider</title>
<link rel="icon" href="/favicon.ico" sizes="32x32">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${styles.map(({ pattern }) => html`<link rel="stylesheet" href="${pattern}">\n`)}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<a class="brand" href="/portal"><img src="/favicon.svg" alt="" width="28" height="28">Postrider</a>
<nav aria-label="Documentation"><ul>${links}</ul></nav>
</header>
${body}
${scripts.map(({ pattern }) => html`<script src="${pattern}"></script>\n`)}</body>
</html>
`.text;
}
