// What nobody would come back to: messages that a session took with it, and messages whose lane
// is gone. With a clock that the test moves.
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { IdSource, uuidToBytes } from '../../src/base/ids.ts';
import { startExpirySweeper } from '../../src/delivery/ends/expiry.ts';
import { MessagesInFlight, OrphanFinder } from '../../src/delivery/queue/orphans.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { Ownership } from '../../src/store/ownership.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import type { Store } from '../../src/store/store.ts';
import type { LaneNotice } from '../../src/store/submissions.ts';
import { Bench, LIFETIME_MS, T0 } from '../store/conformance/harness.ts';
import { untried } from '../support/first-slot.ts';
import { testFolder } from '../support/test-folder.ts';

const MINUTE_MS = 60_000;

/** A sweeper over a real store, and a hand that claims without ever sending. */
async function open(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const clock = { at: T0, now: () => clock.at };
  const inFlight = new MessagesInFlight();
  const noticed: LaneNotice[] = [];
  const onLanes = (lanes: LaneNotice[]) => void noticed.push(...lanes);
  const kit = { store, clock, ids: new IdSource(), log: silentLogger };
  const owner = await bench.owner();
  const ownership = new Ownership([owner]);
  // What a look takes.
  const looks = { ms: 0, at: 0, fails: false };
  const watched = {
    ...store,
    queue: {
      ...store.queue,
      listSending: (...asked: Parameters<Store['queue']['listSending']>) => {
        looks.at += looks.ms;
        if (looks.fails) throw new Error('the database is away');
        return store.queue.listSending(...asked);
      },
    },
  };
  const monotonicMs = () => looks.at;
  const orphans = new OrphanFinder({ ...kit, store: watched, ownership, inFlight, monotonicMs, onLanes });
  const sweeper = startExpirySweeper({ ...kit, ownership, orphans, periodMs: 3_600_000 });
  t.teardown(async () => {
    await sweeper.stop();
    await store.close();
  });
  const { domain } = await bench.sender('acme.test');
  const disk = { broken: false };
  const unlessBroken = <T>(work: () => Promise<T>) =>
    disk.broken ? Promise.reject(new Error('disk I/O error')) : work();
  const hand = inFlight.tracking({
    ...store,
    queue: {
      ...store.queue,
      release: (...given) => unlessBroken(() => store.queue.release(...given)),
      record: (updates) => unlessBroken(() => store.queue.record(updates)),
    },
  } satisfies Store);
  const take = async (to: string) => {
    const { id, lane } = await bench.queued(domain, to, clock.at);
    const times = { owner, now: clock.at, dueAgainAt: [clock.at + MINUTE_MS] };
    const { messages } = await hand.queue.claim(lane, 10, times);
    return messages.find((message) => message.id === id)!;
  };
  return { bench, clock, sweeper, looks, hand, disk, inFlight, take, noticed, file, domain, ownership };
}

/** A message that is being sent, as far as the store knows, and that nobody sends. */
async function openWithOrphan(t: Test) {
  const opened = await open(t);
  const message = await opened.take('a@x.test');
  opened.disk.broken = true;
  await t.rejects(opened.hand.queue.release([untried(message)], opened.clock.at));
  return { ...opened, message };
}

t.test('also in a slot that is being handed over, which waits for it', async (t) => {
  const { bench, clock, sweeper, message, ownership } = await openWithOrphan(t);
  const { slot } = message.owner;
  ownership.leave([slot]);
  await sweeper.sweep();
  t.equal(await bench.store.owners.isSlotIdle(slot), false);
  clock.at += MINUTE_MS;
  await sweeper.sweep();
  t.match(await bench.message(message.id), { state: 'deferred', ambiguous: true });
  t.equal(await bench.store.owners.isSlotIdle(slot), true);
});

t.test('a look that takes long is followed by a rest', async (t) => {
  const { bench, clock, sweeper, looks, message } = await openWithOrphan(t);
  looks.ms = 2000;
  await sweeper.sweep();
  clock.at += MINUTE_MS;
  looks.at += 99_999;
  await sweeper.sweep();
  t.match(await bench.message(message.id), { state: 'sending' });
  looks.at += 1;
  await sweeper.sweep();
  t.match(await bench.message(message.id), { state: 'deferred' }, 'and by another one');
});

t.test('a look that failed is repeated after as long, and a rest has an end', async (t) => {
  const { bench, clock, sweeper, looks, message } = await openWithOrphan(t);
  looks.ms = 17_000;
  looks.fails = true;
  await sweeper.sweep();
  looks.fails = false;
  looks.at += 17_000;
  await sweeper.sweep();
  clock.at += MINUTE_MS;
  looks.at += 10 * MINUTE_MS;
  await sweeper.sweep();
  t.match(await bench.message(message.id), { state: 'deferred' });
});

t.test('not in a slot that has been handed over', async (t) => {
  const { bench, clock, sweeper, message, ownership } = await openWithOrphan(t);
  ownership.leave([message.owner.slot]);
  ownership.handOver(message.owner.slot);
  await sweeper.sweep();
  clock.at += MINUTE_MS;
  await sweeper.sweep();
  t.match(await bench.message(message.id), { state: 'sending' });
});

