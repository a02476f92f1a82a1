// Checks of one domain: one at a time, some time apart, shared by those who wait, and none hinders another domain's.
import t from 'tap';
import { CheckTurns } from '../../src/domains/check-turns.ts';

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

const settled = () => new Promise((resolve) => setImmediate(resolve));

t.test('who calls while one is running gets its result when all is well', async (t) => {
  const { turns, check, ends, begun } = open();
  const calls = [turns.take('a', check), turns.take('a', check), turns.takeNow('a', check)];
  const other = turns.take('b', check);
  t.equal(begun(), 2, 'one for each domain');
  for (const end of ends) end(100);
  t.same(await Promise.all(calls), [100, 100, 100]);
  t.equal(await other, 100);
  t.equal(begun(), 2);
});

t.test('else a check that began after the call, one for all who wait', async (t) => {
  const { turns, check, ends, pauses, begun } = open();
  const first = turns.take('a', check);
  const later = [turns.take('a', check), turns.take('a', check)];
  const look = turns.takeNow('a', check);
  ends[0]!();
  t.equal(await first, 1);
  await settled();
  t.same([begun(), pauses.map(({ ms }) => ms)], [1, [10_000]], 'not before the gap is over');
  pauses[0]!.over();
  await settled();
  t.equal(begun(), 2);
  const last = turns.take('a', check);
  ends[1]!(new Error('no disk'));
  for (const each of [...later, look!]) await t.rejects(each, { message: 'no disk' });
  await settled();
  pauses[1]!.over();
  await settled();
  ends[2]!();
  t.equal(await last, 3, 'a failure is nobody else’s result');
});

t.test('soon after it: waits for the next one, and shares it', async (t) => {
  const { turns, check, ends, pauses, clock, begun } = open();
  const first = turns.take('a', check);
  ends[0]!();
  await first;
  await settled();
  clock.at += 4000;
  t.equal(turns.takeNow('a', check), null, 'nobody waits who need not');
  const waiting = [turns.take('a', check), turns.take('a', check)];
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
  const first = turns.take('a', check);
  ends[0]!(new Error('no disk'));
  await t.rejects(first, { message: 'no disk' });
  await settled();
  clock.at += 10_000;
  const second = turns.take('a', check);
  t.equal(begun(), 2);
  ends[1]!();
  t.equal(await second, 2);
  await settled();
  clock.at -= 500_000;
  void turns.take('a', check);
  t.same(
    pauses.map(({ ms }) => ms),
    [10_000],
    'never longer than the gap',
  );
});
