// Requests for links let others go before them, and are answered in small groups.
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { EndOfTurn } from '../../src/links/pages/end-of-turn.ts';

t.test('a few of them at the end of each turn, in the order in which they came', async (t) => {
  const endOfTurn = new EndOfTurn();
  const gone: number[] = [];
  for (let n = 0; n < 50; n++) void endOfTurn.wait().then(() => gone.push(n));
  await Promise.resolve();
  t.strictSame(gone, [], 'not in this turn');
  const afterEach: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await nextTurn();
    afterEach.push(gone.length);
  }
  t.strictSame(afterEach, [20, 40, 50, 50]);
  t.strictSame(
    gone,
    gone.toSorted((one, other) => one - other),
  );
  const late = endOfTurn.wait().then(() => gone.push(50));
  await late;
  t.equal(gone.length, 51, 'it begins anew');
});
