// Whose job is next, when several tenants wait, and how much may wait.
import t from 'tap';
import { FairQueue } from '../../src/base/fair-queue.ts';

function queueOf(...jobs: string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const job of jobs) queue.add(job[0]!, job);
  return queue;
}

t.test('tenants take turns, however long their queues are', async (t) => {
  const queue = queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2');
  const order = Array.from({ length: 6 }, () => queue.take()?.job);
  t.same(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  t.equal(queue.take(), null);
  t.ok(queue.isEmpty);
});

t.test('who may not go keeps the turn', async (t) => {
  const queue = queueOf('a1', 'b1', 'b2');
  t.same(
    queue.take((key) => key !== 'a'),
    { key: 'b', job: 'b1' },
  );
  t.same(queue.take(), { key: 'a', job: 'a1' });
});

t.test('a job that gives up leaves its queue, and the last one closes it', async (t) => {
  const queue = queueOf('a1', 'a2', 'b1');
  queue.remove('a', 'a1');
  queue.remove('b', 'b1');
  queue.remove('b', 'b1');
  queue.remove('c', 'c1');
  t.same(queue.clear(), ['a2']);
  t.ok(queue.isEmpty);
});

t.test('what waits is bounded, in all and per tenant', async (t) => {
  const queue = new FairQueue<string>({ inAll: 3, perKey: 2 });
  t.same(
    ['a1', 'a2', 'a3', 'b1', 'c1'].map((job) => queue.add(job[0]!, job)),
    [true, true, false, true, false],
  );
  queue.take();
  t.ok(queue.add('c', 'c1'), 'there is room again');
  queue.remove('c', 'c1');
  t.ok(queue.add('c', 'c1'), 'and after one gave up');
  queue.clear();
  t.same(
    ['a1', 'a2', 'b1'].map((job) => queue.add(job[0]!, job)),
    [true, true, true],
    'and after all did',
  );
});

t.test('sizes count; a single job may be larger', async (t) => {
  const queue = new FairQueue<string>({ perKey: 4, sizeOf: (job) => job.length });
  t.ok(queue.add('a', 'larger'));
  t.notOk(queue.add('a', 'x'));
  t.ok(queue.add('b', 'xx'));
  t.ok(queue.add('b', 'xx'));
  t.notOk(queue.add('b', 'x'));
  queue.take();
  queue.take();
  t.ok(queue.add('a', 'x'));
  t.ok(queue.add('b', 'x'));
});
