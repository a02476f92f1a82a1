// Connections that several nodes share: each node's side of it over a real store, with a monotonic clock of the test's own.
import path from 'node:path';
import t, { type Test } from 'tap';
import { HOUR_MS, SECOND_MS } from '../../src/base/clock.ts';
import { SharedConnections } from '../../src/delivery/shaping/shared-connections.ts';
import type { ConnectionWish } from '../../src/store/limits.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { type LogLine, listLogger } from '../support/api-harness.ts';
import { newDatabase } from '../support/new-database.ts';
import { testFolder } from '../support/test-folder.ts';

const GROUP = 'google';
const LIMIT = 10;

/** Opens as many connections as it has mail for and is allowed to. */
class Sender {
  open = 0;
  readonly shared: SharedConnections;
  #wanted = 0;
  readonly #permitted: number;
  readonly #onOpen: () => void;

  constructor(shared: SharedConnections, { permitted, onOpen }: { permitted: number; onOpen(): void }) {
    this.shared = shared;
    this.#permitted = permitted;
    this.#onOpen = onOpen;
    shared.start({
      openTo: () => this.open,
      onRoom: () => this.#pump(),
      onSurplus: (_group, most) => {
        this.open = Math.min(this.open, most);
        // A session that ends makes room for the next one.
        queueMicrotask(() => this.#pump());
      },
    });
  }

  /** It has mail for so many. */
  want(connections: number): void {
    this.#wanted = connections;
    this.open = Math.min(this.open, connections);
    this.#pump();
  }

  #pump(): void {
    while (this.open < Math.min(this.#wanted, this.#permitted)) {
      this.shared.need(GROUP, { open: this.open, limit: LIMIT, permitted: this.#permitted });
      if (this.open >= this.shared.most(GROUP)) return;
      this.open++;
      this.#onOpen();
    }
  }
}

interface Stage {
  senders: Sender[];
  asked: ConnectionWish[][];
  lines: LogLine[];
  /** What the store fails with, and what its answers wait for. */
  fault: { error: Error | null; gate: Promise<void> };
  open(): number[];
  /** Time passes, and everybody has what the store answered. */
  pass(seconds: number): Promise<void>;
  /** The most that were open at one time. */
  most(): number;
}

async function stage(t: Test, names: readonly string[], { permitted = LIMIT } = {}): Promise<Stage> {
  const file = path.join(testFolder(t), 'postrider.db');
  await newDatabase(file);
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const [asked, lines]: [ConnectionWish[][], LogLine[]] = [[], []];
  const fault: Stage['fault'] = { error: null, gate: Promise.resolve() };
  const answers = new Set<Promise<unknown>>();
  const clock = { at: 0 };
  const limits = {
    async shareConnections(wishes: readonly ConnectionWish[]) {
      asked.push([...wishes]);
      if (fault.error) throw fault.error;
      await fault.gate;
      // The store's clock is the machine's: however busy that is, no lease ends in this test.
      const answer = store.limits.shareConnections(wishes.map((wish) => ({ ...wish, leaseMs: HOUR_MS })));
      answers.add(answer);
      return answer;
    },
  };
  let most = 0;
  const open = () => senders.map((sender) => sender.open);
  const onOpen = () => {
    most = Math.max(
      most,
      open().reduce((sum, one) => sum + one, 0),
    );
  };
  const senders: Sender[] = names.map((node) => {
    const kit = { store: { limits }, node, log: listLogger(lines), monotonicMs: () => clock.at, tickMs: null };
    return new Sender(new SharedConnections(kit), { permitted, onOpen });
  });
  const settle = async () => {
    for (let known = -1; known < answers.size; ) {
      known = answers.size;
      await Promise.allSettled(answers);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const pass = async (seconds: number) => {
    await settle();
    for (let second = 0; second < seconds; second++) {
      clock.at += SECOND_MS;
      for (const { shared } of senders) {
        shared.tick();
        await settle();
      }
    }
  };
  return { senders, asked, lines, fault, open, pass, most: () => most };
}

t.test('who has all the mail gets all of the connections, with few questions', async (t) => {
  const { senders, asked, open, pass } = await stage(t, ['a', 'b', 'c']);
  senders[1]!.want(50);
  t.strictSame(open(), [0, 0, 0], 'none before the answer');
  await pass(0);
  t.strictSame(open(), [0, LIMIT, 0]);
  t.ok(asked.length <= 5, `${asked.length} questions`);
  await pass(60);
  t.strictSame(open(), [0, LIMIT, 0], 'they are renewed');
});

t.test('what others lack of their part goes to them, and comes back', async (t) => {
  const { senders, open, pass, most } = await stage(t, ['a', 'b']);
  const [a, b] = [senders[0]!, senders[1]!];
  a.want(50);
  await pass(0);
  b.want(50);
  await pass(8);
  t.strictSame(open(), [5, 5]);
  b.want(2);
  await pass(20);
  t.strictSame(open(), [8, 2], 'what it does not want of its part is the other one’s');
  b.want(0);
  await pass(20);
  t.strictSame(open(), [LIMIT, 0]);
  b.want(1);
  await pass(8);
  t.strictSame(open(), [9, 1]);
  t.equal(most(), LIMIT, 'never more than the limit');
});

t.test('a node that ends leaves its part to the others at once', async (t) => {
  const { senders, open, pass } = await stage(t, ['a', 'b']);
  for (const sender of senders) sender.want(50);
  await pass(8);
  t.strictSame(open(), [5, 5]);
  senders[0]!.want(0);
  await senders[0]!.shared.close();
  await pass(2);
  t.equal(senders[1]!.open, LIMIT);
});

t.test('no more is asked for than the receiver’s replies permit, and nothing once no mail waits', async (t) => {
  const { senders, asked, open, pass } = await stage(t, ['a', 'b'], { permitted: 3 });
  senders[0]!.want(50);
  await pass(5);
  t.strictSame(open(), [3, 0]);
  t.ok(asked.flat().every(({ wanted }) => wanted <= 3));
  senders[0]!.want(0);
  await pass(5);
  t.ok(asked.at(-1)![0]!.kept > 0, 'kept for a while: mail may come again');
  await pass(15);
  t.match(asked.at(-1), [{ kept: 0, wanted: 0 }], 'given back');
  const before = asked.length;
  await pass(60);
  t.equal(asked.length, before);
});

t.test('what is given back while the store is slow can be had again', async (t) => {
  const { senders, asked, fault, open, pass } = await stage(t, ['a']);
  senders[0]!.want(2);
  await pass(1);
  senders[0]!.want(0);
  await pass(8);
  const { promise, resolve } = Promise.withResolvers<void>();
  fault.gate = promise;
  // The question that gives them back has no answer yet when the next one would be due.
  await pass(9);
  t.match(asked.at(-1), [{ kept: 0, wanted: 0 }]);
  resolve();
  await pass(3);
  senders[0]!.want(2);
  await pass(1);
  t.strictSame(open(), [2]);
});

t.test('without an answer of the store they are closed before others may open them', async (t) => {
  const { senders, lines, fault, open, pass } = await stage(t, ['a']);
  senders[0]!.want(4);
  await pass(1);
  t.strictSame(open(), [4]);
  fault.error = new Error('the store is away');
  await pass(6);
  t.strictSame(open(), [4], 'its lease is not over');
  await pass(4);
  t.strictSame(open(), [0]);
  t.equal(lines.filter(({ message }) => /can't be shared/.test(String(message))).length, 1, 'said once');
  fault.error = null;
  await pass(4);
  t.strictSame(open(), [4]);
  t.match(lines.at(-1), { message: /share them again/ });
});
