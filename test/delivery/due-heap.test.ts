// The heap against a sorted list, with random operations.
import t from 'tap';
import { DueHeap } from '../../src/delivery/queue/due-heap.ts';

t.test('behaves as a sorted list does', async (t) => {
  const heap = new DueHeap<number>();
  const list: { at: number; item: number }[] = [];
  for (let step = 0; step < 20_000; step++) {
    if (Math.random() < 0.55) {
      // Few different times, so that there are many equals.
      const at = Math.floor(Math.random() * 200);
      heap.push(step, at);
      list.push({ at, item: step });
    } else {
      const now = Math.floor(Math.random() * 200);
      const popped = heap.pop(now);
      const first = list.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
      if (first > now) {
        if (popped !== null) t.fail(`gave ${popped.at} at ${now}`);
        continue;
      }
      const index = list.findIndex(({ item }) => item === popped?.item);
      if (popped?.at !== first || list[index]?.at !== first) t.fail(`gave ${popped?.at} instead of ${first}`);
      list.splice(index, 1);
    }
    const least = list.reduce((smallest, { at }) => Math.min(smallest, at), Number.POSITIVE_INFINITY);
    if (heap.size !== list.length || heap.nextAt !== least) t.fail(`after step ${step}`);
  }
  const rest: number[] = [];
  for (let entry = heap.pop(1000); entry; entry = heap.pop(1000)) rest.push(entry.at);
  t.same(
    rest,
    list.map(({ at }) => at).sort((a, b) => a - b),
  );
});

t.test('an empty one', async (t) => {
  const heap = new DueHeap<string>();
  t.equal(heap.nextAt, Number.POSITIVE_INFINITY);
  t.equal(heap.pop(Number.MAX_SAFE_INTEGER), null);
});
