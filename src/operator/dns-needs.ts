// What DNS has to say about this installation, from the configuration, the database and this machine; and the look-ups at
// the zones' own name servers. Runs in the process of the command line, beside a daemon or without one.
import { getServers } from 'node:dns';
import { isIP } from 'node:net';
import { systemClock } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type { Config } from '../config/keys.ts';
import { sourcePool } from '../config/source-address.ts';
import type { ZoneLookups } from '../domains/check-needed.ts';
import type { DnsNeeds, OwnAddress, ServiceFacts } from '../domains/needed-records.ts';
import { machineAddresses } from '../protocol/dns/addresses/own-addresses.ts';
import { isPublicAddress } from '../protocol/dns/addresses/private-address.ts';
import { createAuthority } from '../protocol/dns/lookup/authority.ts';
import { createResolver, type Resolver } from '../protocol/dns/lookup/resolver.ts';
import { inspect } from '../store/opening/open-store.ts';
import { databaseBarrier, dataFolder } from './data-folder.ts';
import { domainSettings } from './domain-settings.ts';

// The operator waits for the slowest name server.
const LOOKUP_TIMEOUT_MS = 5000;
/** A longer list would not be read, and each domain means some ten questions to check. */
const MAX_DOMAINS = 500;
/** A machine with more is a network of its own; the configuration says which of them send. */
const MAX_ADDRESSES = 64;

/** Which records are asked for. */
export type DnsScope = { kind: 'all' } | { kind: 'service' } | { kind: 'domain'; domain: string };

export interface DnsPlan {
  needs: DnsNeeds;
  /** Domains that are not in it because there are too many. */
  domainsLeftOut: number;
  /** What the reader should know besides. */
  notes: string[];
}

export interface DnsAsk {
  scope: DnsScope;
  /** As given by the operator; null: to be found out. */
  addresses: readonly string[] | null;
}

type Kit = ZoneLookups & { resolver: Pick<Resolver, 'a' | 'aaaa' | 'ptr'> };

export function dnsLookups({ dns }: Pick<Config, 'dns'>): Kit {
  const servers = dns.servers.length > 0 ? dns.servers : getServers();
  const resolver = createResolver({ servers, clock: systemClock, timeoutMs: LOOKUP_TIMEOUT_MS });
  const { authority_port: authorityPort, allow_private: allowPrivate } = dns;
  const authority = createAuthority({ resolver, authorityPort, allowPrivate });
  return { resolver, records: authority.records, limited: () => authority.limited() };
}

/** Throws a Fault that says what to do where the question has no answer. */
export async function planDns(
  config: Config,
  { scope, addresses }: DnsAsk,
  { resolver }: Pick<Kit, 'resolver'>,
): Promise<DnsPlan> {
  const folder = dataFolder(config);
  const barrier = databaseBarrier(folder);
  if (barrier !== null) throw new Fault(barrier);
  const { spf_domain: spfDomain, dmarc_report_address: dmarcReportAddress } = config.service;
  const names = { spfDomain, dmarcReportAddress };
  const wanted = scope.kind === 'domain' ? scope.domain : null;
  const read = () => inspect(folder.store, (stored) => stored.domains(wanted, MAX_DOMAINS));
  const stored = scope.kind === 'service' ? null : await read();
  const { domains, leftOut } = stored ?? { domains: [], leftOut: 0 };
  if (scope.kind === 'domain') {
    if (domains.length === 0) throw new Fault(unknownDomain(config, scope.domain));
    return { needs: { service: null, names, domains }, domainsLeftOut: leftOut, notes: [] };
  }
  refuseUnsetNames(config);
  const found = addresses ? givenAddresses(config, addresses) : await ownAddresses(config, resolver);
  const service: ServiceFacts = { ...names, ...(await serviceNames(config)), ...found.facts };
  return { needs: { service, names, domains }, domainsLeftOut: leftOut, notes: found.notes };
}

function unknownDomain(config: Config, domain: string): string {
  if (domainSettings(config).ownDomains.includes(domain))
    return `${domain} is the service's own: postrider dns --service shows its records`;
  return `no tenant has the domain ${domain}; postrider domain add DOMAIN --tenant TENANT registers it`;
}

