// The pool of our source addresses: which of them can be used now, and the facts for the choice per message.
// An IPv6 address without a reverse name that resolves back to it is not used: large receivers refuse all
// mail from it, and remember that for long.

import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { MailAddress, MailHost } from '../../protocol/dns/mail-route.ts';
import { checkOwnName, type NameCheckKit } from '../../protocol/dns/own-name.ts';
import type { Candidate, ClaimSource, SourceFacts } from '../../store/source-addresses.ts';
import type { SessionSource, Skipped } from '../courier/messages.ts';
import type { Unrouted } from './no-route.ts';

export interface PoolAddress extends SessionSource {
  family: 4 | 6;
  /** Its share of the mail, relative to the others. */
  weight: number;
  /** In use for long: receivers know it. */
  warm: boolean;
}

export interface SourceAddressState extends PoolAddress {
  usable: boolean;
  /** Why it is unused, or a problem although it is used; null: none. */
  reason: string | null;
}

export interface SourceAddressesKit extends NameCheckKit {
  pool: readonly PoolAddress[];
  ramp: readonly number[];
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Why a socket can't be bound to the address; null: it can. */
  bindProblem(ip: string): Promise<string | null>;
  /** A pause of the address towards the group, called for by a receiver's reply. */
  pauseOf(mxGroup: string, ip: string): { until: number; reason: string } | null;
}

export class SourceAddresses {
  readonly #kit: SourceAddressesKit;
  #states: SourceAddressState[];

  constructor(kit: SourceAddressesKit) {
    this.#kit = kit;
    this.#states = kit.pool.map((address) => ({ ...address, usable: false, reason: 'it is being checked' }));
  }

  list(): readonly SourceAddressState[] {
    return this.#states;
  }

  /** Checks every address again. */
  async check(): Promise<void> {
    this.#states = await Promise.all(this.#states.map((state) => this.#checkOne(state)));
  }

  source(ip: string): SessionSource {
    const found = this.#kit.pool.find((address) => address.ip === ip);
    if (!found) throw new Fault('an address that is not in the pool', { detail: ip });
    return { ip: found.ip, ehloName: found.ehloName };
  }

  /** The source part of a claim: `address` null claims nothing, and only puts off what must wait. */
  claim(address: string | null, mxGroup: string, hosts: readonly MailHost[]): ClaimSource {
    return { address, facts: this.facts(mxGroup, hosts) };
  }

  facts(mxGroup: string, hosts: readonly MailHost[]): SourceFacts {
    const { pauseOf, ramp } = this.#kit;
    const usable = this.#states.filter((state) => state.usable);
    const reachable = reachableFrom(usable, hosts);
    const candidates = reachable.map(({ ip, weight, warm }): Candidate => {
      return { ip, weight, warm, pause: pauseOf(mxGroup, ip) };
    });
    return { mxGroup, candidates, none: this.#whyNone(usable, mxGroup), ramp };
  }

  /** Why none of our addresses can connect to these hosts: none has the right family, or none is usable at all. */
  whyUnreachable(mxGroup: string, hosts: readonly MailHost[]): { reason: string; anyUsable: boolean } | null {
    const usable = this.#states.filter((state) => state.usable);
    if (reachableFrom(usable, hosts).length > 0) return null;
    return { reason: this.#whyNone(usable, mxGroup), anyUsable: usable.length > 0 };
  }

  #whyNone(usable: readonly SourceAddressState[], mxGroup: string): string {
    const unusable = this.#states.filter((state) => !state.usable).map(({ ip, reason }) => `${ip}: ${reason}`);
    const unused = unusable.length > 0 ? `; not used: ${unusable.join('; ')}` : '';
    if (usable.length === 0) return `none of our own addresses can be used${unused}`;
    const families = [...new Set(usable.map(({ family }) => `IPv${family}`))].join(' or ');
    return `no mail server of ${mxGroup} has an ${families} address, and ours are ${families}${unused}`;
  }

  async #checkOne(before: SourceAddressState): Promise<SourceAddressState> {
    const { ip, family } = before;
    const bindProblem = await this.#kit.bindProblem(ip);
    const name = bindProblem === null ? await checkOwnName(ip, this.#kit) : null;
    const after = { ...before };
    if (bindProblem !== null) Object.assign(after, { usable: false, reason: bindProblem });
    // DNS does not answer: the last result still applies.
    else if (name!.kind === 'unknown')
      Object.assign(after, { usable: before.usable || family === 4, reason: name!.reason });
    else Object.assign(after, { usable: family === 4 || name!.kind === 'good', reason: name!.reason });
    if (after.usable !== before.usable || after.reason !== before.reason) this.#logState(after);
    return after;
  }

  #logState({ ip, ehloName, usable, reason }: SourceAddressState): void {
    const facts = { source_address: ip, ehlo_name: ehloName, usable, reason };
    if (!usable) this.#kit.log.warn(facts, `no mail is sent from ${ip}: ${reason}`);
    else if (reason !== null) this.#kit.log.warn(facts, `mail is sent from ${ip}, though ${reason}`);
    else this.#kit.log.info(facts, `mail is sent from ${ip}`);
  }
}

