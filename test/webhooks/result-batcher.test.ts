// Results of webhook calls while the database takes none: nothing is lost, and the log is not filled.
import t from 'tap';
import { MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { DeliveryResult } from '../../src/store/webhooks.ts';
import { TICK_MS } from '../../src/webhooks/dispatcher.ts';
import { ResultBatcher } from '../../src/webhooks/result-batcher.ts';
import { FakeClock } from './stage.ts';

function stage() {
  const clock = new FakeClock();
  const logged: string[] = [];
  const recorded: DeliveryResult[][] = [];
  const world = { isAway: true, tries: 0 };
  const recordDeliveries = async (results: readonly DeliveryResult[]) => {
    world.tries++;
    if (world.isAway) throw new Error('the database is away');
    recorded.push([...results]);
    return 0;
  };
  const batcher = new ResultBatcher({
    store: { webhooks: { recordDeliveries } },
    clock,
    log: { ...silentLogger, error: ({ results }, text) => void logged.push(`${results} ${text}`) },
    onRecorded() {},
    onSettled() {},
  });
  const add = async (count: number) => {
    const results = Array.from({ length: count }, (_, n) => ({ n }) as unknown as DeliveryResult);
    for (const result of results) {
      batcher.add(result);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return results;
  };
  const pass = async (ms: number) => {
    for (const end = clock.time + ms; clock.time < end; ) {
      clock.time += TICK_MS;
      batcher.tick();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { clock, logged, recorded, world, batcher, add, pass };
}

t.test('an outage is told once a minute, and tried once a second', async (t) => {
  const { clock, logged, recorded, world, batcher, add, pass } = stage();
  const kept = await add(50);
  t.equal(world.tries, 1);
  await pass(MINUTE_MS - TICK_MS);
  t.equal(world.tries, 60);
  t.match(logged, [/^1 results of webhook deliveries could not be stored; they are kept .*: the database is away$/]);
  await pass(TICK_MS);
  t.match(logged.slice(1), [/^50 results/]);
  t.equal(batcher.isEmpty, false);
  world.isAway = false;
  clock.time += SECOND_MS;
  batcher.tick();
  await batcher.flush();
  t.strictSame(recorded, [kept], 'all of them, in their order');
  t.equal(batcher.isEmpty, true);
});

t.test('who closes does not wait for the second', async (t) => {
  const { recorded, world, batcher, add } = stage();
  const kept = await add(2);
  world.isAway = false;
  await batcher.flush();
  t.strictSame(recorded, [kept]);
});

t.test('after it, results are stored as they come, and a new outage is told at once', async (t) => {
  const { clock, logged, recorded, world, batcher, add } = stage();
  await add(1);
  world.isAway = false;
  await batcher.flush();
  await add(1);
  t.equal(recorded.length, 2, 'without a tick');
  clock.time += MINUTE_MS / 2;
  world.isAway = true;
  await add(2);
  t.equal(logged.length, 2);
});
