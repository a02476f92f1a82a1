// The image that tells that a message was opened: one transparent dot, fetched again each time.
import type { HttpReply } from '../../http/http.ts';
import type { Route } from '../../http/router.ts';
import type { KeyLookup } from '../../protocol/mail/message-token.ts';
import type { HitPost } from '../hit-post.ts';
import { LINK_PATHS } from '../link-paths.ts';
import { readOpenToken } from '../link-token.ts';
import type { EndOfTurn } from './end-of-turn.ts';
import { counts, fetcherOf, NEVER_STORED, nothingThere } from './link-request.ts';

/** GIF89a, 1 by 1, transparent: the smallest picture that every program shows. */
const DOT = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const PICTURE: HttpReply = { status: 200, headers: { ...NEVER_STORED, 'Content-Type': 'image/gif' }, body: DOT };

export function pixelRoute(keys: KeyLookup, hits: Pick<HitPost, 'note'>, endOfTurn: EndOfTurn): Route {
  return {
    method: 'GET',
    pattern: `${LINK_PATHS.open}:token`,
    async handler(request, { token = '' }) {
      await endOfTurn.wait();
      const subject = readOpenToken(token, keys);
      if (subject === null) return nothingThere();
      if (counts(request)) hits.note({ subject, link: null, url: '', linkCount: 0, ...fetcherOf(request) });
      return PICTURE;
    },
  };
}
