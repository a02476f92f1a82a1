// What was sent within the last minute: never counted for less.
import t from 'tap';
import { SendWindow } from '../../src/delivery/shaping/send-window.ts';

const MINUTE = 60_000;

t.test('full, and free again when the oldest is a whole span old', async (t) => {
  const window = new SendWindow(MINUTE);
  window.add(2, 1_999);
  window.add(1, 30_000);
  t.equal(window.used(30_000), 3);
  t.equal(window.freeAt(4, 30_000), 30_000, 'there is room');
  const freeAt = window.freeAt(3, 30_000);
  t.ok(freeAt >= 1_999 + MINUTE && freeAt <= 1_999 + MINUTE + 1000, `${freeAt}`);
  t.equal(window.used(freeAt - 1), 3);
  t.equal(window.used(freeAt), 1);
  t.ok(window.freeAt(1, freeAt) >= 30_000 + MINUTE);
});

t.test('in no span more than the limit, whenever it is asked', async (t) => {
  const window = new SendWindow(MINUTE);
  const sent: number[] = [];
  for (let now = 0; now < 5 * MINUTE; now += 173) {
    if (window.freeAt(10, now) > now) continue;
    window.add(1, now);
    sent.push(now);
  }
  const most = Math.max(...sent.map((from) => sent.filter((at) => at >= from && at < from + MINUTE).length));
  t.equal(most, 10);
  t.ok(sent.length >= 40, `${sent.length} in five minutes`);
});

t.test('what was not sent after all is taken back, the latest first', async (t) => {
  const window = new SendWindow(MINUTE);
  window.add(5, 0);
  window.add(5, 10_000);
  window.takeBack(7);
  t.equal(window.used(10_000), 3);
  window.takeBack(100);
  t.equal(window.used(10_000), 0);
});

t.test('it outlives a restart', async (t) => {
  const window = new SendWindow(MINUTE);
  window.add(5, 1000);
  const copy = new SendWindow(MINUTE, window.toSlots(1000));
  t.equal(copy.used(1000), 5);
  t.same(window.toSlots(10 * MINUTE), [], 'nothing old is stored');
});
