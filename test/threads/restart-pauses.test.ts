// Deaths one after the other wait longer each time; one that has lived begins from the shortest.
import t from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { RestartPauses } from '../../src/threads/restart-pauses.ts';

t.test('pauses double up to a limit, until one has lived', async (t) => {
  const pauses = new RestartPauses();
  const first = Array.from({ length: 7 }, () => pauses.next(10) / 1000);
  t.same(first, [1, 2, 4, 8, 16, 30, 30]);
  t.equal(pauses.next(MINUTE_MS), 1000);
  t.equal(pauses.next(10), 2000);
  pauses.reset();
  t.equal(pauses.next(10), 1000);
});
