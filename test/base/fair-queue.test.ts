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

t.test('a long queue keeps its order while jobs are taken and removed', async (t) => {
  const queue = new FairQueue<string>();
  const jobs = Array.from({ length: 1_000 }, (_, at) => `job ${at}`);
  for (const job of jobs) queue.add('a', job);
  const taken: string[] = [];
  const takeSome = (count: number) => {
    for (let at = 0; at < count; at++) taken.push(queue.take()!.job);
  };
  takeSome(600);
  for (const gone of ['job 5', 'job 700']) queue.remove('a', gone);
  queue.add('a', 'last');
  takeSome(300);
  t.same(taken, [...jobs.slice(0, 700), ...jobs.slice(701, 901)]);
  t.same(queue.clear(), [...jobs.slice(901), 'last']);
  t.ok(queue.isEmpty);
});
