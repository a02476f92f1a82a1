// Conformance: claiming for a session that speaks from one address, and what is counted for it.
import type { Test } from 'tap';
import type { ClaimSource, SourceChoice, SourceUsages } from '../../../src/store/source-addresses.ts';
import { type Bench, DUE_AGAIN_STEP_MS, T0 } from './harness.ts';

const GROUP = 'mx.x.test';
const DAY = 20_454;

function claim(
  bench: Bench,
  lane: number,
  from: Pick<ClaimSource, 'choose'> & Partial<ClaimSource> & { address: string | null },
  limit = 10,
) {
  const times = { now: T0, dueAgainAt: (attempt: number) => T0 + attempt * DUE_AGAIN_STEP_MS };
  return bench.store.claim(lane, limit, { ...times, from: { mxGroup: GROUP, day: DAY, ...from } });
}

const use = (address: string, counted = false): SourceChoice => ({ decision: 'use', address, counted });

export const sourceAddressCases = {
  'only messages of the session’s address are claimed, the others stay due': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { receipt, lanes } = await bench.accept(domain, ['a@x.test', 'b@x.test', 'c@x.test']);
    const [a, b, c] = receipt.messageIds as [string, string, string];
    const choose = ({ id }: { id: string }) => use(id === b ? '192.0.2.2' : '192.0.2.1');
    const first = await claim(bench, lanes[0]!.lane, { address: '192.0.2.1', choose });
    t.match(first, { messages: [{ id: a, sourceAddress: '192.0.2.1' }, { id: c }], nextDueAt: T0 });
    t.match(await bench.message(a), { state: 'sending', sourceAddress: '192.0.2.1' });
    t.match(await bench.message(b), { state: 'queued', sourceAddress: null });
    const second = await claim(bench, lanes[0]!.lane, { address: '192.0.2.2', choose });
    t.match(second, { messages: [{ id: b, sourceAddress: '192.0.2.2' }], nextDueAt: null });
  },

  'a message is asked for with the address of its first attempt': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    await claim(bench, lane, { address: '192.0.2.1', choose: () => use('192.0.2.1') });
    await bench.store.release([id], T0);
    const asked: unknown[] = [];
    const choose = (message: unknown) => {
      asked.push(message);
      return use('192.0.2.9');
    };
    const { messages } = await claim(bench, lane, { address: '192.0.2.1', choose });
    t.strictSame(messages, []);
    t.match(asked, [{ id, sourceAddress: '192.0.2.1' }]);
    const peeked = await bench.store.peekDue(lane, { now: T0, mxGroup: GROUP, limit: 5 });
    t.strictSame(peeked.due, [{ id, sourceAddress: '192.0.2.1' }]);
  },

  'what must wait is put off with its reason, whoever claims': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    const choose = (): SourceChoice => ({ decision: 'wait', until: T0 + 5000, reason: 'too much for today' });
    t.strictSame(await claim(bench, lane, { address: null, choose }), { messages: [], nextDueAt: T0 + 5000 });
    t.match(await bench.message(id), {
      state: 'queued',
      attempts: 0,
      dueAt: T0 + 5000,
      lastReason: 'too much for today',
      sourceAddress: null,
    });
  },

  'counted messages add up within a claim, over claims, and begin anew each day': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const to = ['a@x.test', 'b@x.test', 'c@x.test', 'd@x.test'];
    const { lanes } = await bench.accept(domain, to);
    const { lane } = lanes[0]!;
    const seen: (number | undefined)[] = [];
    const choose = (_message: unknown, usages: SourceUsages) => {
      seen.push(usages.get('192.0.2.1')?.usedToday);
      return use('192.0.2.1', true);
    };
    await claim(bench, lane, { address: '192.0.2.1', choose }, 2);
    await claim(bench, lane, { address: '192.0.2.1', choose }, 1);
    t.strictSame(seen, [undefined, 1, 2]);
    const usages = async (mxGroup = GROUP) => [
      ...(await bench.store.peekDue(lane, { now: T0, mxGroup, limit: 1 })).usages.values(),
    ];
    t.strictSame(await usages(), [{ address: '192.0.2.1', day: DAY, usedToday: 3, daysUsed: 1 }]);
    t.strictSame(await usages('another'), []);
    await claim(bench, lane, { address: '192.0.2.1', choose, day: DAY + 3 });
    t.strictSame(await usages(), [{ address: '192.0.2.1', day: DAY + 3, usedToday: 1, daysUsed: 2 }]);
    t.equal(await bench.store.forgetSourceUsage(DAY + 3, 10), 0);
    t.equal(await bench.store.forgetSourceUsage(DAY + 4, 10), 1);
    t.strictSame(await usages(), []);
  },
};
