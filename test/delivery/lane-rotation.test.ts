// Whose turn it is in the line of one MX group: deficit round robin, counted in messages.
import t from 'tap';
import { Lane } from '../../src/delivery/queue/lane.ts';
import { hostsKeyOf, LaneRotation, type WaitingLane } from '../../src/delivery/queue/lane-rotation.ts';

const standing = (tenantId: string, id: number, hostsKey = 'mx.test'): WaitingLane => ({
  lane: new Lane({ id, slot: 1, tenantId, domain: `d${id}.test` }),
  hosts: [],
  staleAt: Number.POSITIVE_INFINITY,
  source: null,
  hostsKey,
});

/** Serves until nobody is left: each lane has so many messages, and comes back while it has more. */
function serve(turns: LaneRotation, messages: Map<WaitingLane, number>, batch = 50): string[] {
  const served: string[] = [];
  for (let next = turns.first(); next; next = turns.first()) {
    const granted = turns.take(next, batch);
    const given = Math.min(granted, messages.get(next)!);
    turns.refund(next.lane.tenantId, granted - given);
    messages.set(next, messages.get(next)! - given);
    served.push(`${next.lane.tenantId}${next.lane.id}:${given}`);
    if (messages.get(next)! > 0) turns.add(next);
  }
  return served;
}

t.test('a tenant with many messages and one with a single one', async (t) => {
  const turns = new LaneRotation();
  t.equal(turns.empty, true);
  t.equal(turns.first(), null);
  const [large, small] = [standing('a', 1), standing('b', 2)];
  for (const each of [large, small]) turns.add(each);
  t.equal(turns.size, 2);
  t.same(
    serve(
      turns,
      new Map([
        [large, 120],
        [small, 1],
      ]),
    ),
    ['a1:50', 'b2:1', 'a1:50', 'a1:20'],
  );
  t.equal(turns.empty, true);
});

t.test('many small lanes count as much as one large lane', async (t) => {
  const turns = new LaneRotation();
  const large = standing('a', 1);
  const small = Array.from({ length: 100 }, (_, index) => standing('b', index + 10));
  turns.add(large);
  for (const each of small) turns.add(each);
  const served = serve(
    turns,
    new Map<WaitingLane, number>([[large, 150], ...small.map((each): [WaitingLane, number] => [each, 1])]),
  );
  const sumUntil = (tenant: string, last: string) =>
    served
      .slice(0, served.indexOf(last) + 1)
      .filter((entry) => entry.startsWith(tenant))
      .reduce((sum, entry) => sum + Number(entry.split(':')[1]), 0);
  t.same(
    served.filter((entry) => entry.startsWith('a')),
    ['a1:50', 'a1:50', 'a1:50'],
  );
  t.equal(sumUntil('b', 'b59:1'), 50, 'fifty of the one, fifty of the other');
  t.equal(served.indexOf('a1:50', 1), served.indexOf('b59:1') + 1, 'then it is the other one again');
});

t.test('a slow server hands out small batches, and the turn lasts until its messages are used', async (t) => {
  const turns = new LaneRotation();
  const [a, b] = [standing('a', 1), standing('b', 2)];
  turns.add(a);
  turns.add(b);
  const served = serve(
    turns,
    new Map([
      [a, 3],
      [b, 3],
    ]),
    1,
  );
  t.same(served, ['a1:1', 'b2:1', 'a1:1', 'b2:1', 'a1:1', 'b2:1'], 'who comes back stands behind everybody else');
});

t.test('a session serves those who go to its hosts, in their turns', async (t) => {
  const turns = new LaneRotation();
  for (const each of [standing('a', 1, 'x'), standing('b', 2, 'y'), standing('c', 3, 'y')]) turns.add(each);
  t.equal(turns.isTurnOf('x'), true);
  t.equal(turns.isTurnOf('y'), false);
  const first = turns.firstTo('y')!;
  t.match(first, { lane: { tenantId: 'b' } });
  turns.take(first, 50);
  t.match(turns.firstTo('y'), { lane: { tenantId: 'c' } });
  turns.remove(turns.firstTo('y')!);
  t.equal(turns.firstTo('y'), null);
  t.equal(turns.size, 1);
});

t.test('who leaves the line takes nothing saved with him', async (t) => {
  const turns = new LaneRotation();
  const lane = standing('a', 1);
  turns.add(lane);
  t.equal(turns.take(lane, 10), 10);
  turns.refund('a', 5);
  turns.add(lane);
  t.equal(turns.take(lane, 500), 50);
});

t.test('the key of hosts is their order, not their numbers', async (t) => {
  const host = (name: string, preference: number) => ({ name, preference, addresses: [] });
  const key = hostsKeyOf([host('b', 10), host('a', 10), host('c', 20)]);
  t.equal(key, hostsKeyOf([host('c', 9), host('a', 5), host('b', 5)]));
  t.not(key, hostsKeyOf([host('a', 10), host('b', 20), host('c', 20)]));
});
