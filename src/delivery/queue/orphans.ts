// Finds messages that no one would send any more: those marked as being sent by a session that is gone, and
// those in lanes that don't exist. The first return to the queue; the second are parked with a reason, for
// a person.

import { type Clock, MINUTE_MS } from '../../base/clock.ts';
import type { Logger } from '../../observe/log.ts';
import * as mailLog from '../../observe/mail-log.ts';
import type { Ownership } from '../../store/ownership.ts';
import { BEFORE_ALL_LANES, claimOf, type SendingMark, type UntriedMessage } from '../../store/queue.ts';
import type { Store, StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import { Resting } from './resting.ts';

interface OrphanFinderKit {
  store: Pick<Store, 'queue'>;
  /** It looks in these slots, also while they are handed over: what is marked there is waited for. */
  ownership: Ownership;
  inFlight: Pick<MessagesInFlight, 'has'>;
  clock: Clock;
  monotonicMs(): number;
  log: Logger;
  onLanes(lanes: LaneNotice[]): void;
}

// Between the commit of a claim and its entry in MessagesInFlight are microseconds. Half a minute later
// there is no doubt left.
const ORPHAN_AFTER_MS = MINUTE_MS / 2;
// A query of this size takes about a millisecond.
const MARKS_PER_QUERY = 1000;
const LANES_PER_QUERY = 1000;
const PARKED_AT_ONCE = 200;

const LOST_ATTEMPT = 'the session that was sending the message ended without a result; the message may have arrived';
const LOST_LANE = 'the queue has no tenant or destination for the message; its rows in the database are damaged';

interface Suspicion {
  attempt: number;
  since: number;
}

export class OrphanFinder {
  readonly #kit: OrphanFinderKit;
  readonly #messages: Resting;
  readonly #lanes: Resting;
  #suspects = new Map<string, Suspicion>();
  #nextLane = BEFORE_ALL_LANES;

  constructor(kit: OrphanFinderKit) {
    this.#kit = kit;
    this.#messages = new Resting(kit.monotonicMs);
    this.#lanes = new Resting(kit.monotonicMs);
  }

  async sweep(): Promise<void> {
    await this.#messages.unlessItRests(() => this.#returnOrphans());
    await this.#lanes.unlessItRests(() => this.#parkLost());
  }

  async #returnOrphans(): Promise<void> {
    const { store, ownership, clock, log, onLanes } = this.#kit;
    const now = clock.now();
    const suspects = new Map<string, Suspicion>();
    const orphans: UntriedMessage[] = [];
    for await (const mark of this.#notInFlight()) {
      const known = this.#suspects.get(mark.id);
      const since = known?.attempt === mark.attempt ? known.since : now;
      const owner = ownership.holderOf(mark.slot);
      if (owner && now - since >= ORPHAN_AFTER_MS)
        orphans.push({ id: mark.id, claim: claimOf({ owner, attempt: mark.attempt }) });
      else suspects.set(mark.id, { attempt: mark.attempt, since });
    }
    this.#suspects = suspects;
    if (orphans.length === 0) return;
    log.error({ messages: orphans.length, first: orphans[0]!.id }, `messages wait again: ${LOST_ATTEMPT}`);
    onLanes(await store.queue.returnOrphans(orphans, now, LOST_ATTEMPT));
  }

  /** Messages marked as being sent that are not in flight. */
  async *#notInFlight(): AsyncGenerator<SendingMark> {
    const { store, ownership, inFlight } = this.#kit;
    for (let after: string | null = null; ; ) {
      const marks: SendingMark[] = await store.queue.listSending(ownership.heldSlots, after, MARKS_PER_QUERY);
      for (const mark of marks) if (!inFlight.has(mark.id)) yield mark;
      if (marks.length < MARKS_PER_QUERY) return;
      after = marks.at(-1)!.id;
    }
  }

  /** Checks one portion of all lanes per sweep. */
  async #parkLost(): Promise<void> {
    const { store, log } = this.#kit;
    const { lanes, checkedUpTo } = await store.queue.findOrphanLanes(this.#nextLane, LANES_PER_QUERY);
    this.#nextLane = checkedUpTo ?? BEFORE_ALL_LANES;
    for (const lane of lanes) {
      const parked = await store.queue.parkLane(lane, PARKED_AT_ONCE, LOST_LANE);
      for (const message of parked) mailLog.parked(log, message, { reason: LOST_LANE });
    }
  }
}

// The messages that this process is responsible for: from their claim until their outcome is on disk or they
// are released. A message marked as being sent that is not here is an orphan. It wraps the store's verbs, so
// that callers don't have to keep it up to date.

type TrackedVerbs = StoreVerbs<{ queue: 'claim' | 'record' | 'recordLate' | 'release' }>;

export class MessagesInFlight {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Adds messages of an earlier run whose results are not in the database. */
  hold(ids: readonly string[]): void {
    for (const id of ids) this.#ids.add(id);
  }

  /** The store, with verbs that keep this set up to date. */
  tracking<S extends TrackedVerbs>(store: S): S {
    const queue: TrackedVerbs['queue'] = {
      ...store.queue,
      claim: async (...claim: Parameters<TrackedVerbs['queue']['claim']>) => {
        const claimed = await store.queue.claim(...claim);
        for (const { id } of claimed.messages) this.#ids.add(id);
        return claimed;
      },
      record: async (updates: Parameters<TrackedVerbs['queue']['record']>[0]) => {
        // A result that the database did not accept is still with the recorder.
        const ended = await store.queue.record(updates);
        for (const { messageId } of updates) this.#ids.delete(messageId);
        return ended;
      },
      recordLate: async (updates: Parameters<TrackedVerbs['queue']['recordLate']>[0]) => {
        const applied = await store.queue.recordLate(updates);
        for (const { messageId } of updates) this.#ids.delete(messageId);
        return applied;
      },
      release: async (...release: Parameters<TrackedVerbs['queue']['release']>) => {
        // Removed even if the release fails: then only the orphan sweep can return them.
        for (const { id } of release[0]) this.#ids.delete(id);
        return await store.queue.release(...release);
      },
    };
    return { ...store, queue };
  }
}
