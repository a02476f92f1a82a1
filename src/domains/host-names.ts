// The host of a record as DNS providers ask for it: most want it relative to the zone, some in full.
// The zone is taken to be what was registered; a subdomain can be a zone of its own.
import { organizationalDomain } from '../protocol/dns/dmarc-record.ts';

/** In which a domain's records most likely stand. */
export function likelyZone(domain: string): string {
  return organizationalDomain(domain);
}

/** `@` for the zone itself, as nearly every provider writes it. */
export function relativeHost(name: string, zone: string): string {
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
