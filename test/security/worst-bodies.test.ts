// One tenant sends the bodies that cost most. They are read in threads, which a body cannot hold for
// longer than its limit; whoever sends small bodies notices nothing, and each body is paid for.
import t from 'tap';
import { worstBodies } from '../../bench/worst-bodies.ts';
import { BODY_LIMITS } from '../../src/api/body/body-job.ts';
import { startApiHarness } from '../support/api-harness.ts';
import { patience } from '../support/patience.ts';

const PIECE = 64 * 1024;

t.test('every one of the worst bodies is answered, and paid for by its size', async (t) => {
  const clock = { at: Date.now(), now: () => clock.at };
  const api = await startApiHarness({ clock, firstTier: 1000 });
  t.teardown(() => api.close());
  const heavy = await api.addTenant({ tier: '1k' });
  await api.addVerifiedDomain(heavy.id, 'heavy.test');
  for (const { about, bytes } of worstBodies('a@heavy.test')) {
    const key = await api.addKey(heavy.id);
    const answer = await api.call('POST', '/emails', { key, body: bytes });
    t.ok(answer.status === 202 || answer.status === 400, `${about}: ${answer.status} ${answer.body.message ?? ''}`);
    const left = 1000 - 1 - Math.floor(bytes.length / PIECE);
    t.equal(answer.headers.get('ratelimit-remaining'), String(left), about);
  }
});

t.test('a body over 64 KiB cannot hold its thread for longer than the limit', async (t) => {
  const waitMs = patience(60_000);
  const api = await startApiHarness({ bodyLimits: { ...BODY_LIMITS, threads: 1, jobMs: 1, waitMs } });
  t.teardown(() => api.close());
  const heavy = await api.addTenant();
  const other = await api.addTenant();
  await api.addVerifiedDomain(other.id, 'other.test');
  const mail = { from: 'a@other.test', to: 'jo@example.com', subject: 'x', text: 'x' };
  const slow = worstBodies('a@heavy.test').find(({ about }) => about === 'many values in data')!.bytes;
  const flood = Array.from({ length: 3 }, () => api.call('POST', '/emails', { key: heavy.key, body: slow }));
  t.equal((await api.call('POST', '/emails', { key: other.key, body: mail })).status, 202, 'read at once');
  for (const { status, headers, body } of await Promise.all(flood)) {
    t.equal(status, 500);
    t.equal(headers.get('retry-after'), '2');
    t.match(body.message, /took longer than 1 ms\. Retry later/);
  }
});
