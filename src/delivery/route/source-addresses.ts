// The pool of our own addresses that mail is sent from: which of them can be used right now, and
// what each message's choice depends on. An IPv6 address without a reverse name that leads back to
// it is not used: big receivers refuse everything from it, and blame the address for long.

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
  /** A share relative to the others'. */
  weight: number;
  /** It has been sending for long: receivers know it. */
  warm: boolean;
}

export interface SourceAddressState extends PoolAddress {
  usable: boolean;
  /** Why it is not used, or what is wrong with it all the same; null: all is well. */
  reason: string | null;
}

export interface SourceAddressesKit extends NameCheckKit {
  pool: readonly PoolAddress[];
  ramp: readonly number[];
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Null when the machine has the address. */
  bindProblem(ip: string): Promise<string | null>;
  /** A pause of the address towards the group that a receiver's reply called for. */
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

  /** Looks at every address again. */
  async check(): Promise<void> {
    this.#states = await Promise.all(this.#states.map((state) => this.#checkOne(state)));
  }

  source(ip: string): SessionSource {
    const found = this.#kit.pool.find((address) => address.ip === ip);
    if (!found) throw new Fault('an address that is not in the pool', { detail: ip });
    return { ip: found.ip, ehloName: found.ehloName };
  }

  /** What a claim asks for: `address` null claims nothing, and puts off what must wait. */
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

  /** Why none of ours can call these hosts: for want of the right kind, or because none can be used at all. */
  whyUnreachable(mxGroup: string, hosts: readonly MailHost[]): { reason: string; anyUsable: boolean } | null {
    const usable = this.#states.filter((state) => state.usable);
    if (reachableFrom(usable, hosts).length > 0) return null;
    return { reason: this.#whyNone(usable, mxGroup), anyUsable: usable.length > 0 };
  }

  #whyNone(usable: readonly SourceAddressState[], mxGroup: string): string {
    const useless = this.#states.filter((state) => !state.usable).map(({ ip, reason }) => `${ip}: ${reason}`);
    const unused = useless.length > 0 ? `; not used: ${useless.join('; ')}` : '';
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
    // DNS says nothing: whatever was known of the address still holds.
    else if (name!.kind === 'unknown')
      Object.assign(after, { usable: before.usable || family === 4, reason: name!.reason });
    else Object.assign(after, { usable: family === 4 || name!.kind === 'good', reason: name!.reason });
    if (after.usable !== before.usable || after.reason !== before.reason) this.#tell(after);
    return after;
  }

  #tell({ ip, ehloName, usable, reason }: SourceAddressState): void {
    const facts = { source_address: ip, ehlo_name: ehloName, usable, reason };
    if (!usable) this.#kit.log.warn(facts, `no mail is sent from ${ip}: ${reason}`);
    else if (reason !== null) this.#kit.log.warn(facts, `mail is sent from ${ip}, though ${reason}`);
    else this.#kit.log.info(facts, `mail is sent from ${ip}`);
  }
}

/**
 * Those that can speak to the best hosts (RFC 5321 section 5.1: by preference). Hosts without an
 * address of their family are skipped, and the next best count.
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

/** The hosts as an address of this family can call them; without a source, all of them. */
export function hostsFor(source: SessionSource | null, hosts: readonly MailHost[]): MailHost[] {
  if (source === null) return [...hosts];
  const own = source.ip.includes(':') ? 6 : 4;
  return hosts
    .map((host) => ({ ...host, addresses: host.addresses.filter(({ family }) => family === own) }))
    .filter(({ addresses }) => addresses.length > 0);
}

// Whether our own addresses can call a receiver's at all: an IPv4 address calls no IPv6 address. Where the
// system picks the source, only a lack of IPv6 is looked for: a machine without IPv4 has other ways out (NAT64).

export type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

interface OwnAddressesKit {
  /** Null: the system picks. */
  sources: Pick<SourceAddresses, 'whyUnreachable'> | null;
  /** Of this machine; other ones in tests. */
  readInterfaces?: (() => Interfaces) | undefined;
}

/** Loopback, and link-local addresses (RFC 4291 section 2.4): no mail server is reached from these. */
const NO_WAY_OUT = /^(::1$|fe[89ab])/i;
/** Unique local addresses (RFC 4193): they lead to others of the same site. Docker gives one where there is no IPv6. */
const UNIQUE_LOCAL = /^f[cd]/i;
const NO_PUBLIC_IPV6 = 'this machine has no public IPv6 address';

/** Null: one of our addresses can call one of the hosts. */
export function findUnreachable(
  mxGroup: string,
  hosts: readonly MailHost[],
  { sources, readInterfaces = networkInterfaces }: OwnAddressesKit,
): Unrouted | null {
  if (sources === null) {
    const addresses = hosts.flatMap((host) => host.addresses);
    if (addresses.some(({ family }) => family === 4)) return null;
    if (uncallable(addresses, readInterfaces).length < addresses.length) return null;
    return { kind: 'unreachable', reason: `no mail server of ${mxGroup} has an IPv4 address, and ${NO_PUBLIC_IPV6}` };
  }
  const why = sources.whyUnreachable(mxGroup, hosts);
  if (why === null) return null;
  // Without any address of ours that works, nothing is wrong with this receiver.
  return { kind: why.anyUsable ? 'unreachable' : 'no_source', reason: why.reason };
}

/** Where the system picks the source. An IPv6 address that cannot be called would only hide what the others say. */
export function findSkipped(
  hosts: readonly MailHost[],
  readInterfaces: () => Interfaces = networkInterfaces,
): Skipped | null {
  const addresses = hosts.flatMap((host) => host.addresses);
  if (!addresses.some(({ family }) => family === 4)) return null;
  const ips = uncallable(addresses, readInterfaces);
  return ips.length === 0 ? null : { ips, reason: `not called: ${NO_PUBLIC_IPV6}` };
}

function uncallable(addresses: readonly MailAddress[], readInterfaces: () => Interfaces): string[] {
  const foreign = addresses.filter(({ ip, family }) => family === 6 && ip !== '::1').map(({ ip }) => ip);
  if (foreign.length === 0) return [];
  const all = Object.values(readInterfaces()).flatMap((list) => list ?? []);
  const own = all.filter(({ address, family }) => family === 'IPv6' && !NO_WAY_OUT.test(address));
  if (own.some(({ address }) => !UNIQUE_LOCAL.test(address))) return [];
  return own.length === 0 ? foreign : foreign.filter((ip) => !UNIQUE_LOCAL.test(ip));
}
