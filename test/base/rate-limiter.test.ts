import t from 'tap';
import { RateLimiter } from '../../src/base/rate-limiter.ts';

function limiterAt(now: number, maxKeys?: number) {
  const clock = { at: now, now: () => clock.at };
  return { clock, limiter: new RateLimiter(clock, maxKeys) };
}

function countAllowed(limiter: RateLimiter, calls: number, perMinute: number): number {
  let allowed = 0;
  for (let call = 0; call < calls; call++) if (limiter.take('k', perMinute).allowed) allowed++;
  return allowed;
}

t.test('a full bucket holds a minute’s worth, and refills continuously', async (t) => {
  for (const perMinute of [1000, 10_000, 7, 60, 999]) {
    const { clock, limiter } = limiterAt(Date.UTC(2026, 10, 25));
    t.equal(countAllowed(limiter, perMinute + 5, perMinute), perMinute, `${perMinute} at once`);
    clock.at += 30_000;
    t.equal(
      countAllowed(limiter, perMinute + 5, perMinute),
      Math.floor(perMinute / 2),
      'half of it after half a minute',
    );
    clock.at += 3_600_000;
    t.equal(countAllowed(limiter, perMinute + 5, perMinute), perMinute, 'never more than one minute’s worth');
  }
});

t.test('the figures that go into headers', async (t) => {
  const { clock, limiter } = limiterAt(5000);
  t.match(limiter.take('k', 1000), { allowed: true, limit: 1000, remaining: 999, resetSecs: 1 });
  countAllowed(limiter, 999, 1000);
  t.match(limiter.take('k', 1000), { allowed: false, limit: 1000, remaining: 0, resetSecs: 60, retryAfterSecs: 1 });
  clock.at += 1000;
  t.match(limiter.take('k', 1000), { allowed: true, remaining: 15 });
});

t.test('after retryAfterSecs one call is let through, and not a second earlier', async (t) => {
  const { clock, limiter } = limiterAt(0);
  limiter.take('k', 2);
  limiter.take('k', 2);
  clock.at += 500;
  const refused = limiter.take('k', 2);
  t.match(refused, { allowed: false, retryAfterSecs: 30 });
  clock.at += 29_000;
  t.equal(limiter.take('k', 2).allowed, false);
  clock.at += 1000;
  t.equal(limiter.take('k', 2).allowed, true);
});

t.test('keys do not share a bucket; a clock that is set back locks nobody out', async (t) => {
  const { clock, limiter } = limiterAt(10_000_000);
  t.equal(countAllowed(limiter, 1, 1), 1);
  t.equal(limiter.take('other', 1).allowed, true);
  clock.at -= 3_600_000;
  t.equal(limiter.take('k', 1).retryAfterSecs, 60, 'a minute at the most');
});

t.test('another tier counts from what was used in the one before', async (t) => {
  const { limiter } = limiterAt(0);
  countAllowed(limiter, 500, 1000);
  t.equal(limiter.take('k', 10_000).remaining, 4999);
});

t.test('a key without a cap is not remembered', async (t) => {
  const { limiter } = limiterAt(0);
  const verdicts = Array.from({ length: 20_000 }, () => limiter.take('k', null));
  t.ok(verdicts.every(({ allowed, limit, remaining }) => allowed && limit === remaining));
  t.equal(limiter.size, 0);
});

t.test('memory: full buckets are forgotten, and there is an upper limit', async (t) => {
  const { clock, limiter } = limiterAt(0, 50_000);
  for (let key = 0; key < 60_000; key++) limiter.take(`key ${key}`, 1000);
  t.equal(limiter.size, 50_000);
  clock.at += 60_000;
  for (let call = 0; call < 25_000; call++) limiter.take('k', 1_000_000);
  t.equal(limiter.size, 1, 'two idle ones go with every call');
});

t.test('a charge takes the bucket below zero, and the next call waits exactly for that', async (t) => {
  const { clock, limiter } = limiterAt(0);
  t.match(limiter.take('k', 60), { remaining: 59, resetSecs: 1 });
  t.match(limiter.charge('k', 60, 80), { allowed: true, limit: 60, remaining: 0, resetSecs: 81, retryAfterSecs: 0 });
  t.match(limiter.take('k', 60), { allowed: false, remaining: 0, resetSecs: 81, retryAfterSecs: 22 });
  clock.at += 21_000;
  t.match(limiter.take('k', 60), { allowed: false, retryAfterSecs: 1 });
  clock.at += 999;
  t.equal(limiter.take('k', 60).allowed, false, 'refused calls cost nothing, and bring nothing');
  clock.at += 1;
  t.match(limiter.take('k', 60), { allowed: true, remaining: 0 });
});

t.test('a debt outlives a clock that is set back, and grows by nothing', async (t) => {
  const { clock, limiter } = limiterAt(10_000_000);
  limiter.take('k', 60);
  limiter.charge('k', 60, 120);
  t.equal(limiter.take('k', 60).retryAfterSecs, 62);
  clock.at -= 3_600_000;
  t.equal(limiter.take('k', 60).retryAfterSecs, 62);
  clock.at += 62_000;
  t.equal(limiter.take('k', 60).allowed, true);
});

t.test('a key without a cap pays nothing for size', async (t) => {
  const { limiter } = limiterAt(0);
  limiter.charge('k', null, 1_000_000);
  t.equal(limiter.size, 0);
  t.equal(limiter.take('k', 1).allowed, true);
});
