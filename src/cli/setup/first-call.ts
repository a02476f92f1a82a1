// The last words of set-up: the first call of the API, and what is still to be done.
import { hostInUrl, reachableHere } from '../../base/ip-address.ts';
import { acmeNames } from '../../config/acme-names.ts';
import type { Config } from '../../config/keys.ts';

export interface FirstCall {
  from: string;
  to: string;
  /** Null: it was shown when it was created. */
  key: string | null;
}

export function firstCall(config: Config, { from, to, key }: FirstCall): string {
  const mail = { from: `hello@${from}`, to, subject: 'It works', text: 'Hello' };
  return [
    `curl ${quoted(`${apiOf(config)}/emails`)} \\`,
    `  -H ${quoted(`Authorization: Bearer ${key ?? 'YOUR_KEY'}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(JSON.stringify(mail))}`,
  ].join('\n');
}

/** From this machine, so that it works before a proxy is there. A certificate has the public name. */
function apiOf(config: Config): string {
  const { http, service } = config;
  if (http.tls_cert || acmeNames(config).http !== null) return service.base_url;
  return `http://${hostInUrl(reachableHere(http.host))}:${http.port}`;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
