// Keeps this node's share of the slots, where several nodes share a store: it renews their leases, takes over what a dead
// node held, makes its own when there are too few, and hands some over to a node that has none.
//
// A lease counts from before its renewal was sent, by this machine's monotonic clock, and ends a little early: so this
// node has stopped to begin anything when another one may take its slots. What it has begun by then, the store refuses.
import { type Clock, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import { NODE_LEASE_MS, type NodeNote, type NodeView, type Owner, type SlotView } from '../store/owners.ts';
import type { Ownership } from '../store/ownership.ts';
import type { StoreVerbs } from '../store/store.ts';
import { ClockWatch, compareClocks } from './compared-clocks.ts';
import { isAlive, MARGIN_MS, type Share, shareOf } from './slot-share.ts';

export interface SlotKeeperKit {
  store: StoreVerbs<{
    owners:
      | 'readClock'
      | 'takeSlots'
      | 'keepSlots'
      | 'listSlots'
      | 'listNodes'
      | 'isSlotIdle'
      | 'letGoOfIdleSlot'
      | 'letGoOfSlots';
  }>;
  ownership: Ownership;
  /** Only compared with the store's. */
  clock: Clock;
  node: NodeNote;
  /** Messages whose results are known but not stored. */
  spare: readonly string[];
  log: Logger;
  /** A younger daemon has the same name: this one must end. */
  onNamesake(reason: string): void;
  /** The clock of `ownership`. */
  monotonicMs(): number;
  /** Null: only `tick` acts, in tests. */
  tickMs?: number | null;
}

const RENEW_MS = 3 * SECOND_MS;
/** What is still on its way in a slot after that long is broken off, and left to its next owner's recovery. */
const LONGEST_HANDOVER_MS = 60 * SECOND_MS;

/** Of a node that has stopped: nobody waits for it. */
const NEVER = 0;

export class SlotKeeper {
  readonly #kit: SlotKeeperKit;
  readonly #clocks: ClockWatch;
  /** Also while a lease may be over: it is renewed as long as nobody has taken the slot. */
  readonly #held = new Map<number, Owner>();
  /** Slots of `#held` in which nothing new begins, and since when. */
  readonly #leaving = new Map<number, number>();
  #timer: NodeJS.Timeout | null = null;
  #ticking: Promise<void> | null = null;
  #isReplaced = false;
  #livingNodes = 1;
  #deadline: NodeJS.Timeout | null = null;
  /** The leases ended before they were renewed. */
  #isLate = false;
  /** What the log was told of: it is drained, and whether it sends all the same. */
  #told: 'working' | 'drained' | 'standing in' = 'working';

  constructor(kit: SlotKeeperKit) {
    this.#kit = kit;
    this.#clocks = new ClockWatch(kit.log);
  }

  /** At the last renewal, with this one. */
  get livingNodes(): number {
    return this.#livingNodes;
  }

  /** Rejects when the store can't be used: without slots there is nothing to do. */
  async start(): Promise<void> {
    const { tickMs = RENEW_MS } = this.#kit;
    await this.#renew();
    if (tickMs !== null) this.#timer = setInterval(() => void this.tick(), tickMs);
  }

  /** Never rejects: without the store the leases end by themselves. */
  tick(): Promise<void> {
    this.#ticking ??= this.#renew()
      .catch((error: unknown) => {
        this.#kit.log.error({ error }, `the leases of the slots could not be renewed: ${describeError(error)}`);
      })
      .finally(() => {
        this.#ticking = null;
      });
    return this.#ticking;
  }

  /** Once nothing begins any more and everything has its end: others need not wait for the leases to end. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#ticking;
    if (this.#deadline) clearTimeout(this.#deadline);
    const { store, ownership, node, log } = this.#kit;
    const held = [...this.#held.values()];
    ownership.lose([...this.#held.keys()]);
    if (this.#isReplaced) return;
    try {
      await store.owners.letGoOfSlots(held);
      await store.owners.keepSlots({ ...node, owners: [], now: NEVER, leaseUntil: NEVER });
    } catch (error) {
      log.warn({ error }, `the slots could not be handed over, others wait: ${describeError(error)}`);
    }
  }

  async #renew(): Promise<void> {
    const { store, ownership, node, monotonicMs } = this.#kit;
    if (await this.#hasNamesake()) return;
    const sentAt = monotonicMs();
    const { theirs: now, aheadMs } = await compareClocks(this.#kit);
    this.#clocks.see(aheadMs);
    const owners = [...this.#held.values()];
    const lost = await store.owners.keepSlots({ ...node, owners, now, leaseUntil: now + NODE_LEASE_MS });
    this.#forget(lost);
    this.#holdUntil(sentAt + NODE_LEASE_MS - MARGIN_MS);
    this.#sayWhenRenewed();
    ownership.gain([...this.#held.values()].filter(({ slot }) => !this.#leaving.has(slot)));
    const [slots, nodes] = await Promise.all([store.owners.listSlots(), store.owners.listNodes()]);
    this.#livingNodes = nodes.filter((one) => isAlive(one, node.node, now)).length;
    const share = shareOf({ node: node.node, held: this.#held, leaving: this.#leaving.size, slots, nodes, now });
    this.#sayWhenDrained(nodes, share.standsIn);
    if (share.wanted > 0) await this.#take(share, slots, now);
    this.#leave(share.tooMany, sentAt);
    await this.#handOver(sentAt);
    ownership.noteOthers(slots.filter(({ slot }) => !this.#held.has(slot)).map(({ slot }) => slot));
  }

  /** Renewing would hide the younger one's note. */
  async #hasNamesake(): Promise<boolean> {
    const { store, ownership, node, onNamesake } = this.#kit;
    const nodes = await store.owners.listNodes();
    const isReplaced = nodes.some((one) => one.node === node.node && one.startedAt > node.startedAt);
    if (!isReplaced) return false;
    ownership.lose([...this.#held.keys()]);
    if (!this.#isReplaced) onNamesake(nameTaken(node.node));
    this.#isReplaced = true;
    return true;
  }

  #forget(lost: readonly Owner[]): void {
    if (lost.length === 0) return;
    const { ownership, log } = this.#kit;
    const slots = lost.map(({ slot }) => slot);
    const leaving = slots.filter((slot) => this.#leaving.has(slot));
    const taken = slots.filter((slot) => !this.#leaving.has(slot));
    if (taken.length > 0)
      log.error({ slots: taken }, 'another node has taken these slots: this one was not heard of for too long');
    // The answer to that was lost.
    if (leaving.length > 0) log.info({ slots: leaving }, 'slots handed over, which nothing had confirmed');
    for (const slot of slots) {
      this.#held.delete(slot);
      this.#leaving.delete(slot);
    }
    ownership.lose(slots);
  }

  /** When no renewal comes in time, whoever works in the slots hears of it. */
  #holdUntil(endsAt: number): void {
    const { ownership, log, monotonicMs } = this.#kit;
    ownership.holdUntil(endsAt);
    if (this.#deadline) clearTimeout(this.#deadline);
    const end = () => {
      this.#isLate = true;
      const seconds = (NODE_LEASE_MS - MARGIN_MS) / SECOND_MS;
      const why = `the database has not confirmed them for ${seconds} s (postrider doctor says what is wrong with it)`;
      log.error({}, `the leases of all slots are over, since ${why}: nothing is sent until they are renewed`);
      ownership.lose([...this.#held.keys()]);
    };
    this.#deadline = setTimeout(end, Math.max(0, endsAt - monotonicMs()));
    this.#deadline.unref();
  }

  #sayWhenRenewed(): void {
    if (this.#isLate) this.#kit.log.info({ slots: this.#held.size }, 'the leases are renewed: sending goes on');
    this.#isLate = false;
  }

  /** A drained daemon looks as if it did nothing for no reason. */
  #sayWhenDrained(nodes: readonly NodeView[], standsIn: boolean): void {
    const { node, log } = this.#kit;
    const isDrained = nodes.some((one) => one.node === node.node && one.isDraining);
    const drained = standsIn ? 'standing in' : 'drained';
    const now = isDrained ? drained : 'working';
    if (now === this.#told) return;
    this.#told = now;
    const until = `until postrider nodes resume ${node.node}`;
    if (now === 'drained') log.warn({}, `this daemon is drained: it begins nothing ${until}`);
    else if (now === 'working') log.info({}, 'this daemon is not drained any more');
    else log.warn({}, `this daemon is drained, and sends all the same while no other one is alive, ${until}`);
  }

  async #take({ wanted, newSlots }: Share, before: readonly SlotView[], now: number): Promise<void> {
    const { store, ownership, node, spare, log } = this.#kit;
    const { owners, returned } = await store.owners.takeSlots({
      node: node.node,
      slots: wanted,
      beside: [...this.#held.keys()],
      newSlots,
      now,
      endedBy: now - MARGIN_MS,
      leaseUntil: now + NODE_LEASE_MS,
      spare,
    });
    if (owners.length === 0) return;
    for (const owner of owners) this.#held.set(owner.slot, owner);
    const taken = new Set(owners.map(({ slot }) => slot));
    log.info({ slots: [...taken], ...returned }, 'slots taken');
    const dead = before.filter((one) => taken.has(one.slot) && one.node !== node.node && one.leaseUntil !== NEVER);
    for (const name of new Set(dead.map((one) => one.node)))
      log.warn({ node: name }, `the slots of ${name} were taken over: it was not heard of for too long`);
    ownership.gain(owners);
  }

  #leave(count: number, at: number): void {
    const staying = [...this.#held.keys()].filter((slot) => !this.#leaving.has(slot));
    const leaving = count > 0 ? staying.slice(-count) : [];
    for (const slot of leaving) this.#leaving.set(slot, at);
    this.#kit.ownership.leave(leaving);
  }

  async #handOver(at: number): Promise<void> {
    const { store, ownership, log, monotonicMs } = this.#kit;
    const stuck: Owner[] = [];
    for (const [slot, since] of this.#leaving) {
      // Beside a long transaction a look can take seconds, and the leases of the other slots must be renewed meanwhile.
      if (monotonicMs() - at >= MARGIN_MS) break;
      const owner = this.#held.get(slot)!;
      // Reading alone disturbs nobody; but what was sent before `leave`, a claim or an accept, may come behind it.
      const isIdle = (await store.owners.isSlotIdle(slot)) && (await store.owners.letGoOfIdleSlot(owner));
      if (isIdle) this.#noteHandedOver(slot);
      else if (at - since >= LONGEST_HANDOVER_MS) stuck.push(owner);
    }
    if (stuck.length === 0) return;
    const slots = stuck.map(({ slot }) => slot);
    const why = 'work in these slots did not end within a minute: it is broken off, and their next owner does it again';
    log.warn({ slots }, why);
    // Before that owner can begin: nothing that it does again may end here.
    ownership.lose(slots);
    await store.owners.letGoOfSlots(stuck);
    for (const slot of slots) this.#noteHandedOver(slot);
  }

  #noteHandedOver(slot: number): void {
    this.#kit.ownership.handOver(slot);
    this.#held.delete(slot);
    this.#leaving.delete(slot);
    this.#kit.log.info({ slot }, 'slot handed over');
  }
}

export function nameTaken(node: string): string {
  return `another daemon on the same database is called ${node} as well: give each its own store.node`;
}
