// For which listeners the daemon gets certificates, and for which names. A listener with files of its own keeps them, and
// HTTP behind a proxy needs none.
import { isIP } from 'node:net';
import type { Config } from './keys.ts';

export interface AcmeNames {
  /** Null: HTTP has no certificate from the directory. */
  http: readonly string[] | null;
  smtp: readonly string[] | null;
}

const NONE: AcmeNames = { http: null, smtp: null };

/** Names are sorted. */
export function acmeNames({ tls, http, smtp, service }: Config): AcmeNames {
  if (!tls.acme) return NONE;
  const hosts = [service.base_url, service.links_url].map((url) => new URL(url)).filter(isHttps);
  // The same signs as for the warning about clear text: with trusted proxies, TLS ends in front of us.
  const servesTls = !http.tls_cert && http.trusted_proxies.length === 0 && isHttps(new URL(service.base_url));
  const withMore = (names: readonly string[]) => [...new Set([...names, ...tls.names])].sort();
  return {
    http: servesTls ? withMore(hosts.map(({ hostname }) => hostname)) : null,
    smtp: smtp.tls_cert ? null : withMore([service.ehlo_name]),
  };
}

/** The names for which no public directory issues a certificate. */
export function namesWithoutCertificate({ http, smtp }: AcmeNames): string[] {
  const names = new Set([...(http ?? []), ...(smtp ?? [])]);
  return [...names].filter((name) => isIP(name.replace(/^\[|\]$/g, '')) !== 0 || !name.includes('.'));
}

function isHttps({ protocol }: URL): boolean {
  return protocol === 'https:';
}

const LETS_ENCRYPT: Readonly<Record<string, string>> = {
  production: 'https://acme-v02.api.letsencrypt.org/directory',
  staging: 'https://acme-staging-v02.api.letsencrypt.org/directory',
};

/** The URL of tls.acme_directory, which may be a word. */
export function directoryUrl(directory: string): string {
  return LETS_ENCRYPT[directory] ?? directory;
}
