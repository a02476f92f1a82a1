// What a group says of its other connections when a result comes: how many work, and how many lead to the same hosts.
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import type { CourierReport } from '../../src/delivery/courier/messages.ts';
import { ConnectionSlots } from '../../src/delivery/queue/connection-slots.ts';
import { Group } from '../../src/delivery/queue/group.ts';
import type { GroupKit, GroupPort } from '../../src/delivery/queue/group-port.ts';
import type { Lane } from '../../src/delivery/queue/lane.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { ClaimedMessage } from '../../src/store/queue.ts';

function setUp() {
  const reports: ((report: CourierReport) => void)[] = [];
  const working: number[] = [];
  const learnt: unknown[] = [];
  const link = { order() {}, over: new Promise<void>(() => {}), failure: null, untaken: () => new Set<string>() };
  const pool = {
    start(_plan: unknown, onReport: (report: CourierReport) => void) {
      reports.push(onReport);
      return link;
    },
    async close() {},
  };
  const session = {
    ...{ pool, recorder: { record: async () => {} }, clock: systemClock, messagesPerSession: 10, lingerMs: 1000 },
    judge: () => ({ kind: 'unreadable', reason: 'of no interest here' }),
  };
  const shaping = {
    verdict: () => ({ decision: 'go', reasons: [], until: null }),
    memory: { needConnection() {} },
    reservations: { room: () => 10 },
    connected: (_group: string, count: number) => working.push(count),
  };
  const slots = new ConnectionSlots(10);
  const kit = { session, shaping, slots, pace: { ms: null }, random: () => 0, clock: systemClock, log: silentLogger };
  const port = {
    claim: async (_group: unknown, { lane }: { lane: Lane }) => [{ id: lane.domain } as ClaimedMessage],
    learn: (_group: unknown, _finding: unknown, others: unknown) => learnt.push(others) > 0,
  };
  const group = new Group('mx.test', kit as unknown as GroupKit, port as unknown as GroupPort);
  const add = (domain: string, host: string) => {
    const hosts = [{ name: host, preference: 10, addresses: [] }];
    const route = { kind: 'group' as const, group: 'mx.test', hosts, staleAt: Number.POSITIVE_INFINITY };
    group.add({ tenantId: 'a', domain } as Lane, route, null);
  };
  return { add, reports, working, learnt };
}

t.test('other connections that work are counted, and those to the same hosts', async (t) => {
  const { add, reports, working, learnt } = setUp();
  add('one.test', 'mx1.test');
  add('two.test', 'mx1.test');
  add('three.test', 'mx2.test');
  add('four.test', 'mx1.test');
  for (let turn = 0; reports.length < 4 && turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve));
  t.equal(reports.length, 4, 'each has a session');
  const [one, two, three] = reports;
  for (const report of [one!, two!, three!]) report({ kind: 'connected' });
  t.same(working, [1, 2, 3], 'the new one counts, too');

  const result = { kind: 'unreadable', reason: 'of no interest here' } as const;
  one!({ kind: 'result', messageId: 'one.test', startedAt: 0, result });
  three!({ kind: 'result', messageId: 'three.test', startedAt: 0, result });
  t.same(learnt, [
    { working: 2, sameHosts: 1 },
    { working: 2, sameHosts: 0 },
  ]);
});
