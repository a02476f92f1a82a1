// Conformance: limits over all nodes: buckets of calls, and throttles of attempts.
import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/base/clock.ts';
import type { ThrottleRule } from '../../../src/base/throttle-rule.ts';
import type { ConnectionWish, Gate, PortionWish } from '../../../src/store/limits.ts';
import { type Bench, T0 } from './harness.ts';

const RULE: ThrottleRule = {
  freeTries: 2,
  firstWaitMs: SECOND_MS,
  longestWaitMs: 3 * SECOND_MS,
  forgetAfterMs: HOUR_MS,
};

export function gate(name: string, change: Partial<ThrottleRule> = {}): Gate {
  return { key: createHash('sha256').update(name).digest(), rule: { ...RULE, ...change } };
}

const WISH: PortionWish = { subject: 'tenant a', limit: 10, spanMs: HOUR_MS, wanted: 4, returned: 0 };

export const limitCases = {
  'what calls cost adds up, and a bucket fills again by the clock of the store': async (t: Test, bench: Bench) => {
    const { limits, owners } = bench.store;
    const [id, other] = [bench.id(), bench.id()];
    const start = await owners.readClock();
    t.strictSame(await limits.spendCalls([{ id, costMs: 100_000 }]), [100_000]);
    const [ofOther, ofBoth] = await limits.spendCalls([
      { id: other, costMs: 7 },
      { id, costMs: 50_000 },
    ]);
    t.equal(ofOther, 7, 'in the order of the question');
    const passedMs = (await owners.readClock()) - start;
    t.ok(ofBoth! <= 150_000 && ofBoth! >= 150_000 - passedMs, `${ofBoth} after ${passedMs} ms`);
    t.strictSame(await limits.spendCalls([]), []);
  },

  'a full bucket is erased': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const id = bench.id();
    await limits.spendCalls([
      { id, costMs: DAY_MS },
      { id: bench.id(), costMs: 0 },
      { id: bench.id(), costMs: 0 },
    ]);
    t.equal(await limits.eraseFullBuckets(1), 1);
    t.equal(await limits.eraseFullBuckets(10), 1);
    t.equal(await limits.eraseFullBuckets(10), 0);
    t.ok((await limits.spendCalls([{ id, costMs: 0 }]))[0]! > HOUR_MS, 'the other one is as it was');
  },

  'portions of a limit add up to it, and what is given back can be taken again': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const take = async (change: Partial<PortionWish> = {}) => (await limits.takePortions([{ ...WISH, ...change }]))[0]!;
    t.strictSame(await take(), { granted: 4, taken: 4, freeInMs: 0 });
    t.strictSame(await take(), { granted: 4, taken: 8, freeInMs: 0 });
    const last = await take();
    t.strictSame([last.granted, last.taken], [2, 10], 'no more than is left');
    t.ok(last.freeInMs > HOUR_MS - MINUTE_MS && last.freeInMs <= HOUR_MS + MINUTE_MS, `free in ${last.freeInMs} ms`);
    t.equal((await take()).granted, 0);
    t.strictSame(await take({ wanted: 0, returned: 3 }), { granted: 0, taken: 7, freeInMs: 0 });
    t.equal((await take({ wanted: 9 })).granted, 3);
    t.equal((await take({ wanted: 9, returned: 1 })).granted, 1, 'at once');
    t.equal((await take({ limit: 11 })).granted, 1, 'a limit that was raised');
    t.strictSame((await take({ limit: 5, wanted: 1 })).granted, 0, 'or lowered');
    t.equal((await take({ limit: 5, wanted: 0, returned: 99 })).taken, 0, 'never below nothing');
  },

  'each subject has portions of its own': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const wishes = ['tenant a', 'tenant b', 'group a'].map((subject, at) => ({ ...WISH, subject, wanted: at + 8 }));
    const granted = (await limits.takePortions(wishes)).map((portion) => portion.granted);
    t.strictSame(granted, [8, 9, 10], 'in the order of the question');
    const again = (await limits.takePortions(wishes.toReversed())).map((portion) => portion.granted);
    t.strictSame(again, [0, 1, 2]);
    t.strictSame(await limits.takePortions([]), []);
  },

  'a portion counts for its span, and is erased after it': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const short = { ...WISH, subject: 'short', spanMs: 60, wanted: 10 };
    await limits.takePortions([short, { ...short, subject: 'other' }, WISH]);
    while ((await limits.takePortions([short]))[0]!.granted < 10);
    while ((await limits.erasePortions(1)) === 0);
    while ((await limits.erasePortions(10)) === 0);
    t.equal(await limits.erasePortions(10), 0);
    t.equal((await limits.takePortions([WISH]))[0]!.taken, 8, 'the other one is as it was');
  },

  'connections are given by need, and each node has its even part': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const share = async (node: string, kept: number, wanted: number, change: Partial<ConnectionWish> = {}) => {
      const wish = { mxGroup: 'google', node, limit: 10, kept, wanted, leaseMs: HOUR_MS, ...change };
      const [{ connections, goal }] = (await limits.shareConnections([wish])) as [
        { connections: number; goal: number },
      ];
      return [connections, goal];
    };
    t.strictSame(await share('a', 0, 3), [3, 3], 'all that it wants');
    t.strictSame(await share('a', 3, 99), [10, 10], 'or that there is');
    t.strictSame(await share('b', 0, 4), [0, 4], 'what the other one has, it keeps');
    t.strictSame(await share('a', 10, 99), [10, 6], 'but is told to give some back');
    t.strictSame(await share('b', 0, 4), [0, 4]);
    t.strictSame(await share('a', 8, 99), [8, 6], 'as far as it can');
    t.strictSame(await share('b', 0, 4), [2, 4]);
    t.strictSame(await share('a', 6, 99), [6, 6]);
    t.strictSame(await share('b', 2, 99), [4, 5], 'no more than its even part');
    t.strictSame(await share('c', 0, 99, { mxGroup: 'yahoo' }), [10, 10], 'each group has its own');
    t.strictSame(await share('a', 0, 0), [0, 0]);
    t.strictSame(await share('b', 4, 99), [10, 10], 'who wants none leaves all to the others');
    t.strictSame(await share('b', 9, 99, { limit: 5 }), [9, 5], 'a limit that was lowered');
    t.strictSame(await limits.shareConnections([]), []);
  },

  'connections come back when their lease is over': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const wish = { mxGroup: 'short', node: 'a', limit: 2, kept: 0, wanted: 2, leaseMs: 60 };
    const other = { ...wish, node: 'b', leaseMs: HOUR_MS };
    await limits.shareConnections([wish]);
    while ((await limits.shareConnections([other]))[0]!.connections < 2);
    t.strictSame(await limits.shareConnections([wish]), [{ connections: 0, goal: 1 }]);
    const both = [other, { ...other, mxGroup: 'long' }].map((one) => ({ ...one, kept: 1, wanted: 1 }));
    t.strictSame(
      (await limits.shareConnections(both)).map(({ connections }) => connections),
      [1, 1],
      'in the order of the question',
    );
  },

  'some attempts are free, then each waits longer': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const [one, other] = [gate('one'), gate('other')];
    const waits = [];
    for (let now = T0; waits.length < 5; now += waits.at(-1)!) {
      waits.push(await limits.takeAttempt([one], now));
      if (waits.at(-1) === 0) waits.push(await limits.takeAttempt([one], now));
    }
    t.strictSame(waits, [0, 0, 1000, 0, 2000], 'the second was the last free one');
    t.equal(await limits.takeAttempt([other], T0), 0, 'others do not wait');
  },

  'an attempt that one gate refuses counts at none': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const [shut, free] = [gate('shut', { freeTries: 1 }), gate('free')];
    t.equal(await limits.takeAttempt([shut], T0), 0);
    for (let time = 0; time < 3; time++) t.equal(await limits.takeAttempt([free, shut], T0), 1000);
    t.strictSame([await limits.takeAttempt([free], T0), await limits.takeAttempt([free], T0)], [0, 0]);
  },

  'attempts are forgotten, forgiven, or taken back': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    const gates = [gate('a'), gate('b'), gate('c')];
    for (let time = 0; time < 2; time++) t.equal(await limits.takeAttempt(gates, T0), 0);
    await limits.settleAttempt({ forgiven: [gates[0]!.key], refunded: [gates[1]!.key, gate('unknown').key] });
    const tries = async (at: number, now = T0) => {
      let free = 0;
      while (free < 5 && (await limits.takeAttempt([gates[at]!], now)) === 0) free++;
      return free;
    };
    t.strictSame([await tries(0), await tries(1), await tries(2)], [2, 1, 0]);
    t.equal(await limits.takeAttempt([gates[2]!], T0 + 1000), 0);
    t.equal(await tries(2, T0 + 1000 + HOUR_MS), 2, 'an hour after the last one');
  },

  'gates that are forgotten are erased, and the oldest beyond a number': async (t: Test, bench: Bench) => {
    const { limits } = bench.store;
    for (let n = 0; n < 5; n++) await limits.takeAttempt([gate(`${n}`)], T0 + n * MINUTE_MS);
    t.equal(await limits.forgottenBeyond(5), null);
    const beyond = await limits.forgottenBeyond(3);
    t.equal(beyond, T0 + MINUTE_MS + HOUR_MS);
    t.equal(await limits.eraseAttempts(T0 + HOUR_MS - 1, 10), 0);
    t.equal(await limits.eraseAttempts(beyond!, 1), 1);
    t.equal(await limits.eraseAttempts(beyond!, 10), 1);
    t.equal(await limits.forgottenBeyond(3), null);
    t.equal(await limits.forgottenBeyond(2), T0 + 2 * MINUTE_MS + HOUR_MS);
  },
};
