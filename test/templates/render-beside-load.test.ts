// Templates on a machine whose processors are busy: what one uses of them counts, not how long it had to wait for one.
import os from 'node:os';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { RENDER_LIMITS, type RenderLimits, WAITING_LIMITS } from '../../src/templates/render-limits.ts';
import { RenderPool } from '../../src/templates/render-pool.ts';
import { patience } from '../support/patience.ts';

/** So many for each processor, at a higher priority than a render thread's. */
const BUSY_THREADS = 4;

async function keepProcessorsBusy(t: Test): Promise<void> {
  const spin = `require('node:worker_threads').parentPort.postMessage('runs'); for (;;);`;
  for (let count = 0; count < BUSY_THREADS * os.availableParallelism(); count++) {
    const busy = new Worker(spin, { eval: true });
    t.teardown(() => busy.terminate());
    await new Promise((resolve) => busy.once('message', resolve));
  }
}

/** Its clock stands still: trust that is lost does not come back. And nothing is killed. */
function openPool(t: Test, limits: Partial<RenderLimits>) {
  const now = Date.now();
  const pool = new RenderPool({
    clock: { now: () => now },
    log: silentLogger,
    threads: 2,
    limits: { ...RENDER_LIMITS, jobMs: 10 * MINUTE_MS, allocations: 1e12, ...limits },
    waiting: { ...WAITING_LIMITS, waitMs: patience(60_000) },
  });
  t.teardown(() => pool.close());
  const render = (tenant: string, html: string) => pool.run(tenant, { source: { html, text: null }, data: '{}' });
  return { pool, render };
}

t.test('a template does not take long because it waits for a processor', async (t) => {
  const { render } = openPool(t, { workMs: 400 });
  await render('a', 'x');
  await keepProcessorsBusy(t);
  // A quarter of that, for a thread that has a tenth of a processor.
  t.match(await render('a', '{% for i in (1..200000) %}{% endfor %}.'), { kind: 'rendered', html: '.' });
});

t.test('a busy machine makes nobody slow', async (t) => {
  const { pool, render } = openPool(t, { workMs: 10 * MINUTE_MS });
  t.equal((await render('quick', 'x')).kind, 'rendered');
  const loop = '{% for i in (1..20000) %}{% endfor %}';
  await render('quick', loop);
  await keepProcessorsBusy(t);
  for (let round = 0; round < 8; round++) t.equal((await render('quick', loop)).kind, 'rendered');
  const slow = ['h1', 'h2'].map((tenant) =>
    render(tenant, '{% for i in (1..3000000) %}{% for j in (1..1000) %}{% endfor %}{% endfor %}'),
  );
  const ends = Promise.allSettled(slow);
  t.equal((await render('quick', 'x')).kind, 'rendered', 'the thread for quick tenants is still its own');
  await pool.close();
  t.same(
    (await ends).map(({ status }) => status),
    ['rejected', 'rejected'],
    'and the slow ones had not ended',
  );
});
