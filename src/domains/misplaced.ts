// Where a record stands that is not where it should be. Two mistakes are common, and both leave a record
// at another name: the full host in a form that adds the zone by itself, and a host without its subdomain.
import type { DnsResult } from '../protocol/dns/dns-result.ts';
import { likelyZone, relativeHost } from './host-names.ts';

export interface Misplaced {
  name: string;
  how: 'zone_added_twice' | 'subdomain_left_out';
  /** What to enter instead, in a form that adds the zone. */
  host: string;
  zone: string;
}

export interface Sought {
  /** Where it should be: a name below `domain`. */
  name: string;
  domain: string;
  isKey(text: string): boolean;
}

export async function findMisplaced(
  { name, domain, isKey }: Sought,
  lookups: { txt(name: string): Promise<DnsResult<string>> },
): Promise<Misplaced | null> {
  const zone = likelyZone(domain);
  const host = relativeHost(name, zone);
  const candidates: Misplaced[] = [{ name: `${name}.${zone}`, how: 'zone_added_twice', host, zone }];
  if (zone !== domain) {
    const short = `${relativeHost(name, domain)}.${zone}`;
    candidates.push({ name: short, how: 'subdomain_left_out', host, zone });
  }
  for (const candidate of candidates) {
    const result = await lookups.txt(candidate.name);
    if (result.kind === 'found' && result.records.some(isKey)) return candidate;
  }
  return null;
}

export function whereInstead(name: string, { name: wrong, how, host, zone }: Misplaced): string {
  const why = how === 'zone_added_twice' ? `your DNS provider adds ${zone} by itself` : 'its subdomain is missing';
  return `Move the DKIM record to ${name}: it stands at ${wrong}, since ${why}. Enter the host ${host} there.`;
}
