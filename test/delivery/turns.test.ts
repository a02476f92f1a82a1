// Whose turn it is in the line of one MX group.
import t from 'tap';
import { newLane } from '../../src/delivery/lane.ts';
import { Turns } from '../../src/delivery/turns.ts';

const lane = (tenantId: string, id: number) => newLane({ lane: id, tenantId, domain: `d${id}.test`, dueAt: 0 });

function takeAll(turns: Turns): string[] {
  const taken: string[] = [];
  for (let next = turns.next(); next; next = turns.next()) taken.push(`${next.tenantId}${next.id}`);
  return taken;
}

t.test('tenants take turns, and so do the lanes of each', async (t) => {
  const turns = new Turns();
  t.equal(turns.empty, true);
  for (const id of [1, 2, 3, 4]) turns.add(lane('a', id));
  turns.add(lane('b', 5));
  turns.add(lane('c', 6));
  turns.add(lane('c', 7));
  t.equal(turns.empty, false);
  t.same(takeAll(turns), ['a1', 'b5', 'c6', 'a2', 'c7', 'a3', 'a4']);
  t.equal(turns.empty, true);
  t.equal(turns.next(), null);
});

t.test('who comes back stands behind everybody else', async (t) => {
  const turns = new Turns();
  const busy = lane('a', 1);
  turns.add(busy);
  turns.add(lane('b', 2));
  t.equal(turns.next(), busy);
  turns.add(busy);
  t.same(takeAll(turns), ['b2', 'a1']);
});
