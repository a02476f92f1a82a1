// A way past the queue for one new message: claimed in the commit that accepts it, where a session is ready for it and
// nobody is before it in line. Everything that could keep mail waiting is asked before; whatever says no, or is not
// known at once, leaves the message to the queue.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../observe/log.ts';
import { attemptStarted } from '../../observe/mail-log.ts';
import type { Owner } from '../../store/owners.ts';
import type { Ownership } from '../../store/ownership.ts';
import type { ClaimedMessage } from '../../store/queue.ts';
import type { Route, Routes } from '../route/routes.ts';
import { findUnreachable, type Interfaces, type SourceAddresses } from '../route/source-addresses.ts';
import type { Shaping } from '../shaping/shaping-state.ts';
import type { Group } from './group.ts';
import type { MessagesInFlight } from './orphans.ts';

/** A message before it is accepted. */
export interface NewMail {
  tenantId: string;
  /** Of its recipient, in ASCII. */
  domain: string;
  fromDomain: string;
}

/** A session waits for the message: exactly one of the two must be called. */
export interface Passage {
  owner: Owner;
  /** When the message is due again if this attempt vanishes. */
  dueAgainAt: number;
  /** It is on disk, claimed. */
  begin(message: ClaimedMessage): void;
  /** It was refused, or waits in the queue. */
  drop(): void;
}

export interface PassageKit {
  ownership: Ownership;
  inFlight: Pick<MessagesInFlight, 'hold' | 'size'>;
  routes: Routes;
  shaping: Shaping;
  results: { readonly isFull: boolean };
  /** With addresses of our own each message's address is chosen in the queue. */
  sources: SourceAddresses | null;
  readInterfaces?: (() => Interfaces) | undefined;
  clock: Clock;
  log: Logger;
  pausesMs(): number[];
}

/** With more on its way, batches from the queue cost less than messages one by one. */
const MOST_IN_FLIGHT = 10;

interface GroupsByName {
  get(name: string): Group | undefined;
  /** One that is not there yet is made. */
  make(name: string): Group;
}

export class Passages {
  readonly #kit: PassageKit;
  readonly #groups: GroupsByName;
  #stopped = false;

  constructor(kit: PassageKit, groups: GroupsByName) {
    this.#kit = kit;
    this.#groups = groups;
  }

  /** False: there is none. Under load that is so for nearly every mail, and nothing else need be looked up. */
  mayFind({ domain }: Pick<NewMail, 'domain'>): boolean {
    const { inFlight, routes } = this.#kit;
    if (this.#stopped || inFlight.size >= MOST_IN_FLIGHT) return false;
    const route = routes.known(domain);
    return route?.kind === 'group' && !this.#groups.get(route.group)?.hasLine;
  }

  /** Null: it must wait like others. */
  find(mail: NewMail): Passage | null {
    if (!this.mayFind(mail)) return null;
    const { ownership, inFlight, shaping, clock, log, pausesMs } = this.#kit;
    const [owner] = ownership.all;
    const route = owner ? knownRoute(this.#kit, mail) : null;
    if (!owner || !route) return null;
    const { tenantId, domain } = mail;
    const ready = this.#groups.make(route.group).waitFor({ tenantId, domain }, route.hosts);
    if (!ready) return null;
    shaping.noteDomain(domain, route.group);
    shaping.reservations.reserve(route.group, tenantId, 1);
    const settle = (claimed: ClaimedMessage[]) => {
      shaping.reservations.settle(route.group, tenantId, { reserved: 1, claimed });
      ready(claimed);
    };
    return {
      owner,
      dueAgainAt: clock.now() + (pausesMs()[0] ?? 0),
      begin(message) {
        inFlight.hold([message.id]);
        attemptStarted(log, message, { attempt: message.attempt });
        settle([message]);
      },
      drop: () => settle([]),
    };
  }

  stop(): void {
    this.#stopped = true;
  }
}

function knownRoute(kit: PassageKit, { tenantId, domain, fromDomain }: NewMail): GroupRoute | null {
  const { routes, shaping, results, sources, readInterfaces, clock } = kit;
  if (sources !== null || results.isFull || !shaping.memory.tenants.isFresh(tenantId, clock.now())) return null;
  const route = routes.known(domain);
  if (route?.kind !== 'group') return null;
  if (findUnreachable(route.group, route.hosts, { sources, readInterfaces })) return null;
  return shaping.senderSuspension(route.group, tenantId, fromDomain) ? null : route;
}

type GroupRoute = Extract<Route, { kind: 'group' }>;
