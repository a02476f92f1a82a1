// All that links in mail lead to, and the host that they live on. Where `service.links_url` has a host
// of its own, that host knows nothing but these pages, and no other host knows them.
import type { HttpHandler, HttpRequest } from '../../http/http.ts';
import { createRouter, type Route, type RouterOptions } from '../../http/router.ts';
import type { KeyLookup } from '../../protocol/mail/message-token.ts';
import type { HitPost } from '../hit-post.ts';
import { clickRoute } from './click.ts';
import { EndOfTurn } from './end-of-turn.ts';
import { NEVER_STORED, nothingThere } from './link-request.ts';
import { pixelRoute } from './pixel.ts';
import { type UnsubscribePageKit, unsubscribeRoutes } from './unsubscribe.ts';

export interface LinkPagesKit extends UnsubscribePageKit {
  keys: KeyLookup;
  hits: Pick<HitPost, 'note'>;
}

export function linkPages(kit: LinkPagesKit): Route[] {
  const { keys, hits } = kit;
  const endOfTurn = new EndOfTurn();
  return [pixelRoute(keys, hits, endOfTurn), clickRoute(keys, hits, endOfTurn), ...unsubscribeRoutes(keys, kit)];
}

/** Where everything is reached from outside, as the configuration says. */
export interface PublicUrls {
  base_url: string;
  links_url: string;
}

/** `main` is everything but the links. */
export function routeByHost(urls: PublicUrls, links: readonly Route[], main: RouterOptions): HttpHandler {
  if (urls.links_url === urls.base_url) return createRouter({ ...main, routes: [...main.routes, ...links] });
  const linksHost = hostOf(urls.links_url);
  const toMain = createRouter(main);
  const toLinks = createRouter({ routes: links, notFound: nothingThere, methodNotAllowed: wrongMethod });
  const { protocol } = new URL(urls.links_url);
  return (request) => (askedHost(request, protocol) === linksHost ? toLinks(request) : toMain(request));
}

function hostOf(url: string): string {
  return new URL(url).host;
}

/** As a browser would write it: lower case, without the port that goes without saying. */
function askedHost(request: HttpRequest, protocol: string): string | null {
  const host = request.header('host')?.trim() ?? '';
  // Only what can be a host and a port: a URL has room for more.
  if (!/^[^\s/?#@\\,]+$/.test(host)) return null;
  return URL.parse(`${protocol}//${host}`)?.host.replace(/\.(?=:|$)/, '') ?? null;
}

function wrongMethod() {
  return {
    status: 405,
    headers: { ...NEVER_STORED, 'Content-Type': 'text/plain; charset=utf-8' },
    body: 'This address cannot be used like that.\n',
  };
}
