// How connections to a receiver are shared out, in numbers.
import t from 'tap';
import { MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { goalOf, type Holder } from '../../src/store/sql/verbs/limits/even-parts.ts';

const other = (node: string, connections: number, wanted = connections): Holder => ({ node, connections, wanted });
const goal = (limit: number, wanted: number, others: readonly Holder[], now = 0) =>
  goalOf({ node: 'b', limit, wanted }, others, now);

t.test('with enough for each: the even part, and what others leave', async (t) => {
  t.equal(goal(10, 10, []), 10);
  t.equal(goal(10, 3, []), 3);
  t.equal(goal(10, 10, [other('a', 10)]), 5);
  t.equal(goal(10, 10, [other('a', 2)]), 8);
  t.equal(goal(10, 10, [other('a', 0, 2)]), 8, 'who lacks its part will have it');
  t.equal(goal(10, 10, [other('a', 3), other('c', 0, 9)]), 4, 'the odd one is for who asks first');
  t.equal(goal(10, 10, [other('a', 4), other('c', 3)]), 3);
  t.equal(goal(10, 0, [other('a', 0, 9)]), 0);
});

t.test('with fewer than nodes each has its turn, and no two turns are more than there are', async (t) => {
  for (const [limit, names] of [
    [1, ['a', 'b']],
    [1, ['a', 'b', 'c']],
    [2, ['a', 'b', 'c']],
    [3, ['a', 'b', 'c', 'd', 'e']],
  ] as const) {
    const turns = new Map<string, number>();
    for (let now = 0; now < 10 * MINUTE_MS; now += 20 * SECOND_MS) {
      const having = names.filter((node) => {
        const others = names.filter((one) => one !== node).map((one) => other(one, 0, 5));
        return goalOf({ node, limit, wanted: 5 }, others, now) === 1;
      });
      t.equal(having.length, limit, `${limit} for ${names.join('')}: ${having.join('')}`);
      for (const node of having) turns.set(node, (turns.get(node) ?? 0) + 1);
    }
    t.strictSame([...turns.keys()].sort(), [...names]);
    t.ok(Math.max(...turns.values()) - Math.min(...turns.values()) <= limit, 'evenly');
  }
  const turnsOfBoth = [0, 20 * SECOND_MS].map((now) => goal(1, 5, [other('a', 1)], now)).sort();
  t.strictSame(turnsOfBoth, [0, 1], 'whoever has it gives it up');
});
