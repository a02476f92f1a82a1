// Retention with more to erase than one run can: who has a turn, and when the next run comes.
import t from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { Timers } from '../../src/base/timers.ts';
import { RETENTION_TIMER, retentionTimer } from '../../src/upkeep/retention.ts';
import { T0 } from '../store/conformance/harness.ts';
import { finishMany, openWorld } from './retention-kit.ts';

t.test('a backlog of one kind holds up no other', async (t) => {
  const world = await openWorld(t);
  const { store, bench, clock, kit, goingOn, erase, hasContent, finish } = world;
  const { domain, tenant } = await bench.sender('acme.test');
  await store.upkeep.setContentDays(tenant.id, 0);
  const old = await bench.queued(domain, 'a@x.test');
  await finish(old.id, old.lane);
  await finishMany(world, 2500, T0 + 60 * DAY_MS);
  clock.time = T0 + 89 * DAY_MS;
  await erase();
  t.same(goingOn, []);

  clock.time = T0 + 91 * DAY_MS;
  const fresh = await bench.queued(domain, 'a@x.test', clock.time);
  await finish(fresh.id, fresh.lane, clock.time);
  clock.time += HOUR_MS;
  kit.pause = async () => {
    clock.time += SECOND_MS;
  };
  t.equal(await erase(), '2 contents, 1 messages and 0 entries of the audit log erased');
  t.notOk(await hasContent(fresh.id), 'what comes behind it in the order of results');
  t.same(goingOn, [clock.time], 'the rest is not left for later');
});

t.test('what a run has not finished is gone on with at the next look at the timers', async (t) => {
  const world = await openWorld(t);
  const { clock, kit } = world;
  await finishMany(world, 2500, T0);
  clock.time = T0 + 91 * DAY_MS;
  const timers = new Timers({
    clock,
    tickMs: DAY_MS,
    lead: async () => true,
    onError: (_, error) => t.fail(String(error)),
  });
  t.teardown(() => timers.stop());
  timers.add(retentionTimer({ ...kit, pause: (ms) => kit.pause(ms), again: () => timers.hasten(RETENTION_TIMER) }));
  clock.time += MINUTE_MS;
  const lookAtTimers = async () => {
    await timers.tick();
    return timers.list()[0]!.lastResult;
  };
  kit.pause = async () => {
    clock.time += 20 * SECOND_MS;
  };
  t.match(await lookAtTimers(), /^1 contents, 0 messages/, 'its time is over after the first slice');
  kit.pause = async () => {};
  t.match(await lookAtTimers(), /^0 contents, 2500 messages/);
  t.equal(timers.list()[0]!.nextRunAt, clock.time + MINUTE_MS);
});

t.test('a pause is four times as long as the slice before, so that mail has its time', async (t) => {
  const world = await openWorld(t);
  const { store, clock, kit, erase } = world;
  await finishMany(world, 250, T0);
  clock.time = T0 + 31 * DAY_MS;
  const [pauses, durations] = [[] as number[], [1, 25]];
  kit.pause = async (ms) => void pauses.push(ms);
  kit.store.upkeep = {
    ...store.upkeep,
    async eraseContents(walk) {
      clock.time += durations[pauses.length] ?? 0;
      return store.upkeep.eraseContents({ ...walk, budgetMs: 1000 });
    },
  };
  await erase();
  t.same(pauses, [32, 100], 'after the last slice there is none');
});
