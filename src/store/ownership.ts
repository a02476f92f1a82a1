// The slots that this process works in. They change while it runs, where several nodes share a store: it takes over those of
// a dead node, hands some over, and has none from the moment on in which its leases may be another's.
import type { LeaseEnd } from '../base/lease-end.ts';
import { FIRST_SLOT, type Owner } from './owners.ts';

export interface OwnershipListener {
  /** Their work is this process's from now on; it does not know yet what waits there. */
  gained?(slots: readonly number[]): void;
  /** Another node may have them: what has begun there is in vain, unless it has been stored. */
  lost?(slots: readonly number[]): void;
}

export class Ownership {
  readonly #owners: Map<number, Owner>;
  /** Slots that are this process's until they are handed over; nothing new begins there. */
  readonly #leaving = new Map<number, Owner>();
  readonly #listeners: OwnershipListener[] = [];
  /** Null: what it holds is its own until its process ends. */
  readonly lease: LeaseEnd | null;
  #turn = 0;
  #elsewhere: readonly number[] = [];

  constructor(owners: readonly Owner[], lease: LeaseEnd | null = null) {
    this.#owners = bySlot(owners);
    this.lease = lease;
  }

  get all(): readonly Owner[] {
    return this.#isOver() ? [] : [...this.#owners.values()];
  }

  get slots(): readonly number[] {
    return this.#isOver() ? [] : [...this.#owners.keys()];
  }

  /** Null: another node works in it. */
  of(slot: number): Owner | null {
    return this.#isOver() ? null : (this.#owners.get(slot) ?? null);
  }

  /** Its own, or being handed over. Null: another node's. */
  holderOf(slot: number): Owner | null {
    return this.#isOver() ? null : (this.#owners.get(slot) ?? this.#leaving.get(slot) ?? null);
  }

  /** With those that are being handed over. */
  get heldSlots(): readonly number[] {
    return this.#isOver() ? [] : [...this.#owners.keys(), ...this.#leaving.keys()];
  }

  /** Where new work goes: one of its own in turn, else one of another node's. */
  slotForNew(): number {
    const own = this.slots;
    const slots = own.length > 0 ? own : this.#elsewhere;
    return slots[this.#turn++ % slots.length] ?? FIRST_SLOT;
  }

  listen(listener: OwnershipListener): void {
    this.#listeners.push(listener);
  }

  /** By the clock of its lease: from then on it holds nothing, unless this was called again. */
  holdUntil(endsAt: number): void {
    this.lease?.set(endsAt);
  }

  gain(owners: readonly Owner[]): void {
    const gained = owners.filter(({ slot, epoch }) => this.#owners.get(slot)?.epoch !== epoch);
    for (const owner of gained) {
      this.#owners.set(owner.slot, owner);
      this.#leaving.delete(owner.slot);
    }
    if (gained.length > 0) for (const listener of this.#listeners) listener.gained?.(gained.map(({ slot }) => slot));
  }

  /** Nothing new begins there; what has begun goes on to its end. */
  leave(slots: readonly number[]): void {
    for (const slot of slots) {
      const owner = this.#owners.get(slot);
      if (owner) this.#leaving.set(slot, owner);
      this.#owners.delete(slot);
    }
  }

  /** Another node may have it from now on; nothing is on its way there. */
  handOver(slot: number): void {
    this.#leaving.delete(slot);
  }

  /** Those that were being handed over count: what was on its way there must not end either. */
  lose(slots: readonly number[]): void {
    const lost = slots.filter((slot) => this.#owners.delete(slot) || this.#leaving.delete(slot));
    if (lost.length > 0) this.lease?.noteLoss();
    if (lost.length > 0) for (const listener of this.#listeners) listener.lost?.(lost);
  }

  /** The slots of other nodes. */
  noteOthers(slots: readonly number[]): void {
    this.#elsewhere = slots;
  }

  #isOver(): boolean {
    return this.lease?.isOver ?? false;
  }
}

function bySlot(owners: readonly Owner[]): Map<number, Owner> {
  return new Map(owners.map((owner) => [owner.slot, owner]));
}
