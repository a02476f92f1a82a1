// The pool of our own addresses that mail is sent from: which of them can be used right now, and
// what each message's choice depends on. An IPv6 address without a reverse name that leads back to
// it is not used: big receivers refuse everything from it, and blame the address for long.

import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import { checkOwnName, type NameCheckKit } from '../../protocol/dns/own-name.ts';
import type { Candidate, ClaimSource, SourceFacts } from '../../store/source-addresses.ts';
import type { SessionSource } from '../courier/messages.ts';

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