t.test('a message whose session is gone waits again, and not before that is certain', async (t) => {
  const { bench, clock, sweeper, hand, disk, take, noticed } = await open(t);
  const message = await take('a@x.test');
  const { id, lane } = message;
  await sweeper.sweep();
  clock.at += MINUTE_MS;
  await sweeper.sweep();
  t.equal((await bench.message(id)).state, 'sending', 'somebody has it in hand');

  // The hand is empty, the mark stays.
  disk.broken = true;
  await t.rejects(hand.queue.release([untried(message)], clock.at));
  t.equal((await bench.message(id)).state, 'sending');

  await sweeper.sweep();
  await sweeper.sweep();
  t.equal((await bench.message(id)).state, 'sending', 'twice within a moment is not enough');
  clock.at += MINUTE_MS;
  await sweeper.sweep();
  t.match(await bench.message(id), {
    state: 'deferred',
    ambiguous: true,
    attempts: 1,
    lastReason: /the session that was sending the message ended without a result/,
  });
  t.match(noticed, [{ lane, domain: 'x.test' }], 'and the scheduler hears of it');
});

t.test('what is taken anew between two looks is not an orphan', async (t) => {
  const { bench, clock, sweeper, hand, take } = await open(t);
  const message = await take('a@x.test');
  await hand.queue.release([untried(message)], clock.at);
  const { lane } = message;
  // Marked by somebody whom the sweeper does not know: the attempts count up between its looks.
  for (let look = 0; look < 3; look++) {
    const [taken] = await bench.claim(lane, clock.at, 1);
    await sweeper.sweep();
    const reason = 'later';
    await bench.store.queue.record([
      bench.update(taken!, { to: 'deferred', dueAt: clock.at, reason, ambiguous: false }),
    ]);
    clock.at += MINUTE_MS;
  }
  t.match(await bench.message(message.id), { lastReason: 'later', ambiguous: false });
});

t.test('a result that the database does not take keeps the message in hand', async (t) => {
  const { bench, inFlight, hand, disk, take } = await open(t);
  const message = await take('a@x.test');
  disk.broken = true;
  await t.rejects(hand.queue.record([bench.attempted(message, { to: 'delivered' })]));
  t.equal(inFlight.has(message.id), true);
  disk.broken = false;
  await hand.queue.record([bench.attempted(message, { to: 'delivered' })]);
  t.equal(inFlight.size, 0);
});

t.test('what has expired in the slot of another node is left to that one', async (t) => {
  const { bench, clock, sweeper, domain } = await open(t);
  const { receipt } = await bench.accept(domain, ['a@x.test'], { slot: 2, acceptedAt: clock.at });
  clock.at += LIFETIME_MS;
  t.equal(await sweeper.sweep(), 0);
  t.match(await bench.message(receipt.messageIds[0]!), { state: 'queued' });
});

t.test('past its lifetime a message ends in every state', async (t) => {
  const { bench, clock, sweeper, hand, disk, take, domain } = await open(t);
  const sent = await take('sending@x.test');
  const lost = await take('lost@x.test');
  disk.broken = true;
  await t.rejects(hand.queue.release([untried(lost)], clock.at));
  disk.broken = false;
  const queued = await bench.queued(domain, 'queued@y.test');
  const deferred = await bench.sending(domain, 'deferred@z.test');
  await bench.store.queue.record([
    bench.attempted(deferred, { to: 'deferred', dueAt: T0 + 10 * LIFETIME_MS, reason: 'greylisted', ambiguous: false }),
  ]);
  const parked = await bench.sending(domain, 'parked@z.test');
  await bench.store.queue.record([bench.update(parked, { to: 'parked', reason: 'unreadable' })]);

  clock.at = T0 + LIFETIME_MS;
  await sweeper.sweep();
  clock.at += MINUTE_MS;
  await sweeper.sweep();
  for (const { id } of [queued, deferred, parked, lost]) {
    const { state, lastReason } = await bench.message(id);
    t.equal(state, 'failed');
    t.match(lastReason, /^given up after 24 h; the last reason for waiting: \S/);
  }
  t.match((await bench.message(lost.id)).lastReason, /the session that was sending the message ended without a result/);
  t.equal((await bench.message(sent.id)).state, 'sending', 'somebody is at it');
  await hand.queue.release([untried(sent)], clock.at);
  await sweeper.sweep();
  t.equal((await bench.message(sent.id)).state, 'failed', 'ended as soon as that attempt is over');
});

const DAMAGES = {
  'lane row': 'DELETE FROM lanes WHERE id = (SELECT lane FROM messages WHERE id = ?)',
  'tenant row': 'DELETE FROM tenants WHERE id = (SELECT tenant_id FROM messages WHERE id = ?)',
};

for (const [what, sql] of Object.entries(DAMAGES)) {
  t.test(`messages without a ${what} are parked with a reason, and end in time`, async (t) => {
    const { bench, clock, sweeper, domain, file } = await open(t);
    const { receipt } = await bench.accept(domain, ['a@x.test', 'b@x.test']);
    const other = await bench.sender('other.test');
    const fine = await bench.queued(other.domain, 'c@x.test');
    const db = new Database(file);
    db.pragma('foreign_keys = OFF');
    db.prepare(sql).run(uuidToBytes(receipt.messageIds[0]!));
    db.close();
    await sweeper.sweep();
    for (const id of receipt.messageIds) {
      t.match(await bench.message(id), { parked: true, dueAt: null, lastReason: /no tenant or destination/ });
    }
    t.match(await bench.message(fine.id), { parked: false, dueAt: T0 });
    clock.at = T0 + LIFETIME_MS;
    await sweeper.sweep();
    for (const id of receipt.messageIds) t.equal((await bench.message(id)).state, 'failed');
  });
}
