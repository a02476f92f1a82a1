// What is due in a node's slots is read until the store has answered.
import t, { type Test } from 'tap';
import { QueueLooks } from '../../src/delivery/queue/queue-looks.ts';
import { Ownership } from '../../src/store/ownership.ts';
import type { LaneNotice } from '../../src/store/submissions.ts';
import { type LogLine, listLogger } from '../support/api-harness.ts';
import { until } from '../support/until.ts';

function looksOver(t: Test) {
  const asked: number[][] = [];
  const found: LaneNotice[] = [];
  const lines: LogLine[] = [];
  const fault: { now: Error | null } = { now: null };
  /** What a look takes. */
  const pace = { ms: 0, at: 0 };
  const ownership = new Ownership([1, 2, 3].map((slot) => ({ slot, epoch: 1 })));
  const dueLanes = async (slots: readonly number[]) => {
    asked.push([...slots]);
    pace.at += pace.ms;
    if (fault.now) throw fault.now;
    return slots.map((slot) => ({ lane: slot * 10, slot, tenantId: 'acme', domain: 'x.test', dueAt: 5 }));
  };
  const looks = new QueueLooks({
    store: { queue: { dueLanes } },
    ownership,
    monotonicMs: () => pace.at,
    log: listLogger(lines),
    found: (lanes) => found.push(...lanes),
  });
  t.teardown(() => looks.stop());
  return { looks, asked, found, lines, fault, ownership, pace };
}

t.test('only slots of its own are read', async (t) => {
  const { looks, asked, found } = looksOver(t);
  await looks.at([1, 3, 9]);
  await looks.at([9]);
  t.strictSame(asked, [[1, 3]]);
  t.strictSame(
    found.map(({ lane }) => lane),
    [10, 30],
  );
});

t.test('a look in case something was missed is followed by a rest, others are not', async (t) => {
  const { looks, asked, pace } = looksOver(t);
  pace.ms = 2000;
  await looks.inCase();
  pace.at += 99_999;
  await looks.inCase();
  t.equal(asked.length, 1);
  await looks.at([1]);
  t.equal(asked.length, 2);
  pace.at += 1;
  await looks.inCase();
  t.strictSame(asked.at(-1), [1, 2, 3]);
  t.equal(asked.length, 3);
});

t.test("what could not be read is read again together, except what has become another one's", async (t) => {
  const { looks, asked, found, lines, fault, ownership } = looksOver(t);
  fault.now = new Error('the database is away');
  await looks.at([1]);
  await looks.at([2, 1]);
  await looks.at([3]);
  t.match(lines[0], { message: 'the queue could not be read: the database is away' });
  ownership.lose([3]);
  fault.now = null;
  await until('it was read', () => found.length === 2);
  t.strictSame(asked.at(-1), [1, 2]);
  t.equal(asked.length, 4, 'once for all of them');
});

t.test('who stops reads nothing more', async (t) => {
  const { looks, asked, fault } = looksOver(t);
  fault.now = new Error('the database is away');
  await looks.at([1]);
  looks.stop();
  await looks.at([1]);
  t.equal(asked.length, 1);
});
