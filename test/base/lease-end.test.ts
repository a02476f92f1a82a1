// Until when a process may act on what it holds, as each of its threads sees it.
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { LeaseEnd } from '../../src/base/lease-end.ts';

function start() {
  const clock = { now: 1000 };
  const lease = new LeaseEnd(() => clock.now);
  return { clock, lease };
}

t.test('it lasts until an end is set, and then until that end', async (t) => {
  const { clock, lease } = start();
  t.equal(lease.isOver, false);
  lease.set(2000.7);
  clock.now = 1999;
  t.equal(lease.isOver, false);
  clock.now = 2000;
  t.equal(lease.isOver, true);
  lease.set(3000);
  t.equal(lease.isOver, false, 'it was renewed');
});

t.test('what has begun may be completed until the end, also when that was put off meanwhile', async (t) => {
  const { clock, lease } = start();
  lease.set(2000);
  const mayComplete = lease.begin();
  t.equal(mayComplete(), true);
  lease.set(3000);
  clock.now = 2500;
  t.equal(mayComplete(), true);
  clock.now = 3000;
  t.equal(mayComplete(), false);
});

t.test('what had begun before a loss may not, and what begins after it may', async (t) => {
  const { clock, lease } = start();
  lease.set(9000);
  const before = lease.begin();
  clock.now = 1500;
  lease.noteLoss();
  const meanwhile = lease.begin();
  clock.now = 1501;
  const after = lease.begin();
  t.strictSame([before(), meanwhile(), after()], [false, false, true]);
});

t.test('another thread sees the same', async (t) => {
  const lease = new LeaseEnd();
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { LeaseEnd, monotonicMs } = await import(workerData.module);
    const lease = new LeaseEnd(monotonicMs, workerData.memory);
    const mayComplete = lease.begin();
    parentPort.on('message', () => parentPort.postMessage([lease.isOver, mayComplete()]));
    parentPort.postMessage('begun');`;
  const module = new URL('../../src/base/lease-end.ts', import.meta.url).href;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
    workerData: { module, memory: lease.memory },
  });
  t.teardown(() => worker.terminate());
  const ask = () => new Promise((resolve) => worker.once('message', resolve).postMessage('ask'));
  await new Promise((resolve) => worker.once('message', resolve));
  t.strictSame(await ask(), [false, true]);
  lease.set(0);
  t.strictSame(await ask(), [true, false]);
});
