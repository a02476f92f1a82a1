import t from 'tap';
import { MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { AttemptThrottle, takeAttempt } from '../../src/tenants/attempt-throttle.ts';

const RULE = { freeTries: 3, firstWaitMs: 10 * SECOND_MS, longestWaitMs: MINUTE_MS, forgetAfterMs: 10 * MINUTE_MS };

function stage(maxKeys?: number) {
  const time = { now: 1_800_000_000_000 };
  return { time, throttle: new AttemptThrottle({ now: () => time.now }, RULE, maxKeys) };
}

t.test('free tries, then pauses that double up to the longest', async (t) => {
  const { time, throttle } = stage();
  const waits: number[] = [];
  for (let tries = 0; tries < 8; tries++) {
    const wait = takeAttempt([[throttle, 'a']]);
    waits.push(wait / SECOND_MS);
    time.now += wait;
    if (wait > 0) t.equal(takeAttempt([[throttle, 'a']]), 0, 'after waiting');
  }
  t.same(waits, [0, 0, 0, 10, 20, 40, 60, 60]);
  t.equal(takeAttempt([[throttle, 'b']]), 0, 'somebody else');
});

t.test('a try is counted before its outcome is known; one that is refused is not', async (t) => {
  const { time, throttle } = stage();
  const at_once = Array.from({ length: 10 }, () => takeAttempt([[throttle, 'a']]));
  t.equal(at_once.filter((wait) => wait === 0).length, 3, 'many at once are no way around it');
  time.now += 10 * SECOND_MS;
  t.equal(takeAttempt([[throttle, 'a']]), 0, 'the refused ones have cost nothing');
});

t.test('refunding, forgetting', async (t) => {
  const { time, throttle } = stage();
  for (let tries = 0; tries < 3; tries++) takeAttempt([[throttle, 'a']]);
  throttle.refund('a');
  t.equal(takeAttempt([[throttle, 'a']]), 0, 'one try came back');
  t.ok(takeAttempt([[throttle, 'a']]) > 0, 'but only one');
  time.now += RULE.forgetAfterMs;
  for (let tries = 0; tries < 3; tries++) t.equal(takeAttempt([[throttle, 'a']]), 0, 'all is forgotten');
});

t.test('one gate that is shut counts at none', async (t) => {
  const { throttle } = stage();
  const { throttle: other } = stage();
  for (let tries = 0; tries < 3; tries++) takeAttempt([[throttle, 'a']]);
  for (let tries = 0; tries < 9; tries++)
    takeAttempt([
      [throttle, 'a'],
      [other, 'b'],
    ]);
  t.equal(other.waitMs('b'), 0);
});

t.test('the room is bounded', async (t) => {
  const { throttle } = stage(2);
  for (const key of ['a', 'a', 'a', 'b', 'c']) takeAttempt([[throttle, key]]);
  t.equal(throttle.waitMs('a'), 0, 'the one that was quiet for longest is forgotten');
  for (let tries = 0; tries < 3; tries++) takeAttempt([[throttle, 'x'.repeat(10_000)]]);
  t.ok(throttle.waitMs('x'.repeat(10_000)) > 0, 'long keys as well');
});