/**
 * The addresses that can connect to the most preferred hosts (RFC 5321 section 5.1). If no address has a family of
 * those hosts, the next preference counts.
 */
function reachableFrom<A extends PoolAddress>(pool: readonly A[], hosts: readonly MailHost[]): A[] {
  const preferences = [...new Set(hosts.map(({ preference }) => preference))].sort((a, b) => a - b);
  for (const preference of preferences) {
    const equals = hosts.filter((host) => host.preference === preference);
    const families = new Set(equals.flatMap(({ addresses }) => addresses.map(({ family }) => family)));
    const reachable = pool.filter(({ family }) => families.has(family));
    if (reachable.length > 0) return reachable;
  }
  return [];
}

/** The hosts with only the addresses of the source's family, or of both without a source; those without any are left out. */
export function hostsFor(source: SessionSource | null, hosts: readonly MailHost[]): MailHost[] {
  const own = source?.ip.includes(':') ? 6 : 4;
  return hosts
    .map((host) => ({ ...host, addresses: host.addresses.filter(({ family }) => source === null || family === own) }))
    .filter(({ addresses }) => addresses.length > 0);
}

// Whether our addresses can connect to a receiver's at all: an IPv4 address can't connect to an IPv6 address. If the
// system picks the source, only missing IPv6 is checked: a machine without IPv4 has other ways out (NAT64).

export type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

interface OwnAddressesKit {
  /** Null: the system picks. */
  sources: Pick<SourceAddresses, 'whyUnreachable'> | null;
  /** The network interfaces of this machine; fakes in tests. */
  readInterfaces?: (() => Interfaces) | undefined;
}

/** Loopback and link-local addresses (RFC 4291 section 2.4): no mail server can be reached from them. */
const NOT_ROUTABLE = /^(::1$|fe[89ab])/i;
/** Unique local addresses (RFC 4193) reach only the same site. Docker assigns one where there is no IPv6. */
const UNIQUE_LOCAL = /^f[cd]/i;
const NO_PUBLIC_IPV6 = 'this machine has no public IPv6 address';

/** Null: one of our addresses can connect to one of the hosts. */
export function findUnreachable(
  mxGroup: string,
  hosts: readonly MailHost[],
  { sources, readInterfaces = networkInterfaces }: OwnAddressesKit,
): Unrouted | null {
  if (sources === null) {
    const addresses = hosts.flatMap((host) => host.addresses);
    if (addresses.some(({ family }) => family === 4)) return null;
    if (unreachableIps(addresses, readInterfaces).length < addresses.length) return null;
    return { kind: 'unreachable', reason: `no mail server of ${mxGroup} has an IPv4 address, and ${NO_PUBLIC_IPV6}` };
  }
  const why = sources.whyUnreachable(mxGroup, hosts);
  if (why === null) return null;
  // If none of our addresses is usable, the receiver is not at fault.
  return { kind: why.anyUsable ? 'unreachable' : 'no_source', reason: why.reason };
}

/** For a source that the system picks: failures of IPv6 addresses that we can't reach would hide what the others say. */
export function findSkipped(
  hosts: readonly MailHost[],
  readInterfaces: () => Interfaces = networkInterfaces,
): Skipped | null {
  const addresses = hosts.flatMap((host) => host.addresses);
  if (!addresses.some(({ family }) => family === 4)) return null;
  const ips = unreachableIps(addresses, readInterfaces);
  return ips.length === 0 ? null : { ips, reason: `not called: ${NO_PUBLIC_IPV6}` };
}

function unreachableIps(addresses: readonly MailAddress[], readInterfaces: () => Interfaces): string[] {
  const foreign = addresses.filter(({ ip, family }) => family === 6 && ip !== '::1').map(({ ip }) => ip);
  if (foreign.length === 0) return [];
  const all = Object.values(readInterfaces()).flatMap((list) => list ?? []);
  const own = all.filter(({ address, family }) => family === 'IPv6' && !NOT_ROUTABLE.test(address));
  if (own.some(({ address }) => !UNIQUE_LOCAL.test(address))) return [];
  return own.length === 0 ? foreign : foreign.filter((ip) => !UNIQUE_LOCAL.test(ip));
}
