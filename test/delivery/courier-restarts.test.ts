// Courier threads that cannot start: sessions that wait do not start them in a circle.
import { performance } from 'node:perf_hooks';
import t from 'tap';
import type { SessionPlan } from '../../src/delivery/courier/messages.ts';
import {
  type CourierPoolSettings,
  type CourierTrouble,
  openCourierPool,
} from '../../src/delivery/session/courier-pool.ts';
import { until } from '../support/until.ts';

t.test('a pause between deaths holds for sessions that wait as well', async (t) => {
  const diedAt: number[] = [];
  /** As it was before each death. */
  const troubles: (CourierTrouble | null)[] = [];
  const pool = openCourierPool({ timeoutFactor: 1 } as CourierPoolSettings, {
    threads: 1,
    entry: new URL('data:text/javascript,throw new Error("no room")'),
    onThreadLost() {
      troubles.push(pool.trouble());
      diedAt.push(performance.now());
    },
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
  await until('three have died', () => diedAt.length === 3);
  t.match(troubles, [null, null, { reason: /no room/, sinceMs: Number }], 'one may be an accident');
  t.ok(diedAt[2]! - diedAt[1]! >= 1900, 'the third began 2 s after the second');
  await until('sessions of the dead are over', () => ended >= 3);
});

t.test('threads that have worked before they died are no trouble', async (t) => {
  let deaths = 0;
  const pool = openCourierPool({ timeoutFactor: 1 } as CourierPoolSettings, {
    threads: 1,
    entry: new URL('data:text/javascript,setTimeout(() => { throw new Error("later") }, 50)'),
    onThreadLost: () => void deaths++,
    onHostNote: () => {},
    // Fifty milliseconds are as long as it takes to send a lot of mail, and less than counts as a new beginning.
    elapsed: () => performance.now() * 500,
  });
  t.teardown(() => pool.close());
  await until('two have died', () => deaths >= 2);
  t.equal(pool.trouble(), null);
});
