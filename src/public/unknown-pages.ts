// What people get where there is no page: `/` leads to the portal, a slash too many to the page without it, and
// everything else below /portal and /docs to a page that leads on. All other paths belong to the API, whose
// answers are JSON.
import { html } from '../http/html.ts';
import type { HttpReply, HttpRequest } from '../http/http.ts';
import type { Route, RouterOptions } from '../http/router.ts';
import { DOCS_POLICY, docsPage, HTML_TYPE } from './api-reader.ts';

export type Fallbacks = Pick<RouterOptions, 'notFound' | 'methodNotAllowed'>;

export function unknownPages(api: Fallbacks, portal: Fallbacks, docsStyle: Route): Fallbacks {
  const docsMissing = missingInDocs(docsStyle);
  return {
    notFound(request) {
      const { path } = request;
      if (path === '/')
        return isVisit(request) && wantsPage(request) ? redirectTo('/portal', 303) : api.notFound(request);
      const inPortal = isWithin(path, '/portal');
      if (!inPortal && !isWithin(path, '/docs')) return api.notFound(request);
      if (isVisit(request) && path.endsWith('/')) return redirectTo(withoutSlash(request), 308);
      return inPortal ? portal.notFound(request) : docsMissing;
    },
    methodNotAllowed: (request, allow) =>
      (isWithin(request.path, '/portal') ? portal : api).methodNotAllowed(request, allow),
  };
}

function isVisit({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Browsers say so, and curl takes anything; a program that calls the API brings a key, or asks for nothing certain. */
function wantsPage(request: HttpRequest): boolean {
  return request.header('authorization') === undefined && /text\/html|\*\/\*/i.test(request.header('accept') ?? '');
}

function isWithin(path: string, area: string): boolean {
  return path === area || path.startsWith(`${area}/`);
}

function withoutSlash({ path, queryText }: HttpRequest): string {
  const page = path.replace(/\/+$/, '');
  return queryText ? `${page}?${queryText}` : page;
}

function redirectTo(location: string, status: 303 | 308): HttpReply {
  return { status, headers: { Location: location, 'Cache-Control': 'no-store' } };
}

function missingInDocs(style: Route): HttpReply {
  const body = html`<main id="main" class="alone" tabindex="-1">
<h1>Not found</h1>
<p>This page doesn’t exist. Read the <a href="/docs/guide">guide</a> or the <a href="/docs">API reference</a>, or go to the <a href="/portal">portal</a>.</p>
</main>`;
  const headers = {
    'Content-Type': HTML_TYPE,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    ...DOCS_POLICY,
  };
  return { status: 404, headers, body: docsPage({ path: null, title: 'Not found', body, styles: [style] }) };
}
