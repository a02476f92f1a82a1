import t from 'tap';
import { IdempotencyGate } from '../../src/submission/idempotency-gate.ts';

t.test('the first goes in, the others get its receipt', async (t) => {
  const gate = new IdempotencyGate<string>();
  t.equal(await gate.enter('k'), null);
  const waiting = [gate.enter('k'), gate.enter('k')];
  t.equal(await gate.enter('other'), null, 'another key does not wait');
  gate.leave('k', 'receipt');
  t.same(await Promise.all(waiting), ['receipt', 'receipt']);
  t.equal(await gate.enter('k'), null, 'nothing is remembered here: that is the store’s');
  gate.leave('k', null);
  gate.leave('other', null);
  t.equal(gate.size, 0, 'nothing stays behind');
});

t.test('after a refusal the next in line goes in, in the order of arrival', async (t) => {
  const gate = new IdempotencyGate<string>();
  const order: string[] = [];
  const visit = async (name: string, receipt: string | null) => {
    const earlier = await gate.enter('k');
    order.push(`${name}:${earlier}`);
    if (earlier === null) gate.leave('k', receipt);
  };
  await Promise.all([visit('a', null), visit('b', null), visit('c', 'receipt'), visit('d', 'never')]);
  t.same(order, ['a:null', 'b:null', 'c:null', 'd:receipt']);
  t.equal(gate.size, 0);
});
