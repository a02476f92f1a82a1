// What a token bucket gives at once and over time, and a clock that is set back.
import t from 'tap';
import { steadyClock } from '../../src/base/clock.ts';
import { fullAfter, type TokenBucket, tokensLeft, tokenWaitMs } from '../../src/base/token-bucket.ts';

const BUCKET: TokenBucket = { capacity: 3, refillMs: 100 };

t.test('a full bucket gives all at once, then one at each refill', async (t) => {
  let fullAt = Number.NEGATIVE_INFINITY;
  const take = (now: number): number => {
    const waitMs = tokenWaitMs(BUCKET, fullAt, now);
    if (waitMs === 0) fullAt = fullAfter(BUCKET, fullAt, now);
    return waitMs;
  };
  t.same([take(0), take(0), take(0), take(0)], [0, 0, 0, 100]);
  t.equal(tokensLeft(BUCKET, fullAt, 0), 0);
  t.equal(tokensLeft(BUCKET, fullAt, 50), 0.5);
  t.equal(take(60), 40);
  t.same([take(100), take(100)], [0, 100]);
  t.equal(tokensLeft(BUCKET, fullAt, 10_000), 3, 'never more than it holds');
});

t.test('it may go below zero, and the next token waits for that', async (t) => {
  const fullAt = fullAfter(BUCKET, 0, 0, 5);
  t.equal(tokensLeft(BUCKET, fullAt, 0), -2);
  t.equal(tokenWaitMs(BUCKET, fullAt, 0), 300);
  t.equal(tokenWaitMs(BUCKET, fullAt, 300), 0);
});

t.test('crumbs of divisions cost no token', async (t) => {
  const month = 30 * 24 * 3_600_000;
  for (const capacity of [7, 60, 999, 1000, 7000]) {
    const bucket = { capacity, refillMs: 60_000 / capacity };
    let [fullAt, given] = [0, 0];
    while (tokenWaitMs(bucket, fullAt, month) === 0 && given < 2 * capacity) {
      fullAt = fullAfter(bucket, fullAt, month);
      given++;
    }
    t.equal(given, capacity);
  }
});

t.test('without a refill time it never runs out', async (t) => {
  const bucket = { capacity: 2, refillMs: 0 };
  const fullAt = fullAfter(bucket, 5, 5, 100);
  t.equal(tokenWaitMs(bucket, fullAt, 5), 0);
  t.equal(tokensLeft(bucket, fullAt, 5), 2);
});

t.test('a steady clock goes on where the other was set back', async (t) => {
  const clock = { at: 1000, now: () => clock.at };
  const steady = steadyClock(clock);
  const seen = [1000, 1500, 100, 150, 20, 40, 5040].map((at) => {
    clock.at = at;
    return steady.now();
  });
  t.same(seen, [0, 500, 500, 550, 550, 570, 5570], 'however often, and ahead with it');
});
