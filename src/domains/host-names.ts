// The host name of a record as DNS providers ask for it: most want it relative to the zone, some in full. The zone is
// assumed to be the organizational domain; a subdomain can also be its own zone.
import { organizationalDomain } from '../protocol/dns/published/dmarc-record.ts';

/** The zone that most likely contains the domain's records. */
export function likelyZone(domain: string): string {
  return organizationalDomain(domain);
}

/** `@` for the zone itself, as nearly every provider writes it. */
export function relativeHost(name: string, zone: string): string {
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
