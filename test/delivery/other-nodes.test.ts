// What schedulers of several nodes tell each other: whose mail became due, and what others have changed.
import t from 'tap';
import { hearOtherNodes, passOnOthers } from '../../src/delivery/queue/other-nodes.ts';
import type { NoticeListener, Notices } from '../../src/store/notices.ts';
import { Ownership } from '../../src/store/ownership.ts';
import type { LaneNotice } from '../../src/store/submissions.ts';
import { type LogLine, listLogger } from '../support/api-harness.ts';

class HeardNotices implements Notices {
  readonly told: number[][] = [];
  listener: NoticeListener = {};

  listen(listener: NoticeListener): void {
    this.listener = listener;
  }

  tellLanes(slots: Iterable<number>): void {
    this.told.push([...slots]);
  }

  tellInbound(): void {}
}

function lane(slot: number): LaneNotice {
  return { lane: slot * 10, slot, tenantId: 'acme', domain: 'x.test', dueAt: 5 };
}

t.test("mail in the slots of others is told to them, once per slot, and the rest is this node's", async (t) => {
  const notices = new HeardNotices();
  const ownership = new Ownership([{ slot: 1, epoch: 1 }]);
  const own = passOnOthers([lane(1), lane(2), lane(3), lane(2)], { notices, ownership });
  t.strictSame(own, [lane(1)]);
  t.strictSame(notices.told, [[2, 3]]);
  t.strictSame(passOnOthers([lane(1)], { notices, ownership }), [lane(1)]);
  t.equal(notices.told.length, 1, 'nobody is told of nothing');
});

t.test('looks for what others made due come one after the other, and what came meanwhile is in the next', async (t) => {
  const { notices, looks, release } = hear();
  notices.listener.lanesDue!([1]);
  notices.listener.lanesDue!([2]);
  notices.listener.lanesDue!([2, 3]);
  t.strictSame(looks, [[1]], 'the first is under way');
  await release();
  t.strictSame(looks, [[1], [2, 3]]);
  await release();
  t.equal(looks.length, 2, 'and then there is nothing to look for');
});

t.test(
  'what others have changed is read again; a read that fails is said, and the next one comes all the same',
  async (t) => {
    const { notices, lines, reads } = hear();
    reads.fault = new Error('the database is away');
    notices.listener.changed!();
    await turn();
    t.match(lines, [{ message: 'what other nodes have changed could not be read: the database is away' }]);
    reads.fault = null;
    notices.listener.changed!();
    await turn();
    t.strictSame([reads.count, lines.length], [2, 1]);
  },
);

t.test('after missed notices the whole queue is looked at', async (t) => {
  const heard = hear();
  heard.notices.listener.missed!();
  t.equal(heard.reconciled(), 1);
});

function hear() {
  const notices = new HeardNotices();
  const lines: LogLine[] = [];
  const reads: { count: number; fault: Error | null } = { count: 0, fault: null };
  const looks: (readonly number[])[] = [];
  const under: (() => void)[] = [];
  let reconciled = 0;
  const readOthers = async () => {
    reads.count++;
    if (reads.fault) throw reads.fault;
  };
  const kit = { notices, ownership: new Ownership([]), shaping: { readOthers }, log: listLogger(lines) };
  hearOtherNodes(kit, {
    lookAt: (slots) => {
      looks.push(slots);
      return new Promise((resolve) => under.push(resolve));
    },
    reconcile: async () => void reconciled++,
  });
  const release = async () => {
    under.shift()!();
    await turn();
  };
  return { notices, lines, reads, looks, release, reconciled: () => reconciled };
}

/** All that waits for nothing outside has run by then. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
