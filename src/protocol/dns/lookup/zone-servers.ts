// The authoritative servers for a name: NS records found by walking up from the name, then the addresses of those
// servers, from a referral's glue or from the resolver. authority.ts queries them.

import { isPublicAddress } from '../addresses/private-address.ts';
import type { DnsServer } from './exchange.ts';
import type { Resolver } from './resolver.ts';
import type { RootHint } from './root-hints.ts';
import { type DnsRecord, isDnsName, ROOT } from './wire.ts';

export interface NameServer extends DnsServer {
  name: string;
}

export type ZoneServers =
  | { kind: 'zone'; zone: string; servers: NameServer[] }
  /** The resolver returns no name servers for it, not even those of the root. */
  | { kind: 'no_domain' }
  | { kind: 'unavailable'; reason: string };

export interface ZoneServersOptions {
  resolver: Pick<Resolver, 'ns' | 'a' | 'aaaa'>;
  authorityPort: number;
  allowPrivate: boolean;
  /** Called when the resolver returns no name servers; without it, the resolver's answer counts. */
  pastResolver?: PastResolver;
}

export interface PastResolver {
  rootHints: readonly RootHint[];
  /** The addresses of a name server, found from the root downwards. */
  addressesOf(name: string): Promise<string[]>;
}

/** Deeper zone cuts than this are reached by referral. */
const MAX_LEVELS = 10;
const MAX_NAME_SERVERS = 13;
/** Each costs two queries to the resolver, about a name that the zone's owner has chosen. */
const MAX_NAMES_WITHOUT_GLUE = 3;
const MAX_SERVERS = 16;

export async function findZoneServers(name: string, options: ZoneServersOptions): Promise<ZoneServers> {
  const levels = ancestry(name).slice(-MAX_LEVELS);
  // All levels at once: the walk costs one round trip, not one per label.
  const answers = await Promise.all(levels.map((level) => options.resolver.ns(level)));
  let outage: string | null = null;
  for (const [index, zone] of levels.entries()) {
    const answer = answers[index]!;
    if (answer.kind === 'unavailable') outage ??= answer.reason;
    if (answer.kind !== 'found') continue;
    const found = await addServers(zone, answer.records, [], options);
    if (found.kind === 'zone') return found;
    // The servers of the parent zone may still refer to these with glue.
    if (found.kind === 'unavailable') outage ??= found.reason;
  }
  const known = outage === null ? await askForRoot(options) : ({ kind: 'unavailable', reason: outage } as const);
  if (known.kind === 'zone') return known;
  const hinted = hintedServers(options);
  return hinted.length > 0 ? { kind: 'zone', zone: ROOT, servers: hinted } : known;
}

/** Only the root can say that a top-level domain does not exist. */
async function askForRoot(options: ZoneServersOptions): Promise<ZoneServers> {
  const root = await options.resolver.ns(ROOT);
  return root.kind === 'found' ? addServers(ROOT, root.records, [], options) : { kind: 'no_domain' };
}

/** Both families alternate: a machine that has only one of them reaches a server soon. */
function hintedServers({ pastResolver, authorityPort: port, allowPrivate }: ZoneServersOptions): NameServer[] {
  const servers = (pastResolver?.rootHints ?? []).flatMap(({ name, ips }, index) => {
    const ordered = index % 2 === 0 ? ips : ips.toReversed();
    return ordered.map((ip) => ({ name, ip, port }));
  });
  return spread(servers.filter(({ ip }) => allowPrivate || isPublicAddress(ip))).slice(0, MAX_SERVERS);
}

/** Glue must already be limited to names within the referring server's zone. */
export async function addServers(
  zone: string,
  nsNames: string[],
  glue: DnsRecord[],
  options: ZoneServersOptions,
): Promise<ZoneServers> {
  const names = [...new Set(nsNames)].filter(isDnsName).slice(0, MAX_NAME_SERVERS);
  const glued = names.flatMap((name) => addressesFromGlue(name, glue, options));
  const bare = names.filter((name) => !glued.some((server) => server.name === name)).slice(0, MAX_NAMES_WITHOUT_GLUE);
  const found = await Promise.all(bare.map((name) => addressesOf(name, options)));
  const all = [...glued, ...found.flatMap(({ servers }) => servers)];
  const allowed = all.filter((server) => options.allowPrivate || isPublicAddress(server.ip));
  if (allowed.length > 0) return { kind: 'zone', zone, servers: spread(allowed).slice(0, MAX_SERVERS) };
  if (all.length > 0) {
    const where = all.map((server) => `${server.name} (${server.ip})`).join(', ');
    return { kind: 'unavailable', reason: `the name servers of ${zone} have no public address: ${where}` };
  }
  const which = bare.join(', ') || 'none with a valid name';
  const outage = found.find((each) => each.outage !== null)?.outage;
  const why = outage ? ` (${outage})` : '';
  return { kind: 'unavailable', reason: `no address was found for the name servers of ${zone}: ${which}${why}` };
}

function addressesFromGlue(name: string, glue: DnsRecord[], options: ZoneServersOptions): NameServer[] {
  return glue.flatMap((record) => {
    const isAddress = record.type === 'A' || record.type === 'AAAA';
    return isAddress && record.name === name ? [{ name, ip: record.value, port: options.authorityPort }] : [];
  });
}

interface FoundAddresses {
  servers: NameServer[];
  /** Why the resolver did not answer, or null. */
  outage: string | null;
}

async function addressesOf(name: string, options: ZoneServersOptions): Promise<FoundAddresses> {
  const { resolver, authorityPort: port, pastResolver } = options;
  const results = await Promise.all([resolver.a(name), resolver.aaaa(name)]);
  const records = results.flatMap((result) => (result.kind === 'found' ? result.records : []));
  const ips = records.length === 0 && pastResolver ? await pastResolver.addressesOf(name) : records;
  const outage = results.find((result) => result.kind === 'unavailable')?.reason ?? null;
  return { servers: ips.map((ip) => ({ name, ip, port })), outage };
}

/** One address of every server first, so that neither the cap nor a dead server excludes the others. */
function spread(servers: NameServer[]): NameServer[] {
  const turns = new Map<string, number>();
  const ranked = servers.map((server) => {
    const turn = turns.get(server.name) ?? 0;
    turns.set(server.name, turn + 1);
    return { server, turn };
  });
  return ranked.sort((x, y) => x.turn - y.turn).map(({ server }) => server);
}

/** `a.b.c`, `b.c`, `c`. */
function ancestry(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}
