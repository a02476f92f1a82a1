// Everything is worked on once and in its order, and between two portions the event loop turns.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { FewPerTurn } from '../../src/delivery/queue/few-per-turn.ts';

t.test('a few at once, the others in the turns that follow', async (t) => {
  const done: number[] = [];
  const few = new FewPerTurn<number>(3, (item) => void done.push(item));
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
  const few = new FewPerTurn<object>(3, () => {
    if (++done < 10) few.add({});
  });
  few.add({});
  t.equal(done, 3);
  for (let turns = 0; turns < 5; turns++) await turn();
  t.equal(done, 10);
});

t.test('what stands in the line is not put there twice', async (t) => {
  const done: string[] = [];
  const few = new FewPerTurn<string>(1, (item) => void done.push(item));
  for (const item of ['a', 'b', 'b', 'c']) few.add(item);
  for (let turns = 0; turns < 5; turns++) await turn();
  t.same(done, ['a', 'b', 'c']);
});

t.test('nothing more after stop', async (t) => {
  const done: number[] = [];
  const few = new FewPerTurn<number>(1, (item) => void done.push(item));
  few.add(1);
  few.add(2);
  few.stop();
  await turn();
  t.same(done, [1]);
});
