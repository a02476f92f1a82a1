// The only node leads each timer for good: one commit for each, and none per run.
import t from 'tap';
import { leadTimers } from '../../src/daemon/take-slots.ts';
import type { LeadRequest } from '../../src/store/owners.ts';
import { openStore } from '../inbound/store-kit.ts';

t.test('each timer is taken once, and again by the next process', async (t) => {
  const { store } = await openStore(t);
  const taken: (number | null)[] = [];
  const owners = {
    async leadTimer(request: LeadRequest) {
      const epoch = await store.owners.leadTimer(request);
      taken.push(epoch);
      return epoch;
    },
  };
  const start = () => leadTimers({ store: { owners }, clock: { now: () => 1000 } });
  const lead = start();
  for (const name of ['figures', 'marks', 'figures', 'marks', 'figures']) t.equal(await lead(name), true);
  t.strictSame(taken, [1, 1]);
  t.equal(await start()('figures'), true);
  t.strictSame(taken, [1, 1, 2]);
});

t.test('a timer of another node is asked for again at each run', async (t) => {
  const { store } = await openStore(t);
  const clock = { time: 1000, now: () => clock.time };
  await store.owners.leadTimer({ name: 'figures', node: 'other', now: 1000, leaseUntil: 2000 });
  const lead = leadTimers({ store, clock });
  t.equal(await lead('figures'), false);
  clock.time = 2000;
  t.equal(await lead('figures'), true, 'its lease is over');
});
