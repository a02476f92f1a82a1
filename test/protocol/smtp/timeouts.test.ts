// The table keeps to the RFC where giving up early does harm.
import t from 'tap';
import { DEFAULT_TIMEOUTS, scaleTimeouts } from '../../../src/protocol/smtp/timeouts.ts';

t.test('the waits that RFC 5321 section 4.5.3.2 sets are not undercut', async (t) => {
  const minutes = (count: number) => count * 60_000;
  t.ok(DEFAULT_TIMEOUTS.mailMs >= minutes(5));
  t.ok(DEFAULT_TIMEOUTS.rcptMs >= minutes(5));
  t.ok(DEFAULT_TIMEOUTS.dataMs >= minutes(2));
  t.ok(DEFAULT_TIMEOUTS.dataBlockMs >= minutes(3));
  t.ok(DEFAULT_TIMEOUTS.dotMs >= minutes(10));
});

t.test('scaling changes all of them and leaves the table alone', async (t) => {
  const before = { ...DEFAULT_TIMEOUTS };
  const half = scaleTimeouts(0.5);
  for (const [key, value] of Object.entries(before)) t.equal(half[key as keyof typeof half], value / 2, key);
  t.same(DEFAULT_TIMEOUTS, before);
});
