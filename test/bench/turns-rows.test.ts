// The rows of checkouts that took turns: medians, each beside the first one's turn of the same round.
import t from 'tap';
import { rowsOfTurns, type Turn } from '../../bench/sections/turns-rows.ts';

/** A machine that is twice as slow in its second round. */
function turns(perSecond: number, mainUs: number, othersUs: number): Turn[] {
  return [1, 2, 1].map((slow) => ({ perSecond: perSecond / slow, mainUs: mainUs * slow, othersUs: othersUs * slow }));
}

t.test('each is compared round by round', async (t) => {
  const sides = [
    { name: 'this checkout', turns: turns(1000, 200, 100) },
    { name: 'before', turns: turns(800, 250, 110) },
  ];
  const [first, before, ...more] = rowsOfTurns('accept', sides);
  t.same(more, []);
  t.match(first, { what: 'accept: this checkout', measured: '1,000 /s', beside: 'main thread 200 µs, all others 100' });
  t.match(before, {
    what: 'accept: before',
    measured: '800 /s (0.800 ×)',
    beside: 'main thread 250 µs (1.250 ×), all others 110 (1.100 ×), together 1.200 ×',
    figures: { per_s: 800, main_us: 250, others_us: 110, times_rate: 0.8, times_us: 1.2 },
  });
});

t.test('a round in which the machine was slow for one of them does not decide', async (t) => {
  const at = (rates: number[]) => rates.map((perSecond) => ({ perSecond, mainUs: 1, othersUs: 1 }));
  const [, row] = rowsOfTurns('end to end', [
    { name: 'this checkout', turns: at([1000, 500, 1000]) },
    { name: 'before', turns: at([900, 450, 450]) },
  ]);
  t.equal(row!.measured, '450 /s (0.900 ×)', 'the ratio is that of rounds, not of medians');
});

t.test('where processor time is not known, the rates are shown', async (t) => {
  const unknown = [{ perSecond: 10, mainUs: Number.NaN, othersUs: Number.NaN }];
  const [row] = rowsOfTurns('accept', [{ name: 'this checkout', turns: unknown }]);
  t.match(row, { measured: '10 /s', beside: '' });
});
