// Courier threads that cannot start: sessions that wait do not start them in a circle.
import { performance } from 'node:perf_hooks';
import t from 'tap';
import type { SessionPlan } from '../../src/delivery/courier/messages.ts';
import { type CourierPoolSettings, openCourierPool } from '../../src/delivery/session/courier-pool.ts';
import { until } from '../support/until.ts';

t.test('a pause between deaths holds for sessions that wait as well', async (t) => {
  const diedAt: number[] = [];
  const pool = openCourierPool({ timeoutFactor: 1 } as CourierPoolSettings, {
    threads: 1,
    entry: new URL('data:text/javascript,throw new Error("no room")'),
    onThreadLost: () => void diedAt.push(performance.now()),
    onHostNote: () => {},
  });
  t.teardown(() => pool.close());
  let ended = 0;
  const tryAgain = () => {
    const link = pool.start({} as SessionPlan, () => {}) as unknown as { over: Promise<void> };
    void link.over.then(() => {
      ended++;
      if (diedAt.length < 3) setTimeout(tryAgain, 1);
    });
  };
  tryAgain();
  await until('one has died', () => diedAt.length === 1);
  t.equal(pool.trouble(), null, 'it may be an accident');
  await until('three have died', () => diedAt.length === 3);
  t.match(pool.trouble(), { reason: /no room/, sinceMs: Number });
  t.ok(diedAt[2]! - diedAt[1]! >= 1900, 'the third began 2 s after the second');
  await until('sessions of the dead are over', () => ended >= 3);
});
