// What the store keeps of attempts by people who are not signed in: no names, and not without end.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/observe/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { AccountThrottles } from '../../../src/tenants/accounts/account-throttles.ts';
import { limitsTimer, sweepAttempts } from '../../../src/tenants/limit-sweep.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { T0 } from './account-stage.ts';

const KEY = { id: 'a', key: Buffer.alloc(32, 3) };

async function stage(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const time = { now: T0 };
  const clock = { now: () => time.now };
  const throttlesWith = (key: typeof KEY) => new AccountThrottles({ store, clock, log: silentLogger, key });
  return { file, store, time, clock, throttlesWith, throttles: throttlesWith(KEY) };
}

t.test('neither addresses nor networks are in the database, nor what anybody could hash', async (t) => {
  const { file, store, throttles, throttlesWith } = await stage(t);
  const gates = [
    ['pair', '192.0.2.0/24 jo@acme.test'],
    ['address', 'jo@acme.test'],
    ['address', `${'x'.repeat(100_000)}@acme.test`],
  ] as const;
  for (let attempt = 0; attempt < 5; attempt++) t.equal(await throttles.take(gates), 0);
  t.equal(await throttles.take(gates), 30_000);
  t.equal(await throttles.take([['network', 'jo@acme.test']]), 0, 'each limit has its own count');
  t.equal(await throttlesWith({ id: 'b', key: Buffer.alloc(32, 4) }).take(gates), 0, 'another key makes other hashes');
  await store.proveWritable(T0);
  const bytes = ['', '-wal'].map((end) => fs.readFileSync(`${file}${end}`).toString('latin1')).join('');
  t.notMatch(bytes, /jo@acme|192\.0\.2|xxxx/);
  t.ok(bytes.length < 5_000_000, 'a long name takes no more room than a short one');
});

t.test('what is forgotten is erased, and so are the oldest of too many', async (t) => {
  const { store, clock, time, throttles } = await stage(t);
  for (let n = 0; n < 10; n++) {
    for (let attempt = 0; attempt < 5; attempt++) await throttles.take([['pair', `${n}`]]);
    time.now += MINUTE_MS;
  }
  time.now -= 10 * MINUTE_MS;
  t.equal(await sweepAttempts({ store, clock }, 4), 6);
  const waits = await Promise.all([5, 6].map((n) => throttles.take([['pair', `${n}`]])));
  t.strictSame(
    waits.map((waitMs) => waitMs > 0),
    [false, true],
    'those that began last still wait',
  );
  time.now += 3 * HOUR_MS;
  await store.limits.spendCalls([{ id: '019a9b70-0000-7000-8000-000000000001', costMs: 0 }]);
  const run = () => limitsTimer({ store, clock }).run(new AbortController().signal);
  t.equal(await run(), '6 erased', 'five that were counted, and a bucket that is full');
  t.equal(await run(), '0 erased');
});

t.test('attempts from everywhere are erased while they come', async (t) => {
  const { store, time, throttles } = await stage(t);
  await throttles.take([['pair', 'old']]);
  time.now += 3 * HOUR_MS;
  for (let n = 0; n < 1000; n += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => throttles.take([['address', `${n + at}`]])));
  }
  await until('the old one is gone', async () => (await store.limits.forgottenBeyond(1000)) === null);
  t.not(await store.limits.forgottenBeyond(999), null, 'and no other');
});
