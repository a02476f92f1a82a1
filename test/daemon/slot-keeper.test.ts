// Nodes share the slots of one store: each with a handle of its own on one database, on a clock that the test moves.
import path from 'node:path';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { LeaseEnd } from '../../src/base/lease-end.ts';
import { SlotKeeper } from '../../src/daemon/slot-keeper.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { NODE_LEASE_MS } from '../../src/store/owners.ts';
import { Ownership } from '../../src/store/ownership.ts';
import type { ClaimedMessage } from '../../src/store/queue.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { Bench, dueAgainFrom, T0 } from '../store/conformance/harness.ts';
import { testFolder } from '../support/test-folder.ts';

/** What an owner begins within this time after its last renewal, nobody else may have taken. */
const OWN_END_MS = NODE_LEASE_MS - 2000;
const TAKEOVER_MS = NODE_LEASE_MS + 2000;

class Cluster {
  readonly clock = { now: T0 };
  readonly #t: Test;
  readonly #file: string;

  constructor(t: Test) {
    this.#t = t;
    this.#file = path.join(testFolder(t), 'postrider.db');
  }

  async node(name: string) {
    const store = await openSqliteStore({ file: this.#file });
    this.#t.teardown(() => store.close());
    const monotonicMs = () => this.clock.now;
    const ownership = new Ownership([], new LeaseEnd(monotonicMs));
    const heard: string[] = [];
    ownership.listen({
      gained: (slots) => heard.push(`gained ${slots}`),
      lost: (slots) => heard.push(`lost ${slots}`),
    });
    const owners = { ...store.owners, readClock: async () => this.clock.now };
    const node = { node: name, version: '1.0.0', startedAt: this.clock.now };
    const onNamesake = (reason: string) => heard.push(reason);
    const clock = { now: () => this.clock.now };
    const logged: string[] = [];
    const tell = (level: string) => (_: object, text: string) => void logged.push(`${level}: ${text}`);
    const log = { ...silentLogger, info: tell('info'), warn: tell('warn'), error: tell('error') };
    const parts = { store: { owners }, ownership, clock, node, spare: [], log, onNamesake };
    const kit = { ...parts, monotonicMs, tickMs: null };
    const keeper = new SlotKeeper(kit);
    await keeper.start();
    return { store, owners, ownership, keeper, heard, logged, tick: () => keeper.tick() };
  }

  bench(store: Awaited<ReturnType<typeof openSqliteStore>>): Bench {
    return new Bench({ store, openContents: () => openContentReader(this.#file) });
  }
}

/** Two mails that wait in a slot of the node, and a claim of the next one as its owner sends it now. */
async function mailIn(cluster: Cluster, { store, ownership }: Awaited<ReturnType<Cluster['node']>>, slot: number) {
  const bench = cluster.bench(store);
  const { domain } = await bench.sender('acme.test');
  const { lanes } = await bench.accept(domain, ['a@x.test', 'b@x.test'], { slot });
  const terms = { owner: ownership.of(slot)!, now: T0, dueAgainAt: dueAgainFrom(T0) };
  const claim = () => store.queue.claim(lanes[0]!.lane, 1, terms);
  const deliver = ([message]: readonly ClaimedMessage[]) =>
    store.queue.record([bench.attempted(message!, { to: 'delivered' })]);
  return { claim, deliver };
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

t.test('each node makes its own slots, and leaves those of the others alone', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  const b = await cluster.node('b');
  t.strictSame([a.ownership.slots, b.ownership.slots], [numbers(1, 8), numbers(9, 16)]);
  for (let tick = 0; tick < 3; tick++) {
    cluster.clock.now += 3000;
    await Promise.all([a.tick(), b.tick()]);
  }
  t.strictSame([a.ownership.slots, b.ownership.slots], [numbers(1, 8), numbers(9, 16)]);
  t.strictSame([a.heard, b.heard], [[`gained ${numbers(1, 8)}`], [`gained ${numbers(9, 16)}`]]);
  t.strictSame([a.ownership.slotForNew(), a.ownership.slotForNew()], [1, 2], 'new work goes to them in turn');
});

t.test('each knows how many nodes live', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  const b = await cluster.node('b');
  t.strictSame([a.keeper.livingNodes, b.keeper.livingNodes], [1, 2], 'as of the last renewal');
  await a.tick();
  t.equal(a.keeper.livingNodes, 2);
  cluster.clock.now += NODE_LEASE_MS;
  await a.tick();
  t.equal(a.keeper.livingNodes, 1, 'b was not heard of');
});

t.test('the slots of a dead node are shared out among the others', async (t) => {
  const cluster = new Cluster(t);
  await cluster.node('a');
  const b = await cluster.node('b');
  const c = await cluster.node('c');
  cluster.clock.now += TAKEOVER_MS - 1;
  await b.tick();
  await c.tick();
  t.equal(b.ownership.slots.length + c.ownership.slots.length, 16, 'not before its lease is long over');
  cluster.clock.now += 1;
  await b.tick();
  await c.tick();
  t.strictSame([b.ownership.slots.length, c.ownership.slots.length], [12, 12]);
  t.strictSame(
    [...b.ownership.slots, ...c.ownership.slots].sort((one, two) => one - two),
    numbers(1, 24),
  );
  const again = await cluster.node('a');
  t.strictSame(again.ownership.slots, [], 'whoever comes back waits until others have handed some over');
  t.ok([...b.ownership.slots, ...c.ownership.slots].includes(again.ownership.slotForNew()), 'its mail is theirs');
  await b.tick();
  await c.tick();
  await again.tick();
  t.strictSame(
    [b, c, again].map(({ ownership }) => ownership.slots.length),
    [8, 8, 8],
  );
});

t.test('a node that was not heard of holds nothing before another may take over, and then learns of it', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  cluster.clock.now += OWN_END_MS - 1;
  t.not(a.ownership.of(1), null);
  cluster.clock.now += 1;
  t.equal(a.ownership.of(1), null);
  t.strictSame(a.ownership.all, []);
  await a.tick();
  t.strictSame(a.ownership.of(1), { slot: 1, epoch: 1 }, 'nobody has taken it');
  const b = await cluster.node('b');
  cluster.clock.now += TAKEOVER_MS;
  await b.tick();
  t.strictSame(b.ownership.of(1), { slot: 1, epoch: 2 });
  await a.tick();
  t.match(a.heard, [`gained ${numbers(1, 8)}`, `lost ${numbers(1, 8)}`]);
  t.strictSame(a.ownership.of(1), null);
});

t.test('a slot is handed over once everything in it has its end', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  const slot = a.ownership.slots.at(-1)!;
  const { claim, deliver } = await mailIn(cluster, a, slot);
  const { messages } = await claim();
  t.equal(await a.store.owners.drainNode('a', true), true);
  const b = await cluster.node('b');
  await a.tick();
  t.strictSame(a.ownership.slots, [], 'nothing new begins in any');
  t.strictSame(a.heard, [`gained ${numbers(1, 8)}`], 'and nothing that has begun is broken off');
  await b.tick();
  t.strictSame(
    b.ownership.slots.filter((one) => one <= 8),
    numbers(1, 7),
  );
  t.strictSame(await deliver(messages), { lanes: [], over: [] });
  await a.tick();
  await b.tick();
  t.strictSame(b.ownership.of(slot), { slot, epoch: 3 });
  await a.store.owners.drainNode('a', false);
  await a.tick();
  await b.tick();
  await a.tick();
  t.equal(a.ownership.slots.length, 8, 'it has its share again');
});

t.test('a claim that was sent before its slot was left is waited for, or refused', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  const slot = a.ownership.slots.at(-1)!;
  const { claim, deliver } = await mailIn(cluster, a, slot);
  const { isSlotIdle } = a.owners;
  let claimed: Awaited<ReturnType<typeof claim>> | undefined;
  a.owners.isSlotIdle = async (asked) => {
    const isIdle = await isSlotIdle(asked);
    if (asked === slot) claimed ??= await claim();
    return isIdle;
  };
  await a.store.owners.drainNode('a', true);
  const b = await cluster.node('b');
  await a.tick();
  t.equal(claimed?.messages.length, 1);
  await b.tick();
  t.equal(b.ownership.of(slot), null, 'it is on its way, and would be sent twice');
  await deliver(claimed!.messages);
  await a.tick();
  t.match(await claim(), { messages: [], isOver: true }, 'nobody has taken the slot yet');
  await b.tick();
  t.strictSame(b.ownership.of(slot), { slot, epoch: 3 });
});

t.test('a slot is not called taken when the answer to its handover was lost', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  const slot = a.ownership.slots.at(-1)!;
  const { letGoOfIdleSlot } = a.owners;
  a.owners.letGoOfIdleSlot = async (owner) => {
    await letGoOfIdleSlot(owner);
    throw new Error('the connection was lost');
  };
  const b = await cluster.node('b');
  await a.store.owners.drainNode('a', true);
  await a.tick();
  a.owners.letGoOfIdleSlot = letGoOfIdleSlot;
  await a.tick();
  t.equal(a.ownership.slots.length, 0);
  t.strictSame(
    a.logged.filter((text) => /handed|another/.test(text)),
    ['info: slots handed over, which nothing had confirmed', ...numbers(2, 8).map(() => 'info: slot handed over')],
  );
  await b.tick();
  t.equal(b.ownership.of(slot)?.epoch, 3);
});

