// All pages behind links in mail, and their host. If `service.links_url` has its own host, that host serves only these
// pages. Every other host serves them as well: sent mail keeps the links of the host that it was sent with.
import type { HttpHandler, HttpReply, HttpRequest } from '../../http/http.ts';
import { createRouter, type Route, type RouterOptions } from '../../http/router.ts';
import type { KeyLookup } from '../../protocol/mail/addresses/message-token.ts';
import type { HitRecorder } from '../hit-recorder.ts';
import { LINK_PATHS, readClickToken, readOpenToken } from '../link-token.ts';
import { EndOfTurn } from './end-of-turn.ts';
import { counts, fetcherOf, NEVER_STORED, nothingThere } from './link-request.ts';
import { type UnsubscribePageKit, unsubscribeRoutes } from './unsubscribe.ts';

interface LinkPagesKit extends UnsubscribePageKit {
  keys: KeyLookup;
  hits: Pick<HitRecorder, 'note'>;
}

export function linkPages(kit: LinkPagesKit): Route[] {
  const { keys, hits } = kit;
  const endOfTurn = new EndOfTurn();
  return [pixelRoute(keys, hits, endOfTurn), clickRoute(keys, hits, endOfTurn), ...unsubscribeRoutes(keys, kit)];
}

/** The public URLs, from the configuration. */
export interface PublicUrls {
  base_url: string;
  links_url: string;
}

/** `main` is everything except the links. */
export function routeByHost(urls: PublicUrls, links: readonly Route[], main: RouterOptions): HttpHandler {
  const toMain = createRouter({ ...main, routes: [...main.routes, ...links] });
  if (urls.links_url === urls.base_url) return toMain;
  const linksHost = hostOf(urls.links_url);
  const toLinks = createRouter({ routes: links, notFound: nothingThere, methodNotAllowed: wrongMethod });
  const { protocol } = new URL(urls.links_url);
  return (request) => (requestedHost(request, protocol) === linksHost ? toLinks(request) : toMain(request));
}

function hostOf(url: string): string {
  return new URL(url).host;
}

/** In a browser's form: lower case, without the default port. */
function requestedHost(request: HttpRequest, protocol: string): string | null {
  const host = request.header('host')?.trim() ?? '';
  // Only a host and a port: a URL could contain more.
  if (!/^[^\s/?#@\\,]+$/.test(host)) return null;
  return URL.parse(`${protocol}//${host}`)?.host.replace(/\.(?=:|$)/, '') ?? null;
}

function wrongMethod() {
  return {
    status: 405,
    headers: { ...NEVER_STORED, 'Content-Type': 'text/plain; charset=utf-8' },
    body: 'Method not allowed.\n',
  };
}

// A tracked link: redirects to the target in its token. There is no other way to set a target, so this is not an open
// redirect.

function clickRoute(keys: KeyLookup, hits: Pick<HitRecorder, 'note'>, endOfTurn: EndOfTurn): Route {
  return {
    method: 'GET',
    pattern: `${LINK_PATHS.click}:token`,
    async handler(request, { token = '' }) {
      await endOfTurn.wait();
      const click = readClickToken(token, keys);
      const target = click && locationOf(click.url);
      if (!click || target === null) return nothingThere();
      if (counts(request)) {
        const { linkIndex: link, linkCount, url } = click;
        hits.note({ subject: click, link, linkCount, url, ...fetcherOf(request) });
      }
      return { status: 302, headers: { ...NEVER_STORED, Location: target } };
    },
  };
}

/** In the form that a browser would make of the link: ASCII, so that it is valid in a header. */
function locationOf(url: string): string | null {
  const target = URL.parse(url);
  return target?.protocol === 'https:' || target?.protocol === 'http:' ? target.href : null;
}

// The tracking pixel: one transparent dot, fetched again each time.

/** GIF89a, 1 by 1, transparent: the smallest image that every program shows. */
const PIXEL_GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const PIXEL_REPLY: HttpReply = {
  status: 200,
  headers: { ...NEVER_STORED, 'Content-Type': 'image/gif' },
  body: PIXEL_GIF,
};

function pixelRoute(keys: KeyLookup, hits: Pick<HitRecorder, 'note'>, endOfTurn: EndOfTurn): Route {
  return {
    method: 'GET',
    pattern: `${LINK_PATHS.open}:token`,
    async handler(request, { token = '' }) {
      await endOfTurn.wait();
      const subject = readOpenToken(token, keys);
      if (subject === null) return nothingThere();
      if (counts(request)) hits.note({ subject, link: null, url: '', linkCount: 0, ...fetcherOf(request) });
      return PIXEL_REPLY;
    },
  };
}
