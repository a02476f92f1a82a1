// One random walk over the verbs of a store: a seed, a clock that only the walk moves, and the model that tells what
// each verb should have done. A step that finds something else throws, with what led to it.
import assert from 'node:assert/strict';
import { IdSource } from '../../../src/base/ids.ts';
import type { Owner } from '../../../src/store/owners.ts';
import type { Store } from '../../../src/store/store.ts';
import type { ContentReader } from '../../../src/store/submissions.ts';
import { T0 } from '../conformance/harness.ts';
import { Model } from './model.ts';

export interface Step {
  name: string;
  /** How often it is taken, compared with others; 1 when not given. */
  weight?: number;
  run(walk: Walk): Promise<void>;
}

const TRACE_LENGTH = 40;

export class Walk {
  readonly model = new Model();
  /** Another one while it walks: the same data, copied to another database. */
  store: Store;
  contents: ContentReader;
  readonly random: () => number;
  /** Webhooks that the store has told a dispatcher of. */
  readonly heard = new Set<string>();
  readonly trace: string[] = [];
  now = T0;
  /** Who claims, and who did before the last recovery. */
  owner: Owner = { slot: 1, epoch: 0 };
  formerOwner: Owner = { slot: 1, epoch: 0 };
  #lastMs = T0;
  readonly #ids = new IdSource();

  constructor(seed: number, { store, contents }: { store: Store; contents: ContentReader }) {
    this.random = randomFrom(seed);
    this.store = store;
    this.contents = contents;
  }

  id(): string {
    return this.#ids.next();
  }

  /** A whole number below `end`. */
  below(end: number): number {
    return Math.floor(this.random() * end);
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  pick<T>(from: Iterable<T>): T | undefined {
    const all = [...from];
    return all[this.below(all.length)];
  }

  oneOf<T>(...choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)]!;
  }

  /** No two results end at the same time, so that their order is known. */
  tick(): number {
    this.now = Math.max(this.now, this.#lastMs + 1);
    this.#lastMs = this.now;
    return this.now;
  }

  note(text: string): void {
    this.trace.push(text);
    if (this.trace.length > TRACE_LENGTH) this.trace.shift();
  }

  same(found: unknown, wanted: unknown, what: string): void {
    assert.deepStrictEqual(found, wanted, what);
  }

  async take(steps: readonly Step[], count: number): Promise<void> {
    const total = steps.reduce((sum, { weight = 1 }) => sum + weight, 0);
    for (let taken = 0; taken < count; taken++) {
      const step = stepAt(steps, this.random() * total);
      this.now += this.oneOf(0, 1, 1000, 60_000, 3_600_000);
      this.note(`${step.name} at +${this.now - T0}`);
      await step.run(this);
    }
  }
}

function stepAt(steps: readonly Step[], place: number): Step {
  let left = place;
  for (const step of steps) {
    left -= step.weight ?? 1;
    if (left < 0) return step;
  }
  return steps.at(-1)!;
}

/** Mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
