// The image that tells that a message was opened: one transparent dot, fetched again each time.
import type { HttpReply } from '../http/http.ts';
import type { Route } from '../http/router.ts';
import type { KeyLookup } from '../protocol/mail/message-token.ts';
import type { HitRecorder } from '../tracking/hit-recorder.ts';
import { LINK_PATHS } from '../tracking/link-paths.ts';
import { readOpenToken } from '../tracking/link-token.ts';
import { counts, fetcherOf, NEVER_STORED, nothingThere } from './link-request.ts';

/** GIF89a, 1 by 1, transparent: the smallest picture that every program shows. */
const DOT = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const PICTURE: HttpReply = { status: 200, headers: { ...NEVER_STORED, 'Content-Type': 'image/gif' }, body: DOT };

export function pixelRoute(keys: KeyLookup, recorder: Pick<HitRecorder, 'note'>): Route {
  return {
    method: 'GET',
    pattern: `${LINK_PATHS.open}:token`,
    handler(request, { token = '' }) {
      const subject = readOpenToken(token, keys);
      if (subject === null) return nothingThere();
      if (counts(request)) recorder.note({ subject, link: null, url: '', linkCount: 0, ...fetcherOf(request) });
      return PICTURE;
    },
  };
}