t.test('what does not end within a minute is broken off, and left to the next owner', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  await (await mailIn(cluster, a, 1)).claim();
  const mayEnd = a.ownership.lease!.begin();
  const { letGoOfSlots } = a.owners;
  const couldEnd: boolean[] = [];
  a.owners.letGoOfSlots = async (owners) => {
    couldEnd.push(mayEnd());
    await letGoOfSlots(owners);
  };
  const b = await cluster.node('b');
  await a.store.owners.drainNode('a', true);
  for (let waited = 0; waited < 60_000; waited += 3000, cluster.clock.now += 3000) {
    await b.tick();
    await a.tick();
  }
  t.match((await a.store.owners.listSlots())[0], { node: 'a', leaseUntil: cluster.clock.now - 3000 + NODE_LEASE_MS });
  t.strictSame([mayEnd(), a.heard], [true, [`gained ${numbers(1, 8)}`]]);
  await a.tick();
  t.match((await a.store.owners.listSlots())[0], { leaseUntil: 0 });
  t.strictSame(couldEnd, [false], 'before another node can take it');
  t.strictSame(a.heard, [`gained ${numbers(1, 8)}`, 'lost 1']);
  t.match(a.logged.slice(-2), [/^warn: work in these slots did not end within a minute/, 'info: slot handed over']);
});

