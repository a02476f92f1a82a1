// Work gathered per turn of the event loop: everything is worked on once and in its order.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { BatchPerTick, FewPerTick, OncePerTick } from '../../src/base/per-tick.ts';

t.test('a few at once, the others in the turns that follow', async (t) => {
  const done: number[] = [];
  const few = new FewPerTick<number>(3, (item) => void done.push(item));
  for (let item = 0; item < 8; item++) few.add(item);
  t.same(done, [0, 1, 2]);
  await turn();
  t.same(done, [0, 1, 2, 3, 4, 5]);
  few.add(8);
  await turn();
  t.same(done, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  await turn();
  await turn();
  few.add(9);
  t.equal(done.at(-1), 9, 'nothing is in front of it');
});

t.test('work that brings new work does not keep the event loop', async (t) => {
  let done = 0;
  const few = new FewPerTick<object>(3, () => {
    if (++done < 10) few.add({});
  });
  few.add({});
  t.equal(done, 3);
  for (let turns = 0; turns < 5; turns++) await turn();
  t.equal(done, 10);
});

t.test('what stands in the line is not put there twice', async (t) => {
  const done: string[] = [];
  const few = new FewPerTick<string>(1, (item) => void done.push(item));
  for (const item of ['a', 'b', 'b', 'c']) few.add(item);
  for (let turns = 0; turns < 5; turns++) await turn();
  t.same(done, ['a', 'b', 'c']);
});

t.test('nothing more after stop', async (t) => {
  const done: number[] = [];
  const few = new FewPerTick<number>(1, (item) => void done.push(item));
  few.add(1);
  few.add(2);
  few.stop();
  await turn();
  t.same(done, [1]);
});

function openBatches(max?: number) {
  const batches: string[][] = [];
  return { batches, gathered: new BatchPerTick<string>((batch) => batches.push(batch), max) };
}

t.test('what comes in one turn is one batch, in its order', async (t) => {
  const { batches, gathered } = openBatches();
  for (const item of ['a', 'b', 'b', 'c']) gathered.add(item);
  t.same(batches, [], 'not before the turn is over');
  await turn();
  t.same(batches, [['a', 'b', 'b', 'c']]);
  await turn();
  t.equal(batches.length, 1, 'nothing twice, and nothing makes no batch');
  gathered.add('d');
  await turn();
  t.same(batches.slice(1), [['d']], 'each turn has its own');
});

t.test('a flush hands over at once, and what follows comes later', async (t) => {
  const { batches, gathered } = openBatches();
  gathered.flush();
  t.same(batches, [], 'with nothing');
  gathered.add('a');
  gathered.flush();
  t.same(batches, [['a']]);
  gathered.add('b');
  t.equal(batches.length, 1);
  await turn();
  t.same(batches, [['a'], ['b']]);
});

t.test('what comes while a batch is worked on is not lost', async (t) => {
  const batches: string[][] = [];
  const gathered = new BatchPerTick<string>((batch) => {
    batches.push(batch);
    if (batches.length === 1) gathered.add('b');
  });
  gathered.add('a');
  gathered.flush();
  await turn();
  t.same(batches, [['a'], ['b']]);
});

t.test('a batch may be bounded; the rest follows in the next turns', async (t) => {
  const { batches, gathered } = openBatches(2);
  for (const item of ['a', 'b', 'c', 'd', 'e']) gathered.add(item);
  await turn();
  t.same(batches, [['a', 'b']]);
  gathered.add('f');
  await turn();
  await turn();
  await turn();
  t.same(batches, [
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
  ]);
});

t.test('once per turn, however often it is asked for', async (t) => {
  let done = 0;
  const once = new OncePerTick(() => void done++);
  once.request();
  once.request();
  t.same([done, once.isPending], [0, true]);
  await turn();
  t.same([done, once.isPending], [1, false]);
  once.request();
  once.cancel();
  await turn();
  t.same([done, once.isPending], [1, false], 'cancelled');
});
