// The frame of the pages under /docs: the mark, the way to the others, the style. As the portal it has no
// script or style of its own inside, so that the policy can forbid them; nothing is loaded from elsewhere.
import { readFileSync } from 'node:fs';
import { type Html, html } from '../http/html.ts';
import type { Route } from '../http/router.ts';
import { contentHash, staticPage } from '../http/static-page.ts';

export const GUIDE_PATH = '/docs/guide';
export const READER_PATH = '/docs';

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
export function docsAsset(name: string, mediaType: string, bytes: Buffer): Route {
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

export interface DocsPage {
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
