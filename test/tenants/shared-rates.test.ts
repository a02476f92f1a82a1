// Rate limits of nodes that share a store, with a clock of the test's own and a store that answers when the test says so.
import t from 'tap';
import { MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import type { Spending } from '../../src/store/limits.ts';
import { SharedRates } from '../../src/tenants/shared-rates.ts';
import { type LogLine, listLogger } from '../support/api-harness.ts';
import { within } from '../support/patience.ts';

const KEY = '019a9b70-0000-7000-8000-000000000001';
const OTHER = '019a9b70-0000-7000-8000-000000000002';

/** What the verb does, by the test's clock. */
class BucketStore {
  readonly asked: Spending[][] = [];
  /** What a payment waits for. */
  answering: Promise<void> = Promise.resolve();
  readonly #fullAt = new Map<string, number>();
  readonly #clock: { at: number };

  constructor(clock: { at: number }) {
    this.#clock = clock;
  }

  async spendCalls(spendings: readonly Spending[]): Promise<number[]> {
    this.asked.push([...spendings]);
    await this.answering;
    const now = this.#clock.at;
    return spendings.map(({ id, costMs }) => {
      this.#fullAt.set(id, Math.max(this.#fullAt.get(id) ?? 0, now) + costMs);
      return this.#fullAt.get(id)! - now;
    });
  }
}

function stage(nodes: number, change: { lateMs?: number } = {}) {
  const clock = { at: 1_000_000, now: () => clock.at };
  const limits = new BucketStore(clock);
  const lines: LogLine[] = [];
  const log = listLogger(lines);
  const rest = { store: { limits }, clock, log, nodes: () => nodes, tickMs: null };
  const rates = Array.from({ length: nodes }, () => new SharedRates({ ...rest, ...change }));
  return { clock, limits, lines, rates, node: rates[0]! };
}

/** So many calls at once, dealt out among the nodes. */
async function countAllowed(rates: readonly SharedRates[], calls: number, perMinute: number): Promise<number> {
  const taken = Array.from({ length: calls }, (_, call) => rates[call % rates.length]!.take(KEY, perMinute));
  return (await Promise.all(taken)).filter(({ allowed }) => allowed).length;
}

t.test('one node allows exactly a minute’s worth, and refills continuously', async (t) => {
  for (const perMinute of [1000, 10_000, 999, 60, 7]) {
    const { clock, node } = stage(1);
    const allowed = async () => {
      const calls = await countAllowed([node], perMinute + 5, perMinute);
      await node.pay();
      return calls;
    };
    t.equal(await allowed(), perMinute, `${perMinute} at once`);
    clock.at += MINUTE_MS / 2;
    t.equal(await allowed(), Math.floor(perMinute / 2), 'half of it after half a minute');
    clock.at += 60 * MINUTE_MS;
    t.equal(await allowed(), perMinute, 'never more than one minute’s worth');
  }
});

t.test('several nodes together stay within the limit and a chunk each', async (t) => {
  for (const nodes of [2, 3, 5]) {
    const { clock, rates } = stage(nodes);
    const most = 1000 * (1 + nodes * 0.05);
    const atOnce = await countAllowed(rates, 5000, 1000);
    t.ok(atOnce >= 1000 && atOnce <= most, `${atOnce} by ${nodes}`);
    let later = 0;
    for (let second = 0; second < 120; second++) {
      clock.at += SECOND_MS;
      later += await countAllowed(rates, 100, 1000);
    }
    t.ok(atOnce + later <= most + 2000, `${later} in two minutes by ${nodes}`);
    t.ok(later >= 1800, 'and hardly less than what comes back');
  }
});

t.test('one that does not see the others’ calls stops at its chunk', async (t) => {
  const { rates, clock } = stage(2);
  const [a, b] = [rates[0]!, rates[1]!];
  t.equal(await countAllowed([a], 1005, 1000), 1000);
  await a.pay();
  const ahead = await countAllowed([b], 1000, 1000);
  t.equal(ahead, 50, '5 % of the limit');
  t.match(await b.take(KEY, 1000), { allowed: false, remaining: 0, retryAfterSecs: 4 }, 'until the debt is over');
  clock.at += 4 * SECOND_MS;
  t.match(await b.take(KEY, 1000), { allowed: true });
  t.match(await b.take(OTHER, 1000), { allowed: true, limit: 1000, remaining: 999, resetSecs: 1 }, 'of another key');
});

t.test('calls do not wait for the store, which is asked about many of them at once', async (t) => {
  const { node, limits, clock } = stage(1);
  let answers = 0;
  for (let call = 0; call < 1000; call++) {
    const verdict = node.take(KEY, 10_000);
    if (!(verdict instanceof Promise)) answers++;
    await verdict;
    clock.at += 10;
  }
  t.equal(answers, 1000, 'none waited');
  t.ok(limits.asked.length <= 4, `${limits.asked.length} payments for 1000 calls`);
  await node.pay();
  const paid = limits.asked.flat().reduce((sum, { costMs }) => sum + costMs, 0);
  t.equal(paid, 1000 * 6);
  const before = limits.asked.length;
  for (const key of [KEY, OTHER]) await node.take(key, 10_000);
  await node.pay();
  t.strictSame(limits.asked.slice(before), [
    [
      { id: KEY, costMs: 6 },
      { id: OTHER, costMs: 6 },
    ],
  ]);
  await node.pay();
  t.equal(limits.asked.length, before + 1, 'nothing is unpaid');
});

t.test('what costs more than a call is paid before the next one', async (t) => {
  const { node, limits } = stage(1);
  await node.take(KEY, 1000);
  t.match(node.charge(KEY, 1000, 1500), { allowed: true, remaining: 0 });
  t.match(await node.take(KEY, 1000), { allowed: false, retryAfterSecs: 31 });
  await node.pay();
  t.equal(
    limits.asked.flat().reduce((sum, { costMs }) => sum + costMs, 0),
    1501 * 60,
  );
  t.match(node.take(KEY, null), { allowed: true, remaining: 2_147_483_647 }, 'without a limit nothing is asked');
});

t.test('a store that fails leaves each node its share, and what was spent is paid later', async (t) => {
  const { rates, limits, clock, lines, node } = stage(2);
  t.equal(await countAllowed([node], 500, 1000), 500);
  await node.pay();
  limits.answering = Promise.reject(new Error('connection lost'));
  const alone = await countAllowed([node], 1000, 1000);
  t.ok(alone >= 250 && alone <= 250 + 50, `${alone}: half of the 500 that are left, and the chunk before it fails`);
  clock.at += MINUTE_MS;
  t.equal(await countAllowed([node], 1005, 1000), 500, 'half of a minute’s worth');
  t.equal(lines.filter(({ message }) => /each node allows its share/.test(message)).length, 1, 'logged once');
  limits.answering = Promise.resolve();
  await node.pay();
  t.match(lines.at(-1), { message: 'rate limits: the nodes share them again' });
  t.equal(await countAllowed([rates[1]!], 1005, 1000), 500, 'the other one hears of it');
});

t.test('a call waits for a store that hangs no longer than it must', async (t) => {
  const { node, limits, lines } = stage(1, { lateMs: 5 });
  const { promise, resolve } = Promise.withResolvers<void>();
  limits.answering = promise;
  t.equal(await within(5000, 'the calls go on', countAllowed([node], 1005, 1000)), 1000);
  t.match(lines, [{ facts: { reason: 'no answer for 0.005 s' } }]);
  resolve();
  await node.close();
  t.match(lines.at(-1), { message: 'rate limits: the nodes share them again' });
  t.match(await node.take(KEY, 1000), { allowed: false });
});
