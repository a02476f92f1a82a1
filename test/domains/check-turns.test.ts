// Checks of one domain: one at a time, some time apart, shared by those who wait, and none hinders another domain's.
import t from 'tap';
import { type CheckedDomain, CheckTurns } from '../../src/domains/check-turns.ts';

function open() {
  const clock = { at: 1_000_000, now: () => clock.at };
  const pauses: { ms: number; over: () => void }[] = [];
  const turns = new CheckTurns<number>({
    clock,
    isGood: (number) => number >= 100,
    gapMs: 10_000,
    pause: (ms) => new Promise<void>((over) => pauses.push({ ms, over })),
  });
  const ends: ((end?: Error | number) => void)[] = [];
  let begun = 0;
  const check = () => {
    const number = ++begun;
    return new Promise<number>((resolve, reject) =>
      ends.push((end = number) => (end instanceof Error ? reject(end) : resolve(end))),
    );
  };
  return { clock, turns, pauses, ends, check, begun: () => begun };
}

/** A domain of a tenant; its record's id is the name's unless it is given. */
const domain = (name: string, tenantId = 'tenant', id = `${tenantId} ${name}`): CheckedDomain => ({
  id,
  tenantId,
  name,
});
const [a, b] = [domain('a.test'), domain('b.test')];

const settled = () => new Promise((resolve) => setImmediate(resolve));

t.test('who calls while one is running gets its result when all is well', async (t) => {
  const { turns, check, ends, begun } = open();
  const calls = [turns.take(a, check), turns.take(a, check), turns.takeNow(a, check)];
  const other = turns.take(b, check);
  t.equal(begun(), 2, 'one for each domain');
  for (const end of ends) end(100);
  t.same(await Promise.all(calls), [100, 100, 100]);
  t.equal(await other, 100);
  t.equal(begun(), 2);
});

t.test('else a check that began after the call, one for all who wait', async (t) => {
  const { turns, check, ends, pauses, begun } = open();
  const first = turns.take(a, check)!;
  const later = [turns.take(a, check), turns.take(a, check)];
  const look = turns.takeNow(a, check);
  ends[0]!();
  t.equal(await first, 1);
  await settled();
  t.same([begun(), pauses.map(({ ms }) => ms)], [1, [10_000]], 'not before the gap is over');
  pauses[0]!.over();
  await settled();
  t.equal(begun(), 2);
  const last = turns.take(a, check);
  ends[1]!(new Error('no disk'));
  for (const each of [...later, look]) await t.rejects(each!, { message: 'no disk' });
  await settled();
  pauses[1]!.over();
  await settled();
  ends[2]!();
  t.equal(await last, 3, 'a failure is nobody else’s result');
});

t.test('soon after it: waits for the next one, and shares it', async (t) => {
  const { turns, check, ends, pauses, clock, begun } = open();
  const first = turns.take(a, check)!;
  ends[0]!();
  await first;
  await settled();
  clock.at += 4000;
  t.equal(turns.takeNow(a, check), null, 'nobody waits who need not');
  const waiting = [turns.take(a, check), turns.take(a, check)];
  t.same(
    pauses.map(({ ms }) => ms),
    [6000],
  );
  t.equal(begun(), 1);
  clock.at += 6000;
  pauses[0]!.over();
  await settled();
  t.equal(begun(), 2);
  ends[1]!();
  t.same(await Promise.all(waiting), [2, 2], 'a check that began after they had called');
});

t.test('later: at once; after a failure and a clock that was set back, too', async (t) => {
  const { turns, check, ends, pauses, clock, begun } = open();
  const first = turns.take(a, check)!;
  ends[0]!(new Error('no disk'));
  await t.rejects(first, { message: 'no disk' });
  await settled();
  clock.at += 10_000;
  const second = turns.take(a, check);
  t.equal(begun(), 2);
  ends[1]!();
  t.equal(await second, 2);
  await settled();
  clock.at -= 500_000;
  void turns.take(a, check);
  t.same(
    pauses.map(({ ms }) => ms),
    [10_000],
    'never longer than the gap',
  );
});

/** Ends each check as it begins, until `count` have begun, and lets every pause pass. */
async function drain({ clock, ends, pauses, begun }: ReturnType<typeof open>, count: number) {
  let ended = 0;
  const begunAt: number[] = [];
  while (begunAt.length < count) {
    await settled();
    while (ended < begun()) {
      begunAt.push(clock.at - 1_000_000);
      ends[ended++]!();
    }
    await settled();
    const [next] = pauses.splice(0, 1);
    if (next) clock.at += next.ms;
    next?.over();
  }
  return begunAt;
}

t.test('deleting and registering again wins no turn, and no result of another record', async (t) => {
  const opened = open();
  const { turns, check, ends, begun } = opened;
  const first = turns.take(domain('a.test', 't', 'one'), check)!;
  const second = turns.take(domain('a.test', 't', 'two'), check)!;
  t.equal(turns.takeNow(domain('a.test', 't', 'three'), check), null);
  ends[0]!(100);
  t.equal(await first, 100);
  await settled();
  t.equal(begun(), 1, 'that all is well with one record says nothing of another');
  const third = turns.take(domain('a.test', 't', 'three'), check)!;
  const begunAt = await drain(opened, 3);
  t.same(begunAt, [0, 10_000, 20_000]);
  t.same(await Promise.all([second, third]), [2, 3]);
});

t.test('two tenants have turns of their own for one name', async (t) => {
  const { turns, check, ends } = open();
  const calls = [turns.take(domain('a.test', 'one'), check), turns.take(domain('a.test', 'two'), check)];
  for (const end of ends) end();
  t.same(await Promise.all(calls), [1, 2]);
});

t.test('a zone is asked a few times at once, and then once in a while, whoever asks', async (t) => {
  const opened = open();
  const { turns, check, begun } = opened;
  const names = Array.from({ length: 12 }, (_, index) => domain(`s${index}.victim.test`, `tenant${index % 4}`));
  const calls = names.map((each) => turns.take(each, check));
  t.equal(begun(), 5, 'the burst');
  t.equal(turns.takeNow(domain('x.victim.test'), check), null);
  t.ok(turns.takeNow(domain('x.other.test'), check), 'another zone is not hindered');
  opened.ends[5]!();
  const begunAt = await drain(opened, 13);
  t.same(begunAt.slice(6), [10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000]);
  t.equal((await Promise.all(calls)).length, 12);
  opened.clock.at += 50_000;
  void turns.take(domain('y.victim.test'), check);
  t.equal(begun(), 14, 'full again after a while');
});

t.test('a tenant that asks without end delays another by one turn', async (t) => {
  const opened = open();
  const { turns, check } = opened;
  const order: string[] = [];
  const ask = (name: string, tenant: string) =>
    turns.take(domain(`${name}.shared.test`, tenant), () => {
      order.push(tenant);
      return check();
    });
  const greedy = Array.from({ length: 20 }, (_, index) => ask(`s${index}`, 'greedy'));
  t.equal(greedy.filter((call) => call === null).length, 12, 'five at once, three wait, the others come back later');
  const modest = ask('www', 'modest');
  t.ok(modest);
  await drain(opened, 9);
  t.same(order.slice(5), ['greedy', 'modest', 'greedy', 'greedy']);
  t.ok(ask('s9', 'greedy'), 'who was refused may come back');
});
