// Watches the hard bounces of each MX group. When their rate spikes, they count as soft from then on, until
// an operator decides; that flag is in the store: it survives a restart, and holds on every node. The counts are
// only in memory: after a restart a spike is noticed a few bounces later. Mail without a route in DNS is watched
// in the same way, as one group.

import { BoundedMap } from '../base/bounded-map.ts';
import { type Clock, toTimestamp } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import { type DoubtedReceiver, NO_ROUTE } from '../store/suppressions.ts';
import { type BounceCounts, decideSpike, OF_NO_ROUTE, type SpikeRule } from './spike-rule.ts';

export interface HardBounceWatchKit {
  store: StoreVerbs<{ reputation: 'doubtReceiver' | 'listDoubtedReceivers' }>;
  clock: Clock;
  log: Logger;
  rule: SpikeRule;
  /** Called once per receiver. */
  onDoubt?(doubt: DoubtedReceiver): void;
}

/** `returned`: a hard bounce of a message that was counted as delivered. For NO_ROUTE, `hard`: it has no route. */
export type MessageEnd = 'delivered' | 'hard' | 'other' | 'returned';

interface Bucket extends BounceCounts {
  startedAt: number;
}

interface Watched {
  /** Oldest first. */
  buckets: Bucket[];
  before: BounceCounts;
}

const BUCKETS = 6;
/** Older counts decay with every bucket and are negligible after a day or two. */
const DECAY = 0.99;
const MAX_WATCHED = 10_000;

export class HardBounceWatch {
  readonly #kit: HardBounceWatchKit;
  /** The oldest entry is evicted, which only makes its count start again. */
  readonly #watched = new BoundedMap<string, Watched>(MAX_WATCHED);
  readonly #doubts = new Map<string, DoubtedReceiver>();
  /** Those of them that are in the store, unless an operator has decided since. */
  readonly #stored = new WeakSet<DoubtedReceiver>();
  #reading: Promise<void> = Promise.resolve();
  /** Has not begun yet, so it reads for all who ask meanwhile. */
  #nextRead: Promise<void> | null = null;

  /** It knows of no doubts before the first `readStored`. */
  constructor(kit: HardBounceWatchKit) {
    this.#kit = kit;
  }

  /** Other nodes may have added doubts, or operators may have decided there. What is not stored yet stays. */
  readStored(): Promise<void> {
    const begin = () => {
      this.#nextRead = null;
      this.#reading = this.#read();
      return this.#reading;
    };
    // Whether the one before has failed is its caller's to know.
    this.#nextRead ??= this.#reading.then(begin, begin);
    return this.#nextRead;
  }

  async #read(): Promise<void> {
    const earlier = [...this.#doubts.values()].filter((doubt) => this.#stored.has(doubt));
    const listed = await this.#kit.store.reputation.listDoubtedReceivers();
    const groups = new Set(listed.map(({ mxGroup }) => mxGroup));
    for (const doubt of earlier) {
      const { mxGroup } = doubt;
      if (!groups.has(mxGroup) && this.#doubts.get(mxGroup) === doubt) this.trust(mxGroup);
    }
    for (const doubt of listed) {
      this.#doubts.set(doubt.mxGroup, doubt);
      this.#stored.add(doubt);
    }
  }

  /** Records how a message to this group ended. A message without a group is ignored. */
  note(mxGroup: string | null, end: MessageEnd): void {
    if (mxGroup === null || this.#doubts.has(mxGroup)) return;
    const watched = this.#of(mxGroup);
    const bucket = watched.buckets.at(-1)!;
    if (end !== 'returned') bucket.messages++;
    if (end === 'delivered' || end === 'other') return;
    bucket.hard++;
    const words = mxGroup === NO_ROUTE ? OF_NO_ROUTE : undefined;
    const { decision, reason } = decideSpike(sum(watched.buckets), watched.before, this.#kit.rule, words);
    if (decision === 'doubt') this.#doubt({ mxGroup, since: this.#kit.clock.now(), reason });
  }

  /** Why this group's hard bounces count as soft, or mail without a route is held; null: they are trusted. */
  doubtOf(mxGroup: string | null): string | null {
    const doubt = mxGroup === null ? undefined : this.#doubts.get(mxGroup);
    if (!doubt) return null;
    if (mxGroup === NO_ROUTE) return `held until an operator decides: ${doubt.reason}, at ${toTimestamp(doubt.since)}`;
    return `counts as soft until an operator decides: ${doubt.reason}, at ${toTimestamp(doubt.since)}`;
  }

  /**
   * An operator has decided: counting starts again, since the doubted bounces don't show the usual rate. Returns the doubt
   * that it ends, if any.
   */
  trust(mxGroup: string): DoubtedReceiver | null {
    const doubt = this.#doubts.get(mxGroup) ?? null;
    this.#doubts.delete(mxGroup);
    this.#watched.delete(mxGroup);
    return doubt;
  }

  #doubt(doubt: DoubtedReceiver): void {
    const { store, log, rule, onDoubt } = this.#kit;
    this.#doubts.set(doubt.mxGroup, doubt);
    const { mxGroup, reason } = doubt;
    const since = toTimestamp(doubt.since - rule.windowMs);
    const which = mxGroup === NO_ROUTE ? `--rule 'route-*'` : `--group '${mxGroup}'`;
    const undo = `postrider suppression remove --since ${since} ${which}`;
    const accept = `postrider suppression trust --group '${mxGroup}'`;
    const until = `${mxGroup === NO_ROUTE ? 'it is held' : 'its hard bounces count as soft'} until an operator decides`;
    log.warn({ mx_group: mxGroup, reason, undo, accept }, `${reason}: ${until}`);
    const onStored = () => void this.#stored.add(doubt); // or that of a node that was faster
    store.reputation.doubtReceiver(doubt).then(onStored, (error: unknown) => {
      log.error(
        { error, mx_group: mxGroup },
        `the flag on these hard bounces could not be stored: ${describeError(error)}`,
      );
    });
    onDoubt?.(doubt);
  }

  #of(mxGroup: string): Watched {
    const now = this.#kit.clock.now();
    const known = this.#watched.get(mxGroup);
    const watched = known ?? { buckets: [], before: { messages: 0, hard: 0 } };
    if (!known) this.#watched.set(mxGroup, watched);
    const { windowMs } = this.#kit.rule;
    const last = watched.buckets.at(-1);
    if (!last || now - last.startedAt >= windowMs / BUCKETS) {
      watched.buckets.push({ startedAt: now, messages: 0, hard: 0 });
    }
    while (watched.buckets[0]!.startedAt <= now - windowMs) {
      const { messages, hard } = watched.buckets.shift()!;
      watched.before = {
        messages: watched.before.messages * DECAY + messages,
        hard: watched.before.hard * DECAY + hard,
      };
    }
    return watched;
  }
}

function sum(buckets: readonly BounceCounts[]): BounceCounts {
  const total = { messages: 0, hard: 0 };
  for (const { messages, hard } of buckets) {
    total.messages += messages;
    total.hard += hard;
  }
  return total;
}
