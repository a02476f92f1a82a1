// Whether a form that arrives was shown to whoever sends it (CSRF). Each form carries a token made from the
// secret in the sender's cookie, and browsers say themselves from where they send. Signing in is
// guarded as well, or somebody could be signed in to a stranger's account without noticing.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from '../http/http.ts';

export const FORM_TOKEN_FIELD = 'form_token';

/** The secret is the token of the session, or of a guest. */
export function formToken(secret: string): string {
  return createHmac('sha256', secret).update('form of the portal').digest('base64url');
}

export function formTokenHolds(secret: string | null, given: string | null): boolean {
  if (secret === null || given === null) return false;
  const [expected, actual] = [Buffer.from(formToken(secret)), Buffer.from(given)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** What browsers say (Fetch Metadata; Origin, RFC 6454): old ones say nothing, and the token has to do. */
export function comesFromElsewhere(request: HttpRequest, baseUrl: string): boolean {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = request.header('origin');
  if (origin === undefined) return false;
  const host = URL.parse(origin)?.host;
  return host === undefined || (host !== request.header('host') && host !== new URL(baseUrl).host);
}
