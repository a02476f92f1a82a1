// Erases what limits no longer need: buckets that are full, portions that no longer count, and attempts that are forgotten.
// Of attempts no more than a
// number are kept, those that would be forgotten first go first: so an attacker with many addresses can end a wait early,
// which takes as many attempts, but can't fill the disk.
import { type Clock, HOUR_MS } from '../base/clock.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { StoreVerbs } from '../store/store.ts';

export type SweptStore = StoreVerbs<{ limits: 'forgottenBeyond' | 'eraseAttempts' }>;

interface SweepKit {
  store: SweptStore & StoreVerbs<{ limits: 'eraseFullBuckets' | 'erasePortions' }>;
  clock: Clock;
}

/** Some 100 bytes each, and as much again in their index. */
const MAX_ATTEMPTS = 200_000;
const ERASE_BATCH = 500;

export async function sweepAttempts(
  { store, clock }: { store: SweptStore; clock: Clock },
  maxAttempts = MAX_ATTEMPTS,
): Promise<number> {
  const beyond = await store.limits.forgottenBeyond(maxAttempts);
  const until = Math.max(clock.now(), beyond ?? 0);
  return inBatches((limit) => store.limits.eraseAttempts(until, limit));
}

export function limitsTimer({ store, clock }: SweepKit): TimerSpec {
  return {
    name: 'limits',
    periodMs: HOUR_MS,
    async run() {
      const attempts = await sweepAttempts({ store, clock });
      const buckets = await inBatches((limit) => store.limits.eraseFullBuckets(limit));
      const portions = await inBatches((limit) => store.limits.erasePortions(limit));
      return `${attempts + buckets + portions} erased`;
    },
  };
}

async function inBatches(erase: (limit: number) => Promise<number>): Promise<number> {
  let erased = 0;
  for (;;) {
    const some = await erase(ERASE_BATCH);
    erased += some;
    if (some < ERASE_BATCH) return erased;
  }
}
