// A tracked link: sends on to where the token says. There is no other way to say where: what we have
// not signed leads nowhere.
import type { Route } from '../../http/router.ts';
import type { KeyLookup } from '../../protocol/mail/message-token.ts';
import type { HitPost } from '../hit-post.ts';
import { LINK_PATHS } from '../link-paths.ts';
import { readClickToken } from '../link-token.ts';
import type { EndOfTurn } from './end-of-turn.ts';
import { counts, fetcherOf, NEVER_STORED, nothingThere } from './link-request.ts';

export function clickRoute(keys: KeyLookup, hits: Pick<HitPost, 'note'>, endOfTurn: EndOfTurn): Route {
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

/** In the form that browsers would have made of the link: ASCII, so that a header can hold it. */
function locationOf(url: string): string | null {
  const target = URL.parse(url);
  return target?.protocol === 'https:' || target?.protocol === 'http:' ? target.href : null;
}
