// Slots and leaders of timers, and the one recovery: what the previous owner of a slot had begun waits again.

import {
  FIRST_SLOT,
  type LeadRequest,
  type Owner,
  type OwnerStore,
  type SlotRequest,
  type SlotView,
  type TakenSlots,
} from '../../../owners.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';

/** Of a JSON array. */
export const LISTED = '(SELECT CAST(value AS INTEGER) FROM json_each(+?))';

type SlotVerbs = Work<
  Pick<OwnerStore, 'takeSlots' | 'letGoOfSlots' | 'letGoOfIdleSlot' | 'listSlots' | 'isSlotIdle' | 'leadTimer'>
>;

export function slotVerbs(db: Transaction): SlotVerbs {
  return {
    takeSlots: (request) => takeSlots(db, request),
    *letGoOfSlots(owners) {
      for (const owner of owners) yield* letGo(db, owner);
    },
    *letGoOfIdleSlot(owner) {
      if (!(yield* isSlotIdle(db, owner.slot))) return false;
      yield* letGo(db, owner);
      return true;
    },
    *listSlots() {
      const slots = db.sql('SELECT slot, epoch, node, lease_until AS "leaseUntil" FROM slots ORDER BY slot');
      return (yield* slots.all()) as SlotView[];
    },
    isSlotIdle: (slot) => isSlotIdle(db, slot),
    leadTimer: (request) => leadTimer(db, request),
  };
}

/** Whether the epoch is still the slot's. Read each time: another process may have raised it. */
export function* isCurrent(db: Transaction, { slot, epoch }: Owner): Steps<boolean> {
  return (yield* db.sql('SELECT 1 FROM slots WHERE slot = +? AND epoch = +?').get(slot, epoch)) !== undefined;
}

/** The same for many claims, which mostly have one owner. */
export class CurrentOwners {
  readonly #db: Transaction;
  readonly #known = new Map<number, { epoch: number; isCurrent: boolean }>();

  constructor(db: Transaction) {
    this.#db = db;
  }

  *has({ slot, epoch }: Owner): Steps<boolean> {
    let known = this.#known.get(slot);
    if (known?.epoch !== epoch) {
      known = { epoch, isCurrent: yield* isCurrent(this.#db, { slot, epoch }) };
      this.#known.set(slot, known);
    }
    return known.isCurrent;
  }
}

function* takeSlots(db: Transaction, request: SlotRequest): Steps<TakenSlots> {
  const slots = yield* slotsFor(db, request);
  if (slots.length === 0) return { owners: [], returned: { messages: 0, deliveries: 0 } };
  const owners: Owner[] = [];
  for (const slot of slots) owners.push(yield* takeSlot(db, slot, request));
  // For all of them at once: each look steps over the rows that no vacuum has removed yet.
  const returned = {
    messages: yield* returnMessages(db, slots, request),
    deliveries: yield* returnDeliveries(db, slots, request.now),
  };
  return { owners, returned };
}

/** Its own first, then those whose lease is over, then new ones. */
function* slotsFor(db: Transaction, request: SlotRequest): Steps<number[]> {
  const { node, slots, beside = [], newSlots = slots, now, endedBy = now } = request;
  const free = db.sql(
    'SELECT slot FROM slots WHERE node = +@node OR lease_until <= +@endedBy ORDER BY node <> +@node, slot',
    'column',
  );
  const isHeld = new Set(beside);
  const found = ((yield* free.all({ node, endedBy })) as number[]).filter((slot) => !isHeld.has(slot)).slice(0, slots);
  const made = Math.min(slots - found.length, newSlots);
  const last = ((yield* db.sql('SELECT max(slot) FROM slots', 'column').get()) as number | null) ?? FIRST_SLOT - 1;
  return [...found, ...Array.from({ length: made }, (_, index) => last + 1 + index)];
}

function* takeSlot(db: Transaction, slot: number, { node, leaseUntil }: SlotRequest): Steps<Owner> {
  const take = db.sql(
    `INSERT INTO slots (slot, node, epoch, lease_until) VALUES (+?, +?, 1, +?)
     ON CONFLICT (slot) DO UPDATE SET node = excluded.node, epoch = slots.epoch + 1, lease_until = excluded.lease_until
     RETURNING epoch`,
    'column',
  );
  return { slot, epoch: (yield* take.get(slot, node, leaseUntil)) as number };
}

/** Messages whose lane is lost count as the first slot's: somebody must find them. */
function* returnMessages(db: Transaction, slots: number[], { now, spare = [] }: SlotRequest): Steps<number> {
  const back = db.sql(
    `UPDATE messages SET state = 'deferred', due_at = CASE WHEN attempts = 1 THEN +? ELSE due_at END,
       last_reason = 'the daemon stopped during an attempt', ambiguous = 1
     WHERE state = 'sending' AND coalesce((SELECT l.slot FROM lanes l WHERE l.id = messages.lane), ${FIRST_SLOT}) IN ${LISTED}
       AND lower(hex(id)) NOT IN (SELECT value FROM json_each(+?))`,
  );
  const spared = JSON.stringify(spare.map((id) => id.replaceAll('-', '')));
  return (yield* back.run(now, JSON.stringify(slots), spared)).changes;
}

/**
 * The attempt is not counted: a daemon that is restarted often must not use up the retry table. Those of deleted webhooks
 * count as the first slot's.
 */
function* returnDeliveries(db: Transaction, slots: number[], now: number): Steps<number> {
  const back = db.sql(
    `UPDATE webhook_deliveries SET leased = 0, attempts = attempts - 1, due_at = min(due_at, +?)
     WHERE leased = 1
       AND coalesce((SELECT w.slot FROM webhooks w WHERE w.id = webhook_deliveries.webhook_id), ${FIRST_SLOT}) IN ${LISTED}`,
  );
  return (yield* back.run(now, JSON.stringify(slots))).changes;
}

function* isSlotIdle(db: Transaction, slot: number): Steps<boolean> {
  const sending = db.sql(
    `SELECT 1 FROM messages m JOIN lanes l ON l.id = m.lane WHERE m.state = 'sending' AND l.slot = +? LIMIT 1`,
  );
  if ((yield* sending.get(slot)) !== undefined) return false;
  const calling = db.sql(
    'SELECT 1 FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.leased = 1 AND w.slot = +? LIMIT 1',
  );
  return (yield* calling.get(slot)) === undefined;
}

/** A claim that its node had sent before comes behind it, and must find that the slot is not its own any more. */
function* letGo(db: Transaction, { slot, epoch }: Owner): Steps<void> {
  yield* db.sql('UPDATE slots SET lease_until = 0, epoch = epoch + 1 WHERE slot = +? AND epoch = +?').run(slot, epoch);
}

function* leadTimer(db: Transaction, { name, node, now, leaseUntil }: LeadRequest): Steps<number | null> {
  const take = db.sql(
    `INSERT INTO timers (name, node, epoch, lease_until) VALUES (+@name, +@node, 1, +@leaseUntil)
     ON CONFLICT (name) DO UPDATE SET node = excluded.node, epoch = timers.epoch + 1, lease_until = excluded.lease_until
     WHERE timers.node = excluded.node OR timers.lease_until <= +@now
     RETURNING epoch`,
    'column',
  );
  return ((yield* take.get({ name, node, now, leaseUntil })) as number | undefined) ?? null;
}
