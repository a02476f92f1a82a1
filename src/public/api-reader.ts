// /docs: the API description for people, shown by Swagger UI out of its npm package. The page
// has no script or style of its own inside, so that the policy below can forbid them; nothing
// is loaded from elsewhere, and what it calls is this service alone.
import fs from 'node:fs';
import type { Route } from '../http/router.ts';
import { contentHash, staticPage } from '../http/static-page.ts';

/** `connect-src` is for the description, and for calls that people try out. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const START_SCRIPT = `// Opens the reader. Keys that are typed in are forgotten with the page.
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reader',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

const PAGE_STYLE = `body { margin: 0; background: #fff; }
.swagger-ui .info { margin: 24px 0; }
`;

/** Reads its files at once; call at the start. */
export function apiReader(): Route[] {
  const viewerCss = asset('swagger-ui.css', 'text/css', packaged('swagger-ui.css'));
  const pageCss = asset('page.css', 'text/css', Buffer.from(PAGE_STYLE));
  const viewer = asset('swagger-ui-bundle.js', 'text/javascript', packaged('swagger-ui-bundle.js'));
  const start = asset('start.js', 'text/javascript', Buffer.from(START_SCRIPT));
  const page = staticPage({
    mediaType: 'text/html; charset=utf-8',
    cache: 'no-cache',
    headers: { 'Content-Security-Policy': CONTENT_SECURITY_POLICY },
    load: async () => Buffer.from(html({ styles: [viewerCss, pageCss], scripts: [viewer, start] })),
  });
  return [{ method: 'GET', pattern: '/docs', handler: page }, viewerCss, pageCss, viewer, start];
}

function packaged(name: string): Buffer {
  return fs.readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
}

/** The path changes with the content, so a copy is good for ever. */
function asset(name: string, mediaType: string, bytes: Buffer): Route {
  const handler = staticPage({
    mediaType: `${mediaType}; charset=utf-8`,
    cache: 'public, max-age=31536000, immutable',
    load: async () => bytes,
  });
  return { method: 'GET', pattern: `/docs/${contentHash(bytes)}/${name}`, handler };
}

/** The empty icon keeps browsers from asking for /favicon.ico. */
function html({ styles, scripts }: { styles: Route[]; scripts: Route[] }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postrider API</title>
<link rel="icon" href="data:,">
${styles.map(({ pattern }) => `<link rel="stylesheet" href="${pattern}">`).join('\n')}
</head>
<body>
<div id="reader"></div>
<noscript>This page needs JavaScript; <a href="/openapi.json">/openapi.json</a> has the same content.</noscript>
${scripts.map(({ pattern }) => `<script src="${pattern}"></script>`).join('\n')}
</body>
</html>
`;
}
