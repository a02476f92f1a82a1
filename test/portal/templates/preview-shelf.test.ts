// Previews in memory: for whoever made them, for a short time, and never too many.
import t from 'tap';
import { PreviewShelf } from '../../../src/portal/templates/preview-shelf.ts';

t.test('a preview is for its maker alone, until the next one or ten minutes', async (t) => {
  const clock = { time: 0, now: () => clock.time };
  const shelf = new PreviewShelf(clock);
  const first = shelf.put('ann', 'one');
  const other = shelf.put('bob', 'two');
  t.equal(shelf.find('ann', first), 'one');
  t.equal(shelf.find('ann', first), 'one', 'as often as it is asked for');
  t.equal(shelf.find('bob', first), null);
  t.equal(shelf.find('ann', 'made up'), null);
  const second = shelf.put('ann', 'three');
  t.equal(shelf.find('ann', first), null);
  t.equal(shelf.find('ann', second), 'three');
  clock.time = 10 * 60_000 - 1;
  t.equal(shelf.find('bob', other), 'two');
  clock.time++;
  t.equal(shelf.find('bob', other), null);
});

t.test('when it is full, the oldest go', async (t) => {
  const shelf = new PreviewShelf({ now: () => 0 }, 10);
  const tokens = ['ann', 'bob', 'cid'].map((who) => [who, shelf.put(who, '12345')] as const);
  t.same(
    tokens.map(([who, token]) => shelf.find(who, token)),
    [null, '12345', '12345'],
  );
  t.not(tokens[0]![1], tokens[1]![1]);
});
