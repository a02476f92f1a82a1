// Mail that couriers cannot read at the moment.
import t from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import type { MessageDetail } from '../../src/store/queue.ts';
import { setOneMx, setUpFor } from './set-up.ts';

t.test('what cannot be read now is due again in a minute, and keeps no other mail of its lane waiting', async (t) => {
  const entry = new URL('./unread-courier.ts', import.meta.url);
  const harness = await setUpFor(t, 1, { pool: { entry } });
  setOneMx(harness);
  const sentAt = Date.now();
  const ids = await harness.send(['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test']);
  const isPutOff = ({ state, dueAt }: MessageDetail) => state === 'queued' && dueAt! >= sentAt + MINUTE_MS;
  const found = await harness.untilAll(ids, isPutOff);
  t.match(found, Array(3).fill({ attempts: 0, parked: false }), 'each was the first of a batch once');
});
