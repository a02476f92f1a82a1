// Where somebody goes on after signing in: to the page that was asked for, if it is one of the portal.

const FRONT_DOOR = '/portal';

/** Anything else, other hosts above all, leads to the front door. */
export function returnPath(next: string | null): string {
  if (next === null || !/^\/portal(\/|\?|$)/.test(next) || /[\\\p{Cc}]/u.test(next)) return FRONT_DOOR;
  const url = URL.parse(next, 'http://portal.invalid');
  // The address as a browser reads it: dots may lead out of the portal again.
  const inPortal = url?.host === 'portal.invalid' && /^\/portal(\/|$)/.test(url.pathname);
  return inPortal && !url.pathname.startsWith('/portal/sign-') ? `${url.pathname}${url.search}` : FRONT_DOOR;
}
