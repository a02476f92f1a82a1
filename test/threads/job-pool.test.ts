// What becomes of jobs that go on for ever, and of threads that die, cannot start, or hang at their start: the pool
// gives every job an end, and always has threads again.
import t, { type Test } from 'tap';
import { describeError } from '../../src/base/errors.ts';
import { JobPool, type JobPoolOptions } from '../../src/threads/job-pool.ts';
import { patience, within } from '../support/patience.ts';
import { START, type TestJob } from './job-thread-entry.ts';

type Start = (typeof START)[keyof typeof START];

function openPool(t: Test, options: Partial<JobPoolOptions<TestJob, string>> = {}, start: Start = START.well) {
  const control = new Int32Array(new SharedArrayBuffer(8));
  const startAs = (now: Start) => {
    Atomics.store(control, 0, now);
    Atomics.notify(control, 0);
  };
  startAs(start);
  const troubles: string[] = [];
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const watcher of watchers) watcher();
  };
  const pool = new JobPool<TestJob, string>({
    ...{ name: 'test', entry: new URL('./job-thread-entry.ts', import.meta.url), threads: 2, memoryMb: 32 },
    workerData: control,
    jobMs: patience(60_000),
    exceeded: (_job, what) => `too much ${what}`,
    onIdle: changed,
    onTrouble(error) {
      troubles.push(describeError(error));
      changed();
    },
    ...options,
  });
  // Idle threads keep no process from ending.
  const running = setInterval(() => {}, 60_000);
  t.teardown(() => {
    clearInterval(running);
    startAs(START.well);
    return pool.close();
  });
  const until = (what: string, holds: () => boolean) =>
    within(
      60_000,
      what,
      new Promise<void>((resolve) => {
        const look = () => {
          if (!holds()) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    );
  const allIdle = () => until('threads that are idle', () => pool.idle === pool.size);
  return { pool, troubles, startAs, until, allIdle, starts: () => Atomics.load(control, 1) };
}

const echo = (value: string): TestJob => ({ do: 'echo', value });

t.test('jobs run where a thread is idle, and none counts before it is ready', async (t) => {
  const { pool, allIdle, starts } = openPool(t);
  t.same([pool.size, pool.idle, pool.starting], [2, 0, 2]);
  await allIdle();
  t.same([pool.idle, pool.starting, starts()], [2, 0, 2]);
  const running = [pool.run(echo('a')), pool.run(echo('b'))];
  t.equal(pool.idle, 0);
  t.same(await Promise.all(running), ['a', 'b']);
  t.same([pool.idle, pool.replacements], [2, 0]);
});

t.test('a job that takes too long ends with its thread, and another thread comes', async (t) => {
  const { pool, troubles, allIdle } = openPool(t, { jobMs: patience(100) });
  await allIdle();
  const killed = pool.run({ do: 'spin' });
  t.equal(pool.idle, 1);
  t.equal(await killed, 'too much time');
  await allIdle();
  t.equal(await pool.run(echo('next')), 'next');
  t.same([troubles, pool.replacements], [[], 0], 'a limit is no trouble');
});

t.test('a job that fills the memory ends with its thread only', async (t) => {
  const { pool, troubles, allIdle } = openPool(t);
  await allIdle();
  t.equal(await pool.run({ do: 'fill' }), 'too much memory');
  await allIdle();
  t.equal(await pool.run(echo('next')), 'next');
  t.same([troubles, pool.replacements], [[], 0]);
});

t.test('a thread that dies of anything else is told of, and comes again', async (t) => {
  const { pool, troubles, allIdle } = openPool(t);
  await allIdle();
  await t.rejects(pool.run({ do: 'exit' }), { message: 'the job failed in its thread' });
  await allIdle();
  t.match(troubles, [/exited with code: 3/]);
  await t.rejects(pool.run({ do: 'throw' }), { message: 'the job failed in its thread' });
  t.match(troubles[1], /not well made/);
  await allIdle();
  t.equal(await pool.run(echo('next')), 'next');
});

t.test('threads that die at their start: the pool is replaced, and counts it', async (t) => {
  const { pool, troubles, startAs, until, allIdle } = openPool(t, {}, START.dies);
  await until('a first replacement', () => pool.replacements > 0);
  t.equal(pool.idle, 0);
  t.match(
    troubles.at(-1),
    /the pool of test threads has ended: .*; it is started again in \d+ s \(loss \d+ since the start\)/,
  );
  startAs(START.well);
  await allIdle();
  t.equal(await pool.run(echo('at last')), 'at last');
  t.ok(pool.replacements >= 1);
});

t.test('while one thread cannot start any more, the others go on, and then all are replaced', async (t) => {
  const { pool, startAs, until, allIdle } = openPool(t, { jobMs: patience(100) });
  await allIdle();
  startAs(START.dies);
  t.equal(await pool.run({ do: 'spin' }), 'too much time');
  await until('the loss', () => pool.replacements > 0);
  startAs(START.well);
  await allIdle();
  t.same(await Promise.all([pool.run(echo('a')), pool.run(echo('b'))]), ['a', 'b']);
});

t.test('threads that hang at their start are given up', async (t) => {
  const { pool, troubles, startAs, until, allIdle } = openPool(t, { startMs: patience(400) }, START.hangs);
  await until('the watchdog', () => pool.replacements > 0);
  t.match(troubles[0], /no sign of life/);
  startAs(START.well);
  await allIdle();
  t.equal(await pool.run(echo('at last')), 'at last');
});

t.test('closing ends jobs, and nothing starts behind it', async (t) => {
  const { pool, allIdle, starts } = openPool(t, { jobMs: patience(100) });
  await allIdle();
  t.equal(await pool.run({ do: 'spin' }), 'too much time');
  const ends = Promise.allSettled([pool.run({ do: 'spin' })]);
  await pool.close();
  const [end] = await ends;
  t.match(end, { status: 'rejected', reason: { message: 'the daemon is stopping' } });
  const before = starts();
  await t.rejects(pool.run(echo('late')), { message: 'the daemon is stopping' });
  t.equal(starts(), before);
});
