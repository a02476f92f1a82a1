// What set-up must know: from flags, from what stands already, from the person, or the default. A value that the
// configuration has is never asked for, and never changed.
import os from 'node:os';
import { isChosen, isSet } from '../../config/is-set.ts';
import type { Config, KeyName } from '../../config/keys.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { NewValue, NewValues } from '../../config/set-values.ts';
import type { OwnAddress } from '../../domains/needed-records.ts';
import type { DnsPlan } from '../../operator/dns-needs.ts';
import { domainName, ipAddresses, label, mailAddress } from '../option.ts';
import { askHttps, type HttpsChoice, hasIpv6, httpsDifference, httpsValues } from './https.ts';
import type { Questions } from './questions.ts';

export interface Given {
  host?: string | undefined;
  bounces?: string | undefined;
  operator?: string | undefined;
  address?: readonly string[] | undefined;
  domain?: string | undefined;
  tenant?: string | undefined;
  https?: HttpsChoice | undefined;
}

/** What the database has already; empty without one. */
export interface Stored {
  tenants: readonly { name: string }[];
  hasDomains: boolean;
}

/** Null: not known, because the person has ended the questions or a flag is missing. */
export interface MachineAnswers {
  host: string | null;
  config: Config | null;
  addresses: readonly OwnAddress[];
  notes: readonly string[];
}

/** Null: none is to be made, or nothing to be set. */
export interface ServiceAnswers {
  https: HttpsChoice | null;
  bounces: string | null;
  operator: string | null;
  domain: string | null;
  tenant: string | null;
}

export interface GatherKit {
  given: Given;
  questions: Questions;
  /** As file and environment have it now. */
  loaded: LoadedConfig;
  draft(values: NewValues): Promise<LoadedConfig>;
  plan(config: Config, addresses: readonly string[] | null): Promise<DnsPlan>;
  /** The reverse name of an address if it leads back. */
  nameOf(ip: string): Promise<string | null>;
  publicAddresses: readonly string[];
  stored: Stored;
}

export async function gatherMachine(kit: GatherKit): Promise<MachineAnswers> {
  const { given, questions, loaded } = kit;
  const known = isSet(loaded, 'service.base_url') ? new URL(loaded.config.service.base_url).hostname : given.host;
  const host = await questions.ask({
    flag: 'host',
    question: 'Host name of this machine, as in https://NAME and in SMTP',
    known,
    fallback: known === undefined ? await likelyHost(kit) : null,
    read: domainName('').read,
  });
  if (host === null) return { host, config: null, addresses: [], notes: [] };
  const { config } = await kit.draft(new Map([['service.base_url', `https://${host}`]]));
  let plan = await kit.plan(config, given.address ?? null);
  if (plan.needs.service?.addresses.length === 0) {
    const ips = await questions.ask({
      flag: 'address',
      question: `Public IP address (${plan.needs.service.addressesUnknown?.replace(/: give .*/, '')})`,
      known: undefined,
      fallback: null,
      read: ipAddresses('IP', '').read,
    });
    if (ips !== null) plan = await kit.plan(config, ips);
  }
  return { host, config, addresses: plan.needs.service?.addresses ?? [], notes: plan.notes };
}

/** A machine that is prepared for mail has a reverse name already; most others know their full name. */
async function likelyHost({ publicAddresses, nameOf }: GatherKit): Promise<string | null> {
  for (const ip of publicAddresses.slice(0, 2)) {
    const name = await nameOf(ip);
    if (name !== null) return name;
  }
  const own = domainName('').read(os.hostname().toLowerCase());
  return own.ok && !/\.(?:local|localdomain|internal)$/.test(own.value!) ? own.value! : null;
}

export async function gatherService(kit: GatherKit, host: string | null, zone: string | null): Promise<ServiceAnswers> {
  const { given, questions, loaded, stored } = kit;
  const { service } = loaded.config;
  const https = await askHttps({ loaded, given: given.https, questions });
  const isHostSet = isSet(loaded, 'service.base_url');
  const bounces = await questions.ask({
    flag: 'bounces',
    question: 'Domain of return paths, where bounces arrive; its own, below the host name',
    known: isSet(loaded, 'service.bounces_domain')
      ? service.bounces_domain
      : (given.bounces ?? (isHostSet ? service.bounces_domain : undefined)),
    fallback: host === null ? null : `bounces.${host}`,
    read: domainName('').read,
  });
  const operator = await questions.ask({
    flag: 'operator',
    question: 'Your email address: for mail to postmaster and abuse, and as your login',
    known: given.operator ?? service.operator_address ?? undefined,
    fallback: null,
    read: mailAddress('').read,
  });
  // Who has domains has been here before, or has made the tenants by hand.
  if (stored.hasDomains && given.domain === undefined && given.tenant === undefined)
    return { https, bounces, operator, domain: null, tenant: null };
  const domain = await questions.ask({
    flag: 'domain',
    question: 'Domain to send from, the part after the @',
    known: given.domain,
    fallback: zone,
    read: domainName('').read,
  });
  const tenant = await questions.ask({
    flag: 'tenant',
    question: 'Name of the first tenant, who sends from it',
    known: given.tenant,
    fallback: stored.tenants[0]?.name ?? domain ?? zone,
    read: label('NAME', '').read,
  });
  return { https, bounces, operator, domain, tenant };
}

/** Only keys that neither file nor environment sets, or only to their defaults. */
export function valuesToSet({ loaded, given }: Pick<GatherKit, 'loaded' | 'given'>, answers: AllAnswers): NewValues {
  const { host, bounces, operator, https, addresses } = answers;
  const values = new Map<KeyName, NewValue>(httpsValues(https, addresses));
  const isHostSet = isSet(loaded, 'service.base_url');
  if (!isHostSet && host !== null) values.set('service.base_url', `https://${host}`);
  const isWanted = !isHostSet || given.bounces !== undefined;
  if (!isSet(loaded, 'service.bounces_domain') && isWanted && bounces !== null)
    values.set('service.bounces_domain', bounces);
  if (!isSet(loaded, 'service.operator_address') && operator !== null) values.set('service.operator_address', operator);
  // The MX then has an AAAA record, too.
  if (!isHostSet && !isChosen(loaded, 'smtp.host') && hasIpv6(addresses)) values.set('smtp.host', '::');
  return values;
}

export type AllAnswers = Pick<MachineAnswers, 'host' | 'addresses'> & ServiceAnswers;

/** Where a flag says something else than the configuration, which stays. */
export function differences({ loaded, given }: Pick<GatherKit, 'loaded' | 'given'>): string[] {
  const { service } = loaded.config;
  const pairs: [KeyName, string | null, string | undefined][] = [
    ['service.base_url', service.base_url, given.host && `https://${given.host}`],
    ['service.bounces_domain', service.bounces_domain, given.bounces],
    ['service.operator_address', service.operator_address, given.operator],
  ];
  const https = httpsDifference(loaded, given.https);
  const others = pairs
    .filter(([name, has, wanted]) => isSet(loaded, name) && wanted !== undefined && has !== wanted)
    .map(([name, has, wanted]) => {
      const where =
        loaded.source.origins.get(name) === 'environment' ? 'the environment' : (loaded.source.file ?? 'the file');
      return `${name} is "${has}" in ${where} and stays so; "${wanted}" was given. Change it there if it is wrong.`;
    });
  return https === null ? others : [...others, https];
}
