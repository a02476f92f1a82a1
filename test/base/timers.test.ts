import t from 'tap';
import { Timers } from '../../src/base/timers.ts';

function fakeTimers(lead: (timer: { name: string }) => Promise<boolean> = async () => true) {
  const clock = { time: 1_000, now: () => clock.time };
  const errors: string[] = [];
  const timers = new Timers({ clock, tickMs: 1_000_000, lead, onError: (name) => void errors.push(name) });
  return { clock, timers, errors };
}

t.test('a timer runs when its period is over, and tells how it went', async (t) => {
  const { clock, timers } = fakeTimers();
  t.teardown(() => timers.stop());
  let runs = 0;
  timers.add({ name: 'count', periodMs: 500, run: async () => `run ${++runs}` });

  await timers.tick();
  t.equal(runs, 0, 'not before its first period is over');
  clock.time += 500;
  await timers.tick();
  await timers.tick();
  t.equal(runs, 1, 'once per period');
  t.strictSame(timers.list(), [
    { name: 'count', periodMs: 500, nextRunAt: 2_000, lastRunAt: 1_500, lastResult: 'run 1', isRunning: false },
  ]);
});

t.test('a failure is told, and the next run comes all the same', async (t) => {
  const { clock, timers, errors } = fakeTimers();
  t.teardown(() => timers.stop());
  let runs = 0;
  const run = async () => {
    if (++runs === 1) throw new Error('no luck');
    return 'fine';
  };
  timers.add({ name: 'shaky', periodMs: 10, run });
  clock.time += 10;
  await timers.tick();
  t.match(timers.list(), [{ lastResult: 'failed: no luck' }]);
  t.strictSame(errors, ['shaky']);
  clock.time += 10;
  await timers.tick();
  t.match(timers.list(), [{ lastResult: 'fine' }]);
});

t.test('a timer that is hastened runs at the next look, also again after a run in progress', async (t) => {
  const { timers } = fakeTimers();
  t.teardown(() => timers.stop());
  const runs: PromiseWithResolvers<string>[] = [];
  const run = () => {
    runs.push(Promise.withResolvers());
    return runs.at(-1)!.promise;
  };
  timers.add({ name: 'daily', periodMs: 1_000_000, run });
  timers.hasten('daily');
  timers.hasten('no such timer');
  const first = timers.tick();
  t.equal(runs.length, 1);
  timers.hasten('daily');
  await timers.tick();
  t.equal(runs.length, 1, 'not beside the first');
  runs[0]!.resolve('one');
  await first;
  const second = timers.tick();
  runs[1]!.resolve('two');
  await second;
  t.match(timers.list(), [{ lastResult: 'two' }]);
  await timers.tick();
  t.equal(runs.length, 2);
});

t.test('runs of one timer never overlap, and stop waits for the one that runs', async (t) => {
  const { clock, timers } = fakeTimers();
  let started = 0;
  const { promise, resolve } = Promise.withResolvers<string>();
  const run = () => {
    started++;
    return promise;
  };
  timers.add({ name: 'slow', periodMs: 10, run });
  clock.time += 10;
  const first = timers.tick();
  clock.time += 10;
  await timers.tick();
  t.equal(started, 1);
  t.match(timers.list(), [{ isRunning: true, lastResult: null }]);
  let stopped = false;
  const stopping = timers.stop().then(() => {
    stopped = true;
  });
  await new Promise(setImmediate);
  t.equal(stopped, false);
  resolve('done');
  await Promise.all([first, stopping]);
  t.equal(stopped, true);
  t.match(timers.list(), [{ isRunning: false, lastResult: 'done' }]);
});

t.test('a timer for one node runs where that node leads it, and others run anyway', async (t) => {
  const asked: string[] = [];
  let leads = false;
  const { clock, timers, errors } = fakeTimers(async ({ name }) => {
    asked.push(name);
    if (asked.length === 3) throw new Error('no database');
    return leads;
  });
  t.teardown(() => timers.stop());
  timers.add({ name: 'led', periodMs: 10, byLeader: true, run: async () => 'led here' });
  timers.add({ name: 'everywhere', periodMs: 10, run: async () => 'run here' });
  const results = async () => {
    clock.time += 10;
    await timers.tick();
    return timers.list().map(({ lastResult }) => lastResult);
  };
  t.strictSame(await results(), ['another node runs it', 'run here']);
  leads = true;
  t.strictSame(await results(), ['led here', 'run here']);
  t.strictSame(await results(), ['failed: no database', 'run here']);
  t.strictSame([asked, errors], [['led', 'led', 'led'], ['led']]);
});

t.test('a clock that was ahead and is set back stops no timer', async (t) => {
  const { clock, timers } = fakeTimers();
  t.teardown(() => timers.stop());
  let runs = 0;
  timers.add({ name: 'count', periodMs: 500, run: async () => `run ${++runs}` });
  timers.add({ name: 'late', periodMs: 500, firstMs: 2_000, run: async () => 'run' });
  await timers.tick();
  t.equal(runs, 0);
  clock.time += 1_000_000_000;
  await timers.tick();
  t.equal(runs, 1);
  clock.time -= 1_000_000_000;
  await timers.tick();
  t.equal(runs, 2);
  await timers.tick();
  t.equal(runs, 2, 'and then once per period');
  t.match(timers.list(), [{ nextRunAt: clock.time + 500 }, { nextRunAt: clock.time + 500 }]);
});
