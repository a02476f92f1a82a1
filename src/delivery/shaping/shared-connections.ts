// How many connections this node may open to receivers whose connections all nodes share. The store gives it a part, by need
// and for a while; it is renewed as long as it is used, and what others lack of theirs goes to them.
import { SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { ConnectionShare, ConnectionWish } from '../../store/limits.ts';
import { NODE_LEASE_MS } from '../../store/owners.ts';
import type { StoreVerbs } from '../../store/store.ts';

/** The scheduler. */
export interface ConnectionListener {
  /** Connections to the group that are open or being opened. */
  openTo(group: string): number;
  /** There may be room for more. */
  onRoom(group: string): void;
  /** No more than that may stay open. */
  onSurplus(group: string, most: number): void;
}

export interface SharedConnectionsKit {
  store: StoreVerbs<{ limits: 'shareConnections' }>;
  /** The name of this node. */
  node: string;
  log: Logger;
  monotonicMs(): number;
  /** Null: only `tick` acts, in tests. */
  tickMs?: number | null;
}

/** What a session needs that is about to be opened. */
export interface ConnectionNeed {
  open: number;
  /** The limit of all nodes. */
  limit: number;
  /** How many of them this node may use at present, because of the receiver's replies. */
  permitted: number;
}

/** This much earlier this node closes them, and this much later others may open them. */
const MARGIN_MS = 2 * SECOND_MS;
const RENEW_MS = 3 * SECOND_MS;
/** Mail may come again soon: what was needed is kept for so long, unless others want it. */
const KEPT_MS = 10 * SECOND_MS;

/** This node's part of a group's connections. */
interface Part {
  limit: number;
  /** So many may be open. */
  most: number;
  /** By the monotonic clock: none may be open. */
  endsAt: number;
  askedAt: number;
  /** When one more was last needed. */
  neededAt: number;
  /** Mail waits for so many; 0: for none. */
  awaited: number;
  /** It did not get them; it asks again with the next tick. */
  isRefused: boolean;
}

interface Answered {
  share: ConnectionShare;
  /** By the monotonic clock. */
  sentAt: number;
}

export class SharedConnections {
  readonly #kit: SharedConnectionsKit;
  readonly #parts = new Map<string, Part>();
  readonly #asking = new Set<string>();
  #sending: Promise<void> | null = null;
  #listener: ConnectionListener | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isAway = false;

  constructor(kit: SharedConnectionsKit) {
    this.#kit = kit;
  }

  start(listener: ConnectionListener): void {
    const { tickMs = SECOND_MS } = this.#kit;
    this.#listener = listener;
    if (tickMs !== null) this.#timer = setInterval(() => this.tick(), tickMs);
  }

  /** So many may be open to the group. */
  most(group: string): number {
    const part = this.#parts.get(group);
    return part && part.endsAt > this.#kit.monotonicMs() ? part.most : 0;
  }

  /** Mail waits for one more than are open: asks for it, if there is none left. */
  need(group: string, { open, limit, permitted }: ConnectionNeed): void {
    const part = this.#parts.get(group) ?? this.#add(group);
    part.limit = limit;
    part.neededAt = this.#kit.monotonicMs();
    if (open < this.most(group)) return;
    // Twice as many each time: few questions where much mail waits, and not many connections for nothing where little does.
    part.awaited = Math.min(2 * open + 1, permitted);
    if (!part.isRefused) this.#ask(group);
  }

  tick(): void {
    const now = this.#kit.monotonicMs();
    for (const [group, part] of this.#parts) {
      const most = this.most(group);
      if (this.#open(group) > most) this.#listener?.onSurplus(group, most);
      if (part.awaited > 0) {
        part.awaited = 0;
        part.isRefused = false;
        // Whoever still waits says so again.
        this.#listener?.onRoom(group);
      }
      if (now - part.askedAt >= RENEW_MS || this.#open(group) > most) this.#ask(group);
    }
  }

  /** Gives back what is not open any more. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#sending;
    for (const [group, part] of this.#parts) {
      part.awaited = 0;
      part.neededAt = Number.NEGATIVE_INFINITY;
      this.#ask(group);
    }
    await this.#sending;
  }

  #add(group: string): Part {
    const never = Number.NEGATIVE_INFINITY;
    const counts = { limit: 0, most: 0, awaited: 0 };
    const part: Part = Object.assign(counts, { endsAt: never, askedAt: never, neededAt: never, isRefused: false });
    this.#parts.set(group, part);
    return part;
  }

  #open(group: string): number {
    return this.#listener?.openTo(group) ?? 0;
  }

  #ask(group: string): void {
    this.#asking.add(group);
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    // What is asked for within one turn goes together.
    await Promise.resolve();
    while (this.#asking.size > 0) {
      const groups = [...this.#asking];
      this.#asking.clear();
      await this.#send(groups);
    }
    this.#sending = null;
  }

  async #send(groups: readonly string[]): Promise<void> {
    const { store, log, monotonicMs } = this.#kit;
    const sentAt = monotonicMs();
    // What was given back meanwhile has no part any more.
    const asked = groups.flatMap((group) => {
      const part = this.#parts.get(group);
      return part ? { part, wish: this.#wish(group, part, sentAt) } : [];
    });
    try {
      const shares = await store.limits.shareConnections(asked.map(({ wish }) => wish));
      asked.forEach(({ part, wish }, at) => void this.#take(part, wish, { share: shares[at]!, sentAt }));
      if (this.#isAway) log.info({}, 'connections: the daemons share them again');
      this.#isAway = false;
    } catch (error) {
      const reason = describeError(error);
      if (!this.#isAway) log.warn({ error, reason }, "connections that all daemons share can't be shared at present");
      this.#isAway = true;
      for (const { part } of asked) part.isRefused = true;
    }
  }

  /** What it keeps is the most that it opens until it has the answer. */
  #wish(mxGroup: string, part: Part, now: number): ConnectionWish {
    const { limit, awaited, neededAt } = part;
    const open = this.#open(mxGroup);
    const kept = now - neededAt < KEPT_MS ? Math.max(open, this.most(mxGroup)) : open;
    part.most = Math.min(part.most, kept);
    part.askedAt = now;
    const { node } = this.#kit;
    return { mxGroup, node, limit, kept, wanted: Math.max(awaited, kept), leaseMs: NODE_LEASE_MS + MARGIN_MS };
  }

  #take(part: Part, { mxGroup: group, wanted }: ConnectionWish, { share, sentAt }: Answered): void {
    part.most = Math.min(share.connections, share.goal);
    part.endsAt = sentAt + NODE_LEASE_MS - MARGIN_MS;
    const open = this.#open(group);
    if (open > part.most) this.#listener?.onSurplus(group, part.most);
    part.isRefused = part.awaited > 0 && part.most <= open;
    if (part.awaited > 0 && !part.isRefused) {
      part.awaited = 0;
      this.#listener?.onRoom(group);
    } else if (part.awaited === 0 && wanted === 0) this.#parts.delete(group);
  }
}
