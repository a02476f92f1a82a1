// Conformance: what operators ask of many rows: the queue by MX group, a slice of it, and how tenants' mail fares.
import type { Test } from 'tap';
import type { QueueSlice, ReadOutcome } from '../../../src/store/reads.ts';
import { type Bench, T0 } from './harness.ts';

async function found<T>(asked: Promise<ReadOutcome<T>>): Promise<T> {
  const outcome = await asked;
  if (outcome.kind === 'refused') throw new Error(outcome.reason);
  return outcome.value;
}

export const operatorReadCases = {
  'the queue by MX group, and a slice of it': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    for (const [domain, mxGroup] of [
      ['x.test', 'big'],
      ['y.test', 'big'],
      ['z.test', 'small'],
    ] as const) {
      await store.shaping.noteDomains([{ domain, mxGroup, at: T0 }], T0);
    }
    await bench.queued(one.domain, 'a@x.test', T0 + 5);
    await bench.queued(one.domain, 'b@x.test', T0 + 3);
    await bench.queued(two.domain, 'a@y.test', T0 + 9);
    await bench.queued(two.domain, 'a@z.test', T0 + 1);
    await bench.queued(two.domain, 'a@unknown.test', T0 + 2);
    await bench.sending(one.domain, 'a@w.test', T0);
    const ended = await bench.sending(one.domain, 'b@w.test', T0);
    await store.queue.record([bench.update(ended, { to: 'delivered' })]);
    const stuck = await bench.sending(two.domain, 'b@z.test', T0 + 1);
    await store.queue.record([bench.update(stuck, { to: 'parked', reason: 'unreadable' })]);

    const overview = await found(bench.reads().queueOverview(null));
    t.match(overview.groups[0], {
      mxGroup: 'big',
      waiting: 3,
      lanes: 2,
      tenants: 2,
      nextDueAt: T0 + 3,
      lastReason: null,
    });
    t.same(
      overview.groups.map(({ mxGroup, waiting }) => [mxGroup, waiting]),
      [
        ['big', 3],
        [null, 1],
      ],
      'what is being sent and what is parked does not wait',
    );
    t.match(overview, { parked: 1, sending: 2 });

    const slice = { lanes: 10, messages: 10 };
    const of = (asked: Partial<QueueSlice>) => found(bench.reads().queueSlice(null, { ...slice, ...asked }));
    const big = await of({ mxGroup: 'big' });
    t.match(big, { laneCount: 2, waiting: 3 });
    t.match(big.lanes, [
      { tenantId: one.tenant.id, tenantName: 'Acme', domain: 'x.test', mxGroup: 'big', waiting: 2, nextDueAt: T0 + 3 },
      { domain: 'y.test', waiting: 1 },
    ]);
    t.same(
      big.messages.map(({ recipient }) => recipient),
      ['b@x.test', 'a@x.test', 'a@y.test'],
    );
    const lanesOf = async (asked: Partial<QueueSlice>) => (await of(asked)).lanes.map(({ domain }) => domain);
    t.same(await lanesOf({ mxGroup: null }), ['unknown.test']);
    t.same((await lanesOf({ tenantId: two.tenant.id })).sort(), ['unknown.test', 'y.test']);
    t.same(await lanesOf({ tenantId: two.tenant.id, mxGroup: 'big' }), ['y.test']);
    t.same(await lanesOf({ domain: 'nowhere.test' }), []);
    t.equal((await of({ mxGroup: 'big', lanes: 1, messages: 1 })).messages.length, 1);
    t.match(await found(bench.reads().parkedMessages(null, 10)), [
      { id: stuck.id, parked: true, lastReason: 'unreadable', dueAt: null },
    ]);
  },

  'standings of several tenants at once': async (t: Test, bench: Bench) => {
    const { domain, tenant } = await bench.sender('acme.test');
    for (const to of ['delivered', 'bounced'] as const) {
      const message = await bench.sending(domain, 'a@x.test');
      const transition =
        to === 'delivered' ? { to } : ({ to, bounce: 'hard', reason: 'gone', suppress: null } as const);
      await bench.store.queue.record([bench.attempted(message, transition)]);
    }
    const nobody = bench.id();
    t.strictSame(await found(bench.reads().recentResultsOf(null, [tenant.id, nobody], 10)), [
      { tenantId: tenant.id, messages: 2, hardBounces: 1, complaints: 0 },
      { tenantId: nobody, messages: 0, hardBounces: 0, complaints: 0 },
    ]);
  },
};
