// The checks of a run of several machines find what they are for, and nothing where nothing is wrong.
import t from 'tap';
import { Holdings, oddFeed, overLimit } from './check-nodes.ts';
import { faultsOf, KINDS } from './faults.ts';

t.test('events that were read on', (t) => {
  t.same(oddFeed(['a', 'b', 'c'], ['a', 'b', 'c']), []);
  t.match(oddFeed(['a', 'c', 'b'], ['a', 'b', 'c']), [/the first that differs is number 1/]);
  t.match(oddFeed(['a', 'b'], ['a', 'b', 'c']), [/2 events were read, 3 are there; .* number 2/], 'one was skipped');
  t.match(oddFeed(['a', 'b', 'b'], ['a', 'b']), [/number 2/], 'one came twice');
  t.end();
});

t.test('connections of an address', (t) => {
  const most = new Map([['127.0.0.21', 3]]);
  t.same(overLimit(most, 3), []);
  t.same(overLimit(most, 2), ['127.0.0.21: 3 at one time']);
  t.end();
});

t.test('owners', (t) => {
  const holdings = new Holdings();
  holdings.see('slot 1', { node: 'a', epoch: 1 });
  holdings.see('slot 1', { node: 'a', epoch: 1 });
  holdings.see('slot 1', { node: 'b', epoch: 2 });
  holdings.see('slot 2', { node: 'a', epoch: 1 });
  t.same(holdings.problems, []);
  holdings.see('slot 1', { node: 'a', epoch: 2 });
  holdings.see('slot 2', { node: 'a', epoch: 0 });
  t.same(holdings.problems, ['slot 1: b in epoch 2, then a in epoch 2', 'slot 2: a in epoch 1, then a in epoch 0']);
  t.end();
});

t.test('a seed repeats its faults, and each kind comes once before any comes again', (t) => {
  const draw = (seed: number, count: number) => {
    const faults = faultsOf(seed, 3);
    return Array.from({ length: count }, () => faults.next().value);
  };
  t.same(draw(7, 50), draw(7, 50));
  t.notSame(draw(7, 50), draw(8, 50));
  t.equal(new Set(draw(7, KINDS).map((fault) => fault?.name)).size, KINDS);
  t.end();
});
