// Whose job is next, when several tenants wait.
import t from 'tap';
import { FairLines } from '../../src/base/fair-lines.ts';

const anybody = () => true;

t.test('tenants take turns, however long their lines are', async (t) => {
  const lines = new FairLines<string>();
  for (const job of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) lines.add(job[0]!, job);
  const order = Array.from({ length: 6 }, () => lines.take(anybody)?.job);
  t.same(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  t.equal(lines.take(anybody), null);
  t.equal(lines.size, 0);
});

t.test('who may not go keeps the turn', async (t) => {
  const lines = new FairLines<string>();
  for (const job of ['a1', 'b1', 'b2']) lines.add(job[0]!, job);
  t.same(
    lines.take((tenantId) => tenantId !== 'a'),
    { tenantId: 'b', job: 'b1' },
  );
  t.same(lines.take(anybody), { tenantId: 'a', job: 'a1' });
});

t.test('a job that gives up leaves its line, and the last one closes it', async (t) => {
  const lines = new FairLines<string>();
  for (const job of ['a1', 'a2', 'b1']) lines.add(job[0]!, job);
  lines.remove('a', 'a1');
  lines.remove('b', 'b1');
  lines.remove('b', 'b1');
  t.equal(lines.size, 1);
  t.same(lines.clear(), ['a2']);
  t.equal(lines.size, 0);
});
