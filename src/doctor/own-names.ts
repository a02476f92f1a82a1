// The reverse names of our source addresses, and their EHLO names: receivers check these first
// (RFC 1912 section 2.1, RFC 5321 section 4.1.4).
import { isIP } from 'node:net';
import { addressRecord, type OwnAddress, reverseRecord } from '../domains/needed-records.ts';
import { isPublicAddress } from '../protocol/dns/addresses/private-address.ts';
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import { checkOwnName, type OwnName } from '../protocol/dns/own-name.ts';
import type { DoctorKit } from './doctor-settings.ts';
import { type Finding, fine, publish, warning, wrong } from './finding.ts';

/** A longer list of findings would not be read. */
const MAX_ADDRESSES = 64;

/** As configured, or those that the system picks from. */
export async function ownAddresses(kit: DoctorKit): Promise<OwnAddress[]> {
  const { sources, ehloName } = kit.settings;
  if (sources.length > 0) return sources.slice(0, MAX_ADDRESSES);
  return (await seenAddresses(kit)).slice(0, MAX_ADDRESSES).map((ip) => ({ ip, ehloName }));
}

/**
 * The addresses of this machine, as others see them: its public ones. A NAT in front, often of one family only, has those
 * that the EHLO name resolves to; otherwise DNS may still have those of another machine.
 */
export async function seenAddresses({ settings, resolver, machineAddresses }: DoctorKit): Promise<string[]> {
  const { public: open, private: hidden } = machineAddresses();
  const own = [...open, ...hidden];
  const has = (ips: readonly string[], family: number) => ips.some((ip) => isIP(ip) === family);
  const isBehindNat = (ip: string) => {
    const family = isIP(ip);
    return !has(open, family) && (own.length === 0 || has(hidden, family));
  };
  if (isIP(settings.ehloName)) return open;
  const results = await Promise.all([resolver.a(settings.ehloName), resolver.aaaa(settings.ehloName)]);
  const named = results.flatMap((result) => (result.kind === 'found' ? result.records : []));
  return [...open, ...named.filter(isBehindNat)];
}

export async function checkReverseNames(kit: DoctorKit, addresses: readonly OwnAddress[]): Promise<Finding[]> {
  const isConfigured = kit.settings.sources.length > 0;
  return Promise.all(
    addresses.map(async (address) => {
      // A NAT may be in front of this machine; configured addresses must be on it.
      const missing = isConfigured ? await kit.bindProblem(address.ip) : null;
      return judgeReverseName(address, { isConfigured, missing }, await checkOwnName(address.ip, kit));
    }),
  );
}

export interface SourceFacts {
  /** In delivery.source_addresses; otherwise the system picks. */
  isConfigured: boolean;
  /** Why a socket can't be bound to it; null: it can, or a NAT is in front. */
  missing: string | null;
}

export function judgeReverseName(
  { ip, ehloName }: OwnAddress,
  { isConfigured, missing }: SourceFacts,
  name: OwnName,
): Finding {
  const about = { check: 'reverse name', subject: ip };
  if (missing !== null) {
    return wrong(about, `${missing}: nothing is sent from it`, {
      setting: `remove ${ip} from delivery.source_addresses, or assign it to this machine`,
    });
  }
  if (!isPublicAddress(ip)) {
    return warning(
      about,
      "is a private address: receivers see another one, whose reverse name can't be checked from here",
      {
        advice: `the public address in front of it needs the PTR record ${ehloName}`,
      },
    );
  }
  switch (name.kind) {
    case 'good':
      return fine(about, `is ${name.name}, which resolves back to it`);
    case 'unknown':
      return warning(about, `couldn't be checked: ${name.reason}`);
    case 'bad': {
      const used = isConfigured && ip.includes(':') ? 'no mail is sent from it' : 'large providers reject its mail';
      return wrong(about, `is not set up correctly: ${name.reason}; ${used}`, publish(reverseRecord({ ip, ehloName })));
    }
  }
}

export async function checkEhloNames(kit: DoctorKit, addresses: readonly OwnAddress[]): Promise<Finding[]> {
  const names = new Set([...addresses.map(({ ehloName }) => ehloName), kit.settings.ehloName]);
  return Promise.all(
    [...names].map(async (name) => {
      const [a, aaaa] = await Promise.all([kit.resolver.a(name), kit.resolver.aaaa(name)]);
      const ips = addresses.filter(({ ehloName }) => ehloName === name).map(({ ip }) => ip);
      return judgeEhloName(name, ips, [a, aaaa]);
    }),
  );
}

/** `ips` are our addresses that use the name in EHLO. */
export function judgeEhloName(name: string, ips: readonly string[], results: readonly DnsResult<string>[]): Finding {
  const about = { check: 'EHLO name', subject: name };
  if (isIP(name) !== 0 || !name.includes('.')) {
    return wrong(about, 'is not a fully qualified host name: receivers reject such a greeting', {
      setting: 'service.base_url = "https://mail.example.com", or service.ehlo_name',
    });
  }
  const found = results.flatMap((result) => (result.kind === 'found' ? result.records : []));
  const outage = results.find((result) => result.kind === 'unavailable');
  const missing = ips.find((ip) => !found.includes(ip));
  if (outage?.kind === 'unavailable' && (found.length === 0 || missing !== undefined)) {
    return warning(about, `couldn't be checked: ${outage.reason}`);
  }
  const recordFor = (ip: string) => publish(addressRecord(name, ip));
  if (found.length === 0) {
    return wrong(about, 'has no address record', recordFor(ips[0] ?? 'the address of this machine'));
  }
  if (missing !== undefined) {
    return warning(
      about,
      `resolves to ${found.join(', ')}, but not to ${missing}, which uses it in EHLO`,
      recordFor(missing),
    );
  }
  return fine(about, `resolves to ${found.join(', ')}`);
}
