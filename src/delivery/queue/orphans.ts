// Brings back what nobody would come back to: messages that are marked as being sent by a session
// that is gone, and messages in lanes that do not exist. The first wait again; the second are
// parked, with a reason, for a person.

import { type Clock, MINUTE_MS } from '../../base/clock.ts';
import type { Logger } from '../../observe/log.ts';
import * as mailLog from '../../observe/mail-log.ts';
import { BEFORE_ALL_LANES, type SendingMark } from '../../store/queue.ts';
import type { Store, StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';

interface StrayFinderKit {
  store: Pick<Store, 'queue'>;
  inHand: Pick<MessagesInFlight, 'has'>;
  clock: Clock;
  log: Logger;
  onLanes(lanes: LaneNotice[]): void;
}

// Between a commit and the moment when somebody has its messages in hand lie microseconds. A
// minute later there is no doubt left.
const CERTAIN_AFTER_MS = MINUTE_MS / 2;
// A look at the database this large takes about a millisecond.
const MARKS_PER_LOOK = 1000;
const LANES_PER_LOOK = 1000;
const PARKED_AT_ONCE = 200;

const LOST_ATTEMPT = 'the session that was sending the message ended without a result; the message may have arrived';
const LOST_LANE = 'the queue has no tenant or destination for the message; its rows in the database are damaged';

interface Suspicion {
  attempt: number;
  since: number;
}

export class OrphanFinder {
  readonly #kit: StrayFinderKit;
  #suspects = new Map<string, Suspicion>();
  #nextLane = BEFORE_ALL_LANES;

  constructor(kit: StrayFinderKit) {
    this.#kit = kit;
  }

  async sweep(): Promise<void> {
    await this.#returnStrays();
    await this.#parkLost();
  }

  async #returnStrays(): Promise<void> {
    const { store, clock, log, onLanes } = this.#kit;
    const now = clock.now();
    const suspects = new Map<string, Suspicion>();
    const orphans: SendingMark[] = [];
    for await (const mark of this.#unattended()) {
      const known = this.#suspects.get(mark.id);
      const since = known?.attempt === mark.attempt ? known.since : now;
      if (now - since >= CERTAIN_AFTER_MS) orphans.push(mark);
      else suspects.set(mark.id, { attempt: mark.attempt, since });
    }
    this.#suspects = suspects;
    if (orphans.length === 0) return;
    log.error({ messages: orphans.length, first: orphans[0]!.id }, `messages wait again: ${LOST_ATTEMPT}`);
    onLanes(await store.queue.returnOrphans(orphans, now, LOST_ATTEMPT));
  }

  /** Marked as being sent, and in nobody's hand. */
  async *#unattended(): AsyncGenerator<SendingMark> {
    const { store, inHand } = this.#kit;
    for (let after: string | null = null; ; ) {
      const marks: SendingMark[] = await store.queue.listSending(after, MARKS_PER_LOOK);
      for (const mark of marks) if (!inHand.has(mark.id)) yield mark;
      if (marks.length < MARKS_PER_LOOK) return;
      after = marks.at(-1)!.id;
    }
  }

  /** One portion of all lanes at each sweep. */
  async #parkLost(): Promise<void> {
    const { store, log } = this.#kit;
    const { lanes, checkedUpTo } = await store.queue.findOrphanLanes(this.#nextLane, LANES_PER_LOOK);
    this.#nextLane = checkedUpTo ?? BEFORE_ALL_LANES;
    for (const lane of lanes) {
      const parked = await store.queue.parkLane(lane, PARKED_AT_ONCE, LOST_LANE);
      for (const message of parked) mailLog.parked(log, message, { reason: LOST_LANE });
    }
  }
}

// Which messages somebody in this process answers for: from their claim until their outcome is on
// disk or they are given back. What is marked as being sent and stands not here is an orphan.
// It listens to the store's verbs, so that nobody has to remember to tell it.

type HandVerbs = StoreVerbs<{ queue: 'claim' | 'record' | 'recordEarlier' | 'release' }>;

export class MessagesInFlight {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Of an earlier process, whose results are not in the database. */
  hold(ids: readonly string[]): void {
    for (const id of ids) this.#ids.add(id);
  }

  /** The store, whose verbs are noted on their way. */
  noting<S extends HandVerbs>(store: S): S {
    const queue: HandVerbs['queue'] = {
      ...store.queue,
      claim: async (...claim: Parameters<HandVerbs['queue']['claim']>) => {
        const claimed = await store.queue.claim(...claim);
        for (const { id } of claimed.messages) this.#ids.add(id);
        return claimed;
      },
      record: async (updates: Parameters<HandVerbs['queue']['record']>[0]) => {
        // What the database did not take is still in the recorder's hand.
        const lanes = await store.queue.record(updates);
        for (const { messageId } of updates) this.#ids.delete(messageId);
        return lanes;
      },
      recordEarlier: async (updates: Parameters<HandVerbs['queue']['recordEarlier']>[0]) => {
        const applied = await store.queue.recordEarlier(updates);
        for (const { messageId } of updates) this.#ids.delete(messageId);
        return applied;
      },
      release: async (...release: Parameters<HandVerbs['queue']['release']>) => {
        // Given back in vain is given back: nobody tries that again but the sweeper.
        for (const id of release[0]) this.#ids.delete(id);
        return await store.queue.release(...release);
      },
    };
    return { ...store, queue };
  }
}
