// Which job starts when, with threads that end their jobs when the test says so: what the pools' own tests can only see from
// outside, where the machine decides which thread is quicker.
import t from 'tap';
import { FairPool, type JobThreads } from '../../src/threads/fair-pool.ts';

function openPool(size: number) {
  const started: string[] = [];
  const running = new Map<string, () => void>();
  const threads: JobThreads<string, string> = {
    size,
    get idle() {
      return size - running.size;
    },
    starting: 0,
    run(job) {
      started.push(job);
      return new Promise((resolve) => running.set(job, () => resolve(job)));
    },
    close: async () => {},
  };
  const pool = new FairPool({ startThreads: () => threads, waitMs: 60_000, sizePerTenant: 100 });
  const end = async (job: string) => {
    const resolve = running.get(job)!;
    running.delete(job);
    resolve();
    await new Promise(setImmediate);
  };
  return { pool, started, end };
}

t.test('with a thread to spare, a tenant still has only one', async (t) => {
  const { pool, started, end } = openPool(2);
  const jobs = ['a0', 'a1', 'a2', 'b0'].map((job) => pool.run(job[0]!, job));
  t.same(started, ['a0', 'b0'], 'b waits for none of the others');
  await end('b0');
  t.same(started, ['a0', 'b0'], 'the free thread is not for a');
  await end('a0');
  t.same(started, ['a0', 'b0', 'a1']);
  await end('a1');
  await end('a2');
  t.same(await Promise.all(jobs), ['a0', 'a1', 'a2', 'b0']);
});

t.test('whoever judges a job hears of its result, or that it has none', async (t) => {
  const ended: (string | null)[] = [];
  const threads: JobThreads<string, string> = {
    size: 1,
    idle: 1,
    starting: 0,
    run: (job) => (job === 'fails' ? Promise.reject(new Error('the thread died')) : Promise.resolve(`${job}, done`)),
    close: async () => {},
  };
  const onEnd = (_tenant: string, { result }: { result: string | null }) => void ended.push(result);
  const pool = new FairPool({ startThreads: () => threads, waitMs: 60_000, sizePerTenant: 100, onEnd });
  t.equal(await pool.run('a', 'works'), 'works, done');
  await t.rejects(pool.run('a', 'fails'), { message: 'the thread died' });
  t.same(ended, ['works, done', null]);
});
