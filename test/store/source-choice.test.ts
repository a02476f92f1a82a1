// From which address a message goes: weights, constancy, the ramp of new addresses, pauses.
import t from 'tap';
import {
  type Candidate,
  chooseSource,
  dayOf,
  leftToday,
  type SourceFacts,
  type SourceUsage,
} from '../../src/store/source-addresses.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 22, 15);
const TODAY = dayOf(NOW);

const candidate = (ip: string, change: Partial<Candidate> = {}): Candidate => {
  return { ip, weight: 1, warm: true, pause: null, ...change };
};
const [A, B, C] = [candidate('192.0.2.1'), candidate('192.0.2.2'), candidate('192.0.2.3')];
const ids = (count: number) => Array.from({ length: count }, (_, index) => `01a1fa95-106b-7002-adff-${index}`);
const usages = (...list: SourceUsage[]) => new Map(list.map((usage) => [usage.address, usage]));

function choose(candidates: Candidate[], change: Partial<SourceFacts> = {}, known = usages()) {
  const facts = { mxGroup: 'mx.test', candidates, none: 'none can be used', ramp: [], ...change };
  return (id: string, sourceAddress: string | null = null) => chooseSource({ id, sourceAddress }, known, facts, NOW);
}

function shares(candidates: Candidate[], count = 4000): number[] {
  const chosen = ids(count).map((id) => choose(candidates)(id));
  return candidates.map(
    ({ ip }) => chosen.filter((choice) => choice.decision === 'use' && choice.address === ip).length,
  );
}

t.test('each address gets its share, and always the same messages', async (t) => {
  const [heavy, light] = shares([candidate('192.0.2.1', { weight: 3 }), B]);
  t.ok(heavy! > 2850 && heavy! < 3150, `${heavy} of 4000 by a weight of 3 to 1`);
  t.equal(heavy! + light!, 4000);
  for (const id of ids(20)) t.same(choose([A, B, C])(id), choose([C, A, B])(id), 'whatever the order');
});

t.test('an address that is added takes messages from the others, and moves none between them', async (t) => {
  const [before, after] = [choose([A, B]), choose([A, B, C])];
  for (const id of ids(300)) {
    const [was, is] = [before(id), after(id)];
    if (is.decision !== 'use' || is.address !== C.ip) t.same(is, was);
  }
});

t.test('a message keeps its address while that is there', async (t) => {
  for (const id of ids(20)) {
    t.same(choose([A, B])(id, B.ip), { decision: 'use', address: B.ip, counted: false });
    t.same(choose([A, C])(id, B.ip), choose([A, C])(id), 'else it gets one like a new message');
  }
});

t.test('a pause of its address holds a message back; new messages take another', async (t) => {
  const pause = { until: NOW + 1000, reason: 'our address 192.0.2.1 makes a pause' };
  const paused = { ...A, pause };
  t.same(choose([paused, B])('id', A.ip), { decision: 'wait', ...pause });
  for (const id of ids(20)) t.match(choose([paused, B])(id), { decision: 'use', address: B.ip });
  const later = { until: NOW + 2000, reason: 'another' };
  t.same(choose([{ ...B, pause: later }, paused])('id'), { decision: 'wait', ...pause }, 'the first that is over');
});

t.test('the ramp: by days with mail, per address, and warm ones have none', async (t) => {
  const ramp = [50, 100, 200];
  const cold = candidate('192.0.2.1', { warm: false });
  const left = (usage: Partial<SourceUsage> | null, { warm } = cold) =>
    leftToday(
      { ...cold, warm },
      usage === null ? usages() : usages({ address: cold.ip, day: TODAY, usedToday: 0, daysUsed: 1, ...usage }),
      ramp,
      NOW,
    );
  t.equal(left(null), 50);
  t.equal(left({ usedToday: 20 }), 30);
  t.equal(left({ usedToday: 50, day: TODAY - 1 }), 100, 'the second day');
  t.equal(left({ usedToday: 50, day: TODAY - 20 }), 100, 'days without mail do not count');
  t.equal(left({ usedToday: 199, daysUsed: 3 }), 1);
  t.equal(left({ usedToday: 200, day: TODAY - 1, daysUsed: 3 }), Number.POSITIVE_INFINITY);
  t.equal(left({ usedToday: 900 }, { ...cold, warm: true }), Number.POSITIVE_INFINITY);
  t.equal(leftToday(cold, usages(), [], NOW), Number.POSITIVE_INFINITY, 'without a ramp');
});

t.test('beyond its cap an address gets no new message; with nobody left they wait for tomorrow', async (t) => {
  const [one, two] = [candidate('192.0.2.1', { warm: false }), candidate('192.0.2.2', { warm: false })];
  const usedUp = (address: string) => ({ address, day: TODAY, usedToday: 50, daysUsed: 1 });
  const someLeft = choose([one, two], { ramp: [50] }, usages(usedUp(one.ip)));
  for (const id of ids(20)) t.same(someLeft(id), { decision: 'use', address: two.ip, counted: true });
  const noneLeft = choose([one, two], { ramp: [50] }, usages(usedUp(one.ip), usedUp(two.ip)));
  t.same(noneLeft('id'), {
    decision: 'wait',
    until: Math.ceil(NOW / DAY_MS) * DAY_MS,
    reason:
      'our addresses are new to mx.test and have sent it what they may today (192.0.2.1 50, 192.0.2.2 50); new messages wait until 2026-11-23T00:00:00.000Z',
  });
  t.same(
    noneLeft('id', one.ip),
    { decision: 'use', address: one.ip, counted: false },
    'a repetition is no new message',
  );
});

t.test('without a candidate it waits, and says why', async (t) => {
  t.match(choose([])('id'), { decision: 'wait', reason: 'none can be used' });
});
