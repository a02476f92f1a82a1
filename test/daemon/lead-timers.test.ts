// Timers that only one node may run.
import t from 'tap';
import { leadByLease, leadForGood } from '../../src/daemon/lead-timers.ts';
import type { LeadRequest } from '../../src/store/owners.ts';
import { openStore } from '../inbound/store-kit.ts';

const timer = (name: string) => ({ name, periodMs: 60_000 });

t.test('the only node takes each timer once, and so does its next process: no commit per run', async (t) => {
  const { store } = await openStore(t);
  const taken: (number | null)[] = [];
  const owners = {
    ...store.owners,
    async leadTimer(request: LeadRequest) {
      const epoch = await store.owners.leadTimer(request);
      taken.push(epoch);
      return epoch;
    },
  };
  const start = () => leadForGood({ owners }, { now: () => 1000 });
  const lead = start();
  for (const name of ['figures', 'marks', 'figures', 'marks', 'figures']) t.equal(await lead(timer(name)), true);
  t.strictSame(taken, [1, 1]);
  t.equal(await start()(timer('figures')), true);
  t.strictSame(taken, [1, 1, 2]);
});

t.test('a timer of another node is asked for again at each run', async (t) => {
  const { store } = await openStore(t);
  const clock = { time: 1000, now: () => clock.time };
  await store.owners.leadTimer({ name: 'figures', node: 'other', now: 1000, leaseUntil: 2000 });
  const lead = leadForGood(store, clock);
  t.equal(await lead(timer('figures')), false);
  clock.time = 2000;
  t.equal(await lead(timer('figures')), true, 'its lease is over');
});

t.test('of several nodes one leads a timer until a minute after its next run', async (t) => {
  const { store } = await openStore(t);
  let now = 1000;
  const owners = { ...store.owners, readClock: async () => now };
  const [a, b] = [leadByLease({ owners }, 'a'), leadByLease({ owners }, 'b')];
  t.strictSame([await a(timer('figures')), await b(timer('figures'))], [true, false]);
  t.equal(await b(timer('marks')), true, 'each timer has a leader of its own');
  now += 60_000;
  t.strictSame([await b(timer('figures')), await a(timer('figures'))], [false, true], 'the leader goes on');
  now += 119_999;
  t.equal(await b(timer('figures')), false);
  now += 1;
  t.strictSame([await b(timer('figures')), await a(timer('figures'))], [true, false], 'its follower goes on');
});
