// The portal's cookies (RFC 6265): HttpOnly and SameSite=Lax, so that a link in a mail finds whoever is signed
// in. Over TLS they are Secure, and their names have the __Host- prefix, by which browsers keep other hosts from
// setting them.
import type { HttpRequest } from '../http/http.ts';

export type CookieName = 'session' | 'guest' | 'notice' | 'browser';

export interface Cookies {
  read(request: HttpRequest, name: CookieName): string | null;
  /** The value of a Set-Cookie header; `value` must be of token characters. */
  set(name: CookieName, value: string, maxAgeSecs: number): string;
  clear(name: CookieName): string;
}

/** Those of a request; with an https `baseUrl` also of one that came here without TLS, by a proxy that is not named. */
export function portalCookies(baseUrl: string): (request: HttpRequest) => Cookies {
  const [overTls, plain] = [cookies(true), cookies(false)];
  const alwaysOverTls = new URL(baseUrl).protocol === 'https:';
  return (request) => (alwaysOverTls || request.secure ? overTls : plain);
}

function cookies(secure: boolean): Cookies {
  const fullName = (name: CookieName) => `${secure ? '__Host-' : ''}postrider_${name}`;
  const set = (name: CookieName, value: string, maxAgeSecs: number) =>
    `${fullName(name)}=${value}; Path=/; Max-Age=${maxAgeSecs}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read(request, name) {
      const wanted = `${fullName(name)}=`;
      const found = (request.header('cookie') ?? '').split(';').map((pair) => pair.trim());
      return found.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) || null;
    },
    set,
    clear: (name) => set(name, '', 0),
  };
}
