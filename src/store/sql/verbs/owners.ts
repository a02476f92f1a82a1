// Slots and leaders of timers, and the one recovery: what the previous owner of a slot had begun waits again.

import {
  FIRST_SLOT,
  type LeadRequest,
  type Owner,
  type OwnerStore,
  type SlotRequest,
  type TakenSlots,
} from '../../owners.ts';
import type { Steps } from '../steps.ts';
import type { Transaction, Work } from '../transaction.ts';

export function ownerVerbs(db: Transaction): Work<OwnerStore> {
  return { takeSlots: (request) => takeSlots(db, request), leadTimer: (request) => leadTimer(db, request) };
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
  const taken: TakenSlots = { owners: [], returned: { messages: 0, deliveries: 0 } };
  for (const slot of yield* slotsFor(db, request)) {
    taken.owners.push(yield* takeSlot(db, slot, request));
    taken.returned.messages += yield* returnMessages(db, slot, request);
    taken.returned.deliveries += yield* returnDeliveries(db, slot, request.now);
  }
  return taken;
}

/** Its own first, then those whose lease is over, then new ones. */
function* slotsFor(db: Transaction, { node, slots, now }: SlotRequest): Steps<number[]> {
  const free = db.sql(
    'SELECT slot FROM slots WHERE node = +@node OR lease_until <= +@now ORDER BY node <> +@node, slot LIMIT +@slots',
    'column',
  );
  const found = (yield* free.all({ node, now, slots })) as number[];
  const last = ((yield* db.sql('SELECT max(slot) FROM slots', 'column').get()) as number | null) ?? FIRST_SLOT - 1;
  for (let next = last + 1; found.length < slots; next++) found.push(next);
  return found;
}

function* takeSlot(db: Transaction, slot: number, { node, leaseUntil }: SlotRequest): Steps<Owner> {
  const take = db.sql(
    `INSERT INTO slots (slot, node, epoch, lease_until) VALUES (+?, +?, 1, +?)
     ON CONFLICT (slot) DO UPDATE SET node = excluded.node, epoch = epoch + 1, lease_until = excluded.lease_until
     RETURNING epoch`,
    'column',
  );
  return { slot, epoch: (yield* take.get(slot, node, leaseUntil)) as number };
}

/** Messages whose lane is lost count as the first slot's: somebody must find them. */
function* returnMessages(db: Transaction, slot: number, { now, spare = [] }: SlotRequest): Steps<number> {
  const back = db.sql(
    `UPDATE messages SET state = 'deferred', due_at = CASE WHEN attempts = 1 THEN +? ELSE due_at END,
       last_reason = 'the daemon stopped during an attempt', ambiguous = 1
     WHERE state = 'sending' AND coalesce((SELECT l.slot FROM lanes l WHERE l.id = messages.lane), ${FIRST_SLOT}) = +?
       AND lower(hex(id)) NOT IN (SELECT value FROM json_each(+?))`,
  );
  return (yield* back.run(now, slot, JSON.stringify(spare.map((id) => id.replaceAll('-', ''))))).changes;
}

/**
 * The attempt is not counted: a daemon that is restarted often must not use up the retry table. Those of deleted webhooks
 * count as the first slot's.
 */
function* returnDeliveries(db: Transaction, slot: number, now: number): Steps<number> {
  const back = db.sql(
    `UPDATE webhook_deliveries SET leased = 0, attempts = attempts - 1, due_at = min(due_at, +?)
     WHERE leased = 1
       AND coalesce((SELECT w.slot FROM webhooks w WHERE w.id = webhook_deliveries.webhook_id), ${FIRST_SLOT}) = +?`,
  );
  return (yield* back.run(now, slot)).changes;
}

function* leadTimer(db: Transaction, { name, node, now, leaseUntil }: LeadRequest): Steps<number | null> {
  const take = db.sql(
    `INSERT INTO timers (name, node, epoch, lease_until) VALUES (+@name, +@node, 1, +@leaseUntil)
     ON CONFLICT (name) DO UPDATE SET node = excluded.node, epoch = epoch + 1, lease_until = excluded.lease_until
     WHERE node = excluded.node OR lease_until <= +@now
     RETURNING epoch`,
    'column',
  );
  return ((yield* take.get({ name, node, now, leaseUntil })) as number | undefined) ?? null;
}
