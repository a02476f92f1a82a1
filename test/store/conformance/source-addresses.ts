// Conformance: claiming for a session that speaks from one address, and what is counted for it.
import type { Test } from 'tap';
import { type Candidate, chooseSource, dayOf, type SourceFacts } from '../../../src/store/source-addresses.ts';
import { untried } from '../../support/first-slot.ts';
import { type Bench, dueAgainFrom, T0 } from './harness.ts';

const GROUP = 'mx.x.test';
const TODAY = dayOf(T0);
const DAY_MS = 86_400_000;

export const candidate = (ip: string, change: Partial<Candidate> = {}): Candidate => {
  return { ip, weight: 1, warm: true, pause: null, ...change };
};
const [A, B] = [candidate('192.0.2.1'), candidate('192.0.2.2')];

export function factsOf(candidates: Candidate[], change: Partial<SourceFacts> = {}): SourceFacts {
  return { mxGroup: GROUP, candidates, none: 'none can be used', ramp: [], ...change };
}

interface Claiming {
  address: string | null;
  facts: SourceFacts;
  limit?: number;
  now?: number;
}

async function claim(bench: Bench, lane: number, { address, facts, limit = 10, now = T0 }: Claiming) {
  const owner = await bench.owner();
  return bench.store.queue.claim(lane, limit, { owner, now, dueAgainAt: dueAgainFrom(now), from: { address, facts } });
}

async function usages(bench: Bench, lane: number, mxGroup = GROUP) {
  return [...(await bench.store.sources.peekDue(lane, { now: T0, mxGroup, limit: 1 })).usages.values()];
}

export const sourceAddressCases = {
  'only messages of the session’s address are claimed, the others stay due': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const to = Array.from({ length: 12 }, (_, index) => `r${index}@x.test`);
    const { receipt, lanes } = await bench.accept(domain, to);
    const { lane } = lanes[0]!;
    const facts = factsOf([A, B]);
    const meantFor = ({ ip }: Candidate) =>
      receipt.messageIds.filter((id) => {
        const choice = chooseSource({ id, sourceAddress: null }, new Map(), facts, T0);
        return choice.decision === 'use' && choice.address === ip;
      });
    const [forA, forB] = [meantFor(A), meantFor(B)];
    const first = await claim(bench, lane, { address: A.ip, facts, limit: 100 });
    t.strictSame(
      [first.messages.map(({ id }) => id), first.messages.every((m) => m.sourceAddress === A.ip)],
      [forA, true],
    );
    t.equal(first.nextDueAt, forB.length > 0 ? T0 : null);
    for (const id of forA) t.match(await bench.message(id), { state: 'sending', sourceAddress: A.ip });
    for (const id of forB) t.match(await bench.message(id), { state: 'queued', sourceAddress: null });
    const second = await claim(bench, lane, { address: B.ip, facts, limit: 100 });
    t.strictSame([second.messages.map(({ id }) => id), second.nextDueAt], [forB, null]);
  },

  'a message is asked for with the address of its first attempt': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    const { messages } = await claim(bench, lane, { address: A.ip, facts: factsOf([A]) });
    await bench.store.queue.release(messages.map(untried), T0);
    // A newcomer with all of the weight gets every new message, and not this one.
    const facts = factsOf([A, { ...B, weight: 1e9 }]);
    t.strictSame((await claim(bench, lane, { address: B.ip, facts })).messages, []);
    const peeked = await bench.store.sources.peekDue(lane, { now: T0, mxGroup: GROUP, limit: 5 });
    t.strictSame(peeked.due, [{ id, sourceAddress: A.ip }]);
    t.match(await claim(bench, lane, { address: A.ip, facts }), { messages: [{ id, sourceAddress: A.ip }] });
  },

  'what must wait is put off with its reason, whoever claims': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    const facts = factsOf([candidate(A.ip, { pause: { until: T0 + 5000, reason: 'too much for today' } })]);
    const nothing = { messages: [], nextDueAt: T0 + 5000, isOver: false };
    t.strictSame(await claim(bench, lane, { address: null, facts }), nothing);
    t.match(await bench.message(id), {
      state: 'queued',
      attempts: 0,
      dueAt: T0 + 5000,
      lastReason: 'too much for today',
      sourceAddress: null,
    });
  },

  'counted messages add up within a claim and over claims, up to the limit of the day': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domain } = await bench.sender('acme.test');
    const to = ['a@x.test', 'b@x.test', 'c@x.test', 'd@x.test', 'e@x.test'];
    const { lanes } = await bench.accept(domain, to, { expiresAt: T0 + 3 * DAY_MS });
    const { lane } = lanes[0]!;
    const facts = factsOf([candidate(A.ip, { warm: false })], { ramp: [3, 1] });
    const take = async (limit: number, now: number) =>
      (await claim(bench, lane, { address: A.ip, facts, limit, now })).messages.length;
    t.equal(await take(2, T0), 2);
    t.equal(await take(10, T0), 1, 'the third is the last of this day');
    t.strictSame(await usages(bench, lane), [{ address: A.ip, day: TODAY, usedToday: 3, daysUsed: 1 }]);
    t.strictSame(await usages(bench, lane, 'another'), []);
    t.equal(await take(10, T0), 0, 'the others are put off');
    const tomorrow = T0 + DAY_MS;
    const nextDay = dayOf(tomorrow);
    t.equal(await take(10, tomorrow), 1, 'the second day has a limit of its own');
    t.strictSame(await usages(bench, lane), [{ address: A.ip, day: nextDay, usedToday: 1, daysUsed: 2 }]);
    t.equal(await bench.store.sources.forgetSourceUsage(nextDay, 10), 0);
    t.equal(await bench.store.sources.forgetSourceUsage(nextDay + 1, 10), 1);
    t.strictSame(await usages(bench, lane), []);
  },
};
