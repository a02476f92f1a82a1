// Two handles on one database, as two processes have it, and calls on both at once.
import type { Test } from 'tap';
import type { Store } from '../../../src/store/store.ts';
import type { Bench } from './harness.ts';

/** The handle that is called first, and the other one. */
export type Rivals = readonly [Store, Store];

const ROUNDS = 2;

/** A case that runs over several rounds on one database; each handle is the first in every other round. */
export function rivals(run: (t: Test, bench: Bench, handles: Rivals) => Promise<void>) {
  return async (t: Test, bench: Bench): Promise<void> => {
    const second = await bench.openSecond();
    for (let round = 0; round < ROUNDS; round++) {
      await run(t, bench, round % 2 === 0 ? [bench.store, second] : [second, bench.store]);
    }
  };
}

/** So many calls at once, on each handle in turn. */
export function atOnce<T>(
  handles: Rivals,
  calls: number,
  call: (store: Store, at: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: calls }, (_, at) => call(handles[at % 2]!, at)));
}

/** How many of each answer; of objects, how many there are. */
export function countAnswers(answers: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const name = typeof answer === 'object' && answer !== null ? 'done' : String(answer);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
