// What makes room in a bounded map, by number and by weight.
import t from 'tap';
import { BoundedMap } from '../../src/base/bounded-map.ts';

function keysOf<Value>(map: BoundedMap<string, Value>): string[] {
  const keys: string[] = [];
  for (let oldest = map.oldest; oldest; oldest = map.oldest) {
    keys.push(oldest[0]);
    map.delete(oldest[0]);
  }
  return keys;
}

t.test('the entry that was set longest ago makes room', async (t) => {
  const map = new BoundedMap<string, number>(3);
  for (const key of ['a', 'b', 'c']) map.set(key, 1);
  map.set('a', 2);
  t.equal(map.size, 3, 'setting a known key takes no room');
  map.get('b');
  map.set('d', 1);
  t.equal(map.get('b'), undefined, 'looking at it did not help it');
  t.equal(map.get('a'), 2);
  t.same(keysOf(map), ['c', 'a', 'd']);
  t.equal(map.size, 0);
});

t.test('an entry in use stays', async (t) => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  t.equal(map.use('a'), 1);
  t.equal(map.use('z'), undefined);
  map.set('c', 3);
  t.same([map.has('a'), map.has('b'), map.has('c')], [true, false, true]);
  t.same([...map.values()], [1, 3]);
});

t.test('by weight', async (t) => {
  const map = new BoundedMap<string, string>(10, (value) => value.length);
  map.set('a', 'xxxx');
  map.set('b', 'xxxx');
  map.set('a', 'xx');
  map.set('c', 'xxxx');
  t.equal(map.size, 3, 'what was replaced weighs nothing any more');
  map.set('d', 'x');
  t.same([map.has('a'), map.has('b')], [true, false]);
  map.set('e', 'x'.repeat(50));
  t.same(keysOf(map), ['e'], 'alone, however heavy');
  map.set('f', 'x'.repeat(10));
  t.ok(map.delete('f'));
  t.notOk(map.delete('f'));
  map.set('g', 'x'.repeat(10));
  t.equal(map.size, 1);
});
