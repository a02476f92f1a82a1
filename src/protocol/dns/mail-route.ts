// The route of mail for a domain: RFC 5321 section 5.1 (MX, or the domain's own address) and RFC 7505 (null MX). The
// courier decides whether the addresses may be used, and about MTA-STS.
import { isIP } from 'node:net';
import type { DnsResult } from './lookup/dns-result.ts';
import type { Resolver } from './lookup/resolver.ts';
import type { MxRecord } from './lookup/wire.ts';

export interface MailAddress {
  ip: string;
  family: 4 | 6;
}

export interface MailHost {
  name: string;
  preference: number;
  /** Empty: they are not known, because of a DNS outage or because there are too many hosts. */
  addresses: MailAddress[];
}

export type MailRoute =
  /**
   * In the order in which to try them; at least one has an address. `names`: of all MX records, also of hosts that are
   * left out because they have none.
   */
  | { kind: 'hosts'; hosts: MailHost[]; names: string[]; ttlMs: number }
  | { kind: 'undeliverable'; reason: string; enhancedCode: '5.1.2' | '5.1.10' | '5.4.4' }
  /** Says nothing about the domain: retry, never bounce. */
  | { kind: 'unavailable'; reason: string };

export interface MailRouteOptions {
  resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'>;
  /** 0 <= x < 1, as Math.random. */
  random: () => number;
}

const MAX_HOSTS = 20;
const MAX_ADDRESSES = 8;
/** A route that lacks hosts because of a DNS outage is looked up again soon. */
const PARTIAL_TTL_MS = 30_000;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*$/;

interface HostAddresses {
  addresses: MailAddress[];
  ttlMs: number;
  outage: string | null;
}

export async function findMailRoute(domain: string, options: MailRouteOptions): Promise<MailRoute> {
  const mx = await options.resolver.mx(domain);
  switch (mx.kind) {
    case 'unavailable':
      return mx;
    case 'no_domain':
      return undeliverable('5.1.2', `The domain ${domain} does not exist.`);
    case 'no_records':
      return implicitRoute(domain, options.resolver);
    case 'found':
      return routeByMx(domain, mx, options);
  }
}

/** RFC 5321 section 5.1: without MX, the domain itself is the host, with preference 0. */
async function implicitRoute(domain: string, resolver: MailRouteOptions['resolver']): Promise<MailRoute> {
  const found = await findAddresses(domain, resolver);
  if (found.addresses.length > 0) {
    const hosts = [{ name: domain, preference: 0, addresses: found.addresses }];
    return { kind: 'hosts', hosts, names: [domain], ttlMs: found.ttlMs };
  }
  if (found.outage !== null) return { kind: 'unavailable', reason: found.outage };
  return undeliverable('5.4.4', `The domain ${domain} has neither an MX record nor an address.`);
}

async function routeByMx(
  domain: string,
  mx: DnsResult<MxRecord> & { kind: 'found' },
  { resolver, random }: MailRouteOptions,
): Promise<MailRoute> {
  // RFC 7505 section 3. Next to other MX records, which is not allowed, it is ignored.
  if (mx.records.every((record) => record.exchange === '')) {
    return undeliverable('5.1.10', `The domain ${domain} accepts no mail (null MX).`);
  }
  const ranked = rankExchanges(mx.records, random);
  const found = await Promise.all(ranked.slice(0, MAX_HOSTS).map(({ exchange }) => findAddresses(exchange, resolver)));
  const outage = found.find((host) => host.outage !== null)?.outage;
  if (found.some((host) => host.addresses.length > 0)) {
    // The first host beyond the limit is listed for all of them: what the others say is not the answer of all.
    const hosts = ranked.slice(0, MAX_HOSTS + 1).flatMap(({ exchange, preference }, index) => {
      const { addresses = [], outage: unknown = 'not looked up' } = found[index] ?? {};
      return addresses.length > 0 || unknown !== null ? [{ name: exchange, preference, addresses }] : [];
    });
    const names = ranked.map(({ exchange }) => exchange);
    return { kind: 'hosts', hosts, names, ttlMs: Math.min(mx.ttlMs, ...found.map((host) => host.ttlMs)) };
  }
  if (outage) return { kind: 'unavailable', reason: outage };
  return undeliverable('5.4.4', `None of the mail servers that ${domain} names has an address.`);
}

function undeliverable(enhancedCode: '5.1.2' | '5.1.10' | '5.4.4', reason: string): MailRoute {
  return { kind: 'undeliverable', enhancedCode, reason };
}

/** By preference, in random order among equals (RFC 5321 section 5.1), each name once. */
function rankExchanges(records: MxRecord[], random: () => number): MxRecord[] {
  const ranked = shuffled(records.filter(isHostName), random).sort((x, y) => x.preference - y.preference);
  const seen = new Set<string>();
  return ranked.filter(({ exchange }) => !seen.has(exchange) && seen.add(exchange));
}

/**
 * RFC 5321 section 5.1 requires a name in an MX record: address literals, bare addresses and other values are ignored.
 */
function isHostName({ exchange }: MxRecord): boolean {
  return HOST_NAME.test(exchange) && isIP(exchange) === 0;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}

async function findAddresses(name: string, resolver: MailRouteOptions['resolver']): Promise<HostAddresses> {
  const [ipv4, ipv6] = await Promise.all([resolver.a(name), resolver.aaaa(name)]);
  const addresses: MailAddress[] = [];
  const ips4 = ipv4.kind === 'found' ? ipv4.records : [];
  const ips6 = ipv6.kind === 'found' ? ipv6.records : [];
  // Alternating, so that the cap leaves both families; each in the order of the response.
  for (let i = 0; i < Math.max(ips4.length, ips6.length); i++) {
    if (ips4[i] !== undefined) addresses.push({ ip: ips4[i]!, family: 4 });
    if (ips6[i] !== undefined) addresses.push({ ip: ips6[i]!, family: 6 });
  }
  const results = [ipv4, ipv6];
  return {
    addresses: addresses.slice(0, MAX_ADDRESSES),
    ttlMs: Math.min(...results.map(usableForMs)),
    outage: results.find((result) => result.kind === 'unavailable')?.reason ?? null,
  };
}

function usableForMs(result: DnsResult<string>): number {
  if (result.kind === 'found') return result.ttlMs;
  return result.kind === 'unavailable' ? PARTIAL_TTL_MS : Number.POSITIVE_INFINITY;
}
