// Keys that are not set and follow from others. The words that say so to people stand in the
// key's `derived`; a test holds the two to the same set of keys.
import { isIP } from 'node:net';
import type { Config, KeyName } from './keys.ts';

type Derivation = (config: Config) => string;

/** In this order: later ones build on earlier ones. */
export const DERIVATIONS: ReadonlyMap<KeyName, Derivation> = new Map<KeyName, Derivation>([
  ['service.base_url', ({ http }) => listenerUrl(http)],
  ['service.links_url', ({ service }) => service.base_url],
  ['service.bounces_domain', ({ service }) => `bounces.${hostName(service.base_url)}`],
  ['service.spf_domain', ({ service }) => service.bounces_domain],
  ['service.dmarc_report_address', ({ service }) => `dmarc@${service.bounces_domain}`],
  ['service.ehlo_name', ({ service }) => hostName(service.base_url)],
  ['service.dkim_domain', ({ service }) => service.bounces_domain],
]);

/** With port 0 the URL says port 0: only who opens the listener knows the real one. */
function listenerUrl(http: Config['http']): string {
  const anywhere = http.host === '0.0.0.0' || http.host === '::';
  const host = anywhere ? 'localhost' : isIP(http.host) === 6 ? `[${http.host}]` : http.host;
  return new URL(`${http.tls_cert ? 'https' : 'http'}://${host}:${http.port}`).origin;
}

/** An address is no domain, so mail names fall back to the one name that needs no DNS. */
function hostName(url: string): string {
  const host = new URL(url).hostname;
  return host.startsWith('[') || isIP(host) ? 'localhost' : host;
}