/** Without them, there is nothing to publish. */
function refuseUnsetNames({ service }: Config): void {
  const names = [
    ['service.ehlo_name', service.ehlo_name],
    ['service.bounces_domain', service.bounces_domain],
  ] as const;
  const unset = names.find(([, name]) => isIP(name) !== 0 || !name.includes('.') || name.endsWith('.localhost'));
  if (!unset) return;
  const [key, name] = unset;
  throw new Fault(
    `${key} is "${name}", which DNS can't have: set service.base_url = "https://mail.example.com", with the name of this machine`,
  );
}

async function serviceNames(
  config: Config,
): Promise<Omit<ServiceFacts, 'addresses' | 'addressesUnknown' | 'spfDomain' | 'dmarcReportAddress'>> {
  const { service } = config;
  const { dkim_domain: domain, dkim_selector: selector } = service;
  const { store } = dataFolder(config);
  const stored = await inspect(store, ({ names }) => names(`${selector}._domainkey.${domain}`, 0));
  return {
    ehloName: service.ehlo_name,
    bouncesDomain: service.bounces_domain,
    dkim: { domain, selector, publicKeyB64: stored?.serviceDkimKeyB64 ?? null },
    webHosts: webHosts(config),
  };
}

function webHosts({ service }: Config): ServiceFacts['webHosts'] {
  const hosts = [
    { what: 'API' as const, host: new URL(service.base_url).hostname },
    { what: 'links' as const, host: new URL(service.links_url).hostname },
  ];
  const isOther = (host: string) =>
    host !== service.ehlo_name && !isIP(host) && !host.startsWith('[') && host.includes('.');
  return hosts.filter(({ host }, index) => isOther(host) && hosts.findIndex((each) => each.host === host) === index);
}

interface FoundAddresses {
  facts: Pick<ServiceFacts, 'addresses' | 'addressesUnknown'>;
  notes: string[];
}

function givenAddresses({ service, delivery }: Config, given: readonly string[]): FoundAddresses {
  const configured = sourcePool(delivery.source_addresses);
  const addresses = given.map((ip) => ({
    ip,
    ehloName: configured.find((source) => source.ip === ip)?.ehloName ?? service.ehlo_name,
  }));
  const odd = given.filter((ip) => !isPublicAddress(ip));
  const notes = odd.map((ip) => `${ip} is not a public address: receivers on the Internet can't see it.`);
  return { facts: { addresses, addressesUnknown: null }, notes };
}

/** Configured ones first, then this machine's, then what the EHLO name resolves to: a NAT may be in front. */
async function ownAddresses({ service, delivery }: Config, resolver: Kit['resolver']): Promise<FoundAddresses> {
  const { ehlo_name: ehloName } = service;
  const sources = sourcePool(delivery.source_addresses);
  const open = sources.filter(({ ip }) => isPublicAddress(ip));
  if (open.length > 0) return known(open.map(({ ip, ehloName }) => ({ ip, ehloName })));
  const machine = machineAddresses();
  if (sources.length === 0 && machine.public.length > 0) return known(machine.public.map((ip) => ({ ip, ehloName })));
  const hidden = sources.length > 0 ? sources.map(({ ip }) => ip) : machine.private;
  const behind = hidden.length > 0 ? `only private addresses (${hidden.slice(0, 4).join(', ')})` : 'no address';
  const looked = await Promise.all([resolver.a(ehloName), resolver.aaaa(ehloName)]);
  const named = looked.flatMap((result) => (result.kind === 'found' ? result.records : [])).filter(isPublicAddress);
  if (named.length > 0) {
    const note = `This machine has ${behind}. The addresses are those that ${ehloName} has in DNS now; if they are not its public ones, give these with --address.`;
    return { ...known(named.map((ip) => ({ ip, ehloName }))), notes: [note] };
  }
  const reason = `this machine has ${behind}: give its public address with --address`;
  const note = `The PTR record of the public address (${ehloName}, set by your hoster) is not listed, because that address is unknown.`;
  return { facts: { addresses: [], addressesUnknown: reason }, notes: [note] };
}

function known(addresses: OwnAddress[]): FoundAddresses {
  return { facts: { addresses: addresses.slice(0, MAX_ADDRESSES), addressesUnknown: null }, notes: [] };
}