t.test('what is on its way in a slot that is being handed over is broken off when another node takes it', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  await (await mailIn(cluster, a, 1)).claim();
  const mayEnd = a.ownership.lease!.begin();
  const b = await cluster.node('b');
  await a.store.owners.drainNode('a', true);
  await a.tick();
  cluster.clock.now += TAKEOVER_MS;
  await b.tick();
  t.equal(b.ownership.of(1)?.epoch, 2);
  await a.tick();
  t.strictSame([mayEnd(), a.heard], [false, [`gained ${numbers(1, 8)}`, 'lost 1']]);
});

t.test('a node that is drained sends when no other one is left', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  const b = await cluster.node('b');
  await a.store.owners.drainNode('a', true);
  await a.tick();
  await b.tick();
  t.strictSame([a.ownership.slots.length, b.ownership.slots.length], [0, 16]);
  cluster.clock.now += TAKEOVER_MS;
  await a.tick();
  await a.tick();
  t.equal(a.ownership.slots.length, 16, 'b was not heard of');
  t.strictSame(
    a.logged.filter((text) => text.startsWith('warn')),
    [
      'warn: this daemon is drained: it begins nothing until postrider nodes resume a',
      'warn: this daemon is drained, and sends all the same while no other one is alive, until postrider nodes resume a',
      'warn: the slots of b were taken over: it was not heard of for too long',
    ],
    'and says so once',
  );
  await b.tick();
  await a.tick();
  await b.tick();
  t.strictSame([a.ownership.slots.length, b.ownership.slots.length], [0, 16], 'b is back');
});

t.test('a node that stops does not let others wait', async (t) => {
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  const b = await cluster.node('b');
  await a.keeper.close();
  t.strictSame(a.ownership.slots, []);
  await b.tick();
  t.equal(b.ownership.slots.length, 16);
  const again = await cluster.node('a');
  await b.tick();
  await again.tick();
  t.strictSame([again.ownership.slots.length, b.ownership.slots.length], [8, 8]);
  t.notOk(
    b.logged.some((text) => text.startsWith('warn')),
    'nobody has died',
  );
});

t.test('of two nodes of one name the older one ends, and leaves the younger one alone', async (t) => {
  const cluster = new Cluster(t);
  const older = await cluster.node('a');
  cluster.clock.now += 1000;
  const younger = await cluster.node('a');
  await older.tick();
  await older.tick();
  const why = 'another daemon on the same database is called a as well: give each its own store.node';
  t.strictSame(older.heard, [`gained ${numbers(1, 8)}`, `lost ${numbers(1, 8)}`, why]);
  await older.keeper.close();
  await younger.tick();
  t.strictSame(younger.ownership.slots, numbers(1, 8));
  t.match(await younger.store.owners.listNodes(), [{ startedAt: T0 + 1000, seenAt: T0 + 1000 }]);
});

t.test('a store that fails at a renewal stops nobody before the leases are over', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const cluster = new Cluster(t);
  const a = await cluster.node('a');
  await a.store.close();
  await a.tick();
  mock.timers.tick(OWN_END_MS - 1);
  t.equal(a.ownership.slots.length, 8);
  t.strictSame(a.heard, [`gained ${numbers(1, 8)}`]);
  mock.timers.tick(1);
  t.strictSame(a.heard, [`gained ${numbers(1, 8)}`, `lost ${numbers(1, 8)}`], 'who works there hears of it in time');
  t.strictSame(a.ownership.slots, []);
  const why = 'since the database has not confirmed them for 8 s (postrider doctor says what is wrong with it)';
  t.strictSame(
    a.logged.at(-1),
    `error: the leases of all slots are over, ${why}: nothing is sent until they are renewed`,
  );
});
