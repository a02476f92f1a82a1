// One group on its own: what it claims, and what it waits for.
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { ConnectionSlots } from '../../src/delivery/queue/connection-slots.ts';
import { Group } from '../../src/delivery/queue/group.ts';
import type { GroupKit, GroupPort } from '../../src/delivery/queue/group-port.ts';
import type { Lane } from '../../src/delivery/queue/lane.ts';
import type { ShapingReason } from '../../src/delivery/shaping/shaping.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { ClaimedMessage } from '../../src/store/queue.ts';

const NOW = Date.UTC(2026, 0, 1);

interface Setting {
  connections?: number;
  /** Against mail of this domain. */
  reasonsAgainst?(domain: string): ShapingReason[];
  /** What a claim finds; one message if not given. */
  claim?(domain: string): Promise<ClaimedMessage[]>;
}

function setUp(t: Test, { connections = 10, reasonsAgainst = () => [], claim }: Setting = {}) {
  const claims: [domain: string, limit: number][] = [];
  const held: unknown[] = [];
  const link = { order() {}, over: new Promise<void>(() => {}), failure: null, untaken: () => new Set<string>() };
  const clock = { at: NOW, now: () => clock.at };
  const session = {
    ...{ pool: { start: () => link, async close() {} }, recorder: { record: async () => {} } },
    ...{ clock, messagesPerSession: 5, lingerMs: 1000 },
  };
  const shaping = {
    verdict({ domain }: { domain: string }) {
      const reasons = reasonsAgainst(domain);
      return { decision: reasons.length > 0 ? 'wait' : 'go', reasons, until: null };
    },
    memory: { needConnection() {} },
    reservations: { room: () => 100 },
  };
  const slots = new ConnectionSlots(connections);
  const kit = { session, shaping, slots, pace: { ms: null }, random: () => 0, clock, log: silentLogger };
  const port: Partial<GroupPort> = {
    async claim(_group, { lane }, limit) {
      claims.push([lane.domain, limit]);
      return (await claim?.(lane.domain)) ?? [{ id: lane.domain } as ClaimedMessage];
    },
    async giveBack() {},
    onSessionEnd() {},
    hold: (lane, { until, reasons }) => held.push([lane.domain, until, reasons.map(({ code }) => code)]),
  };
  const group = new Group('mx.test', kit as unknown as GroupKit, port as GroupPort);
  t.teardown(() => group.stop());
  const hosts = [{ name: 'mx.test', preference: 10, addresses: [] }];
  const add = (domain: string, tenantId = domain) => {
    const route = { kind: 'group' as const, group: 'mx.test', hosts, staleAt: clock.at + MINUTE_MS };
    group.add({ tenantId, domain } as Lane, route, null);
  };
  return { clock, add, claims, held, slots };
}

async function turnsUntil(isDone: () => boolean): Promise<void> {
  for (let turn = 0; !isDone() && turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve));
}

t.test('a lane that waits for more than its group does not make the others wait', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const ofTenant = {
    code: 'tenant_paced',
    reach: 'lane',
    reason: 'its hour is used up',
    until: NOW + HOUR_MS,
  } as const;
  const until = NOW + SECOND_MS;
  const ofGroup = { code: 'messages_per_minute', reach: 'group', reason: 'the minute is used up', until } as const;
  let isUsedUp = true;
  const { add, claims, held } = setUp(t, {
    reasonsAgainst: (domain) => [...(domain === 'paced.test' ? [ofTenant] : []), ...(isUsedUp ? [ofGroup] : [])],
  });
  add('paced.test');
  add('other.test');
  t.strictSame(held, [['paced.test', NOW + HOUR_MS, ['tenant_paced']]], 'for its own reason');
  isUsedUp = false;
  mock.timers.tick(SECOND_MS);
  t.strictSame(claims, [['other.test', 5]], 'when the minute of the group is over');
});

t.test('a session claims no more than it may send, also when the lane that it was opened for is empty', async (t) => {
  const found = Promise.withResolvers<ClaimedMessage[]>();
  const { add, claims } = setUp(t, {
    connections: 1,
    claim: async (domain) => (domain === 'one.test' ? await found.promise : [{ id: domain } as ClaimedMessage]),
  });
  add('one.test');
  add('two.test');
  t.strictSame(claims, [['one.test', 5]]);
  found.resolve([]);
  await turnsUntil(() => claims.length >= 2);
  t.strictSame(claims.slice(1), [['two.test', 5]]);
});

t.test('a lane that left for other servers as it was claimed lends its hosts to no other mail', async (t) => {
  const { clock, add, claims, slots } = setUp(t, {
    connections: 1,
    claim: async (domain) => {
      if (domain === 'moved.test') return [];
      t.equal(slots.open, 1);
      return [{ id: domain } as ClaimedMessage];
    },
  });
  let openedFor = 0;
  const take = slots.take.bind(slots);
  slots.take = (group) => take(group) && ++openedFor > 0;
  add('moved.test');
  clock.at += MINUTE_MS;
  add('other.test');
  await turnsUntil(() => claims.length >= 2);
  t.strictSame(claims, [
    ['moved.test', 5],
    ['other.test', 5],
  ]);
  t.equal(openedFor, 2, 'a session of its own');
});
