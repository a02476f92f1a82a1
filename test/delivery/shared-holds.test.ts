// What other nodes have paused, suspended or let go, compared with this node's memory.
import t from 'tap';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { type ShapingLimits, ShapingMemory } from '../../src/delivery/shaping/shaping-memory.ts';
import { OthersHolds } from '../../src/delivery/shaping/shared-holds.ts';
import type { QueuePause, Suspension } from '../../src/store/shaping.ts';

const NOW = 1_000_000;
const WORD = { by: 'jo', note: 'a talk', at: NOW };

function pause(kind: QueuePause['kind'], key: string): QueuePause {
  return { kind, key, ...WORD };
}

function suspension(mxGroup: string, until = NOW + 1000): Suspension {
  const of = { mxGroup, scope: 'group', tenantId: null, subject: '' } as const;
  return { ...of, rule: 'slow-down', reply: '421 slow down', since: NOW - 1000, until };
}

function start() {
  const limits: ShapingLimits = {
    sessions: 10,
    sessionsPerGroup: 5,
    messagesPerSession: 10,
    messagesPerMinute: null,
    messagesPerHour: () => null,
  };
  const empty = { pauses: [], suspensions: [], groups: [], paces: [] };
  const memory = new ShapingMemory({ limits, providers: new Providers([]) }, empty);
  const others = new OthersHolds();
  const take = (pauses: QueuePause[], suspensions: Suspension[]) => others.take(memory, { pauses, suspensions }, NOW);
  return { memory, take };
}

t.test('a pause of another node holds here, until that node ends it', async (t) => {
  const { memory, take } = start();
  const pauses = [pause('group', 'google'), pause('domain', 'x.test')];
  t.strictSame(take(pauses, []), { stopped: ['google'], hasEnded: false });
  t.strictSame(memory.pauses(), pauses);
  t.strictSame(take(pauses, []), { stopped: [], hasEnded: false }, 'which is no news any more');
  t.strictSame(take([pause('group', 'google')], []), { stopped: [], hasEnded: true });
  t.strictSame(memory.pauses(), [pause('group', 'google')]);
});

t.test('so does a suspension, for as long as the longest says', async (t) => {
  const { memory, take } = start();
  t.strictSame(take([], [suspension('google')]), { stopped: ['google'], hasEnded: false });
  t.strictSame(take([], [suspension('google', NOW + 5000)]), { stopped: ['google'], hasEnded: false });
  t.strictSame(take([], [suspension('google', NOW + 2000)]), { stopped: [], hasEnded: false });
  t.equal(memory.suspension(suspension('google'))?.until, NOW + 5000);
});

t.test('one that another node has ended is ended here', async (t) => {
  const { memory, take } = start();
  take([], [suspension('google'), suspension('microsoft')]);
  t.strictSame(take([], [suspension('microsoft')]), { stopped: [], hasEnded: true });
  t.equal(memory.suspension(suspension('google')), null);
  t.not(memory.suspension(suspension('microsoft')), null);
});

t.test('one that is not stored yet, or has grown here since, stays', async (t) => {
  const { memory, take } = start();
  memory.suspend(suspension('google'));
  t.strictSame(take([], []), { stopped: [], hasEnded: false });
  t.not(memory.suspension(suspension('google')), null);
  take([], [suspension('google')]);
  memory.suspend(suspension('google', NOW + 9000));
  t.strictSame(take([], []), { stopped: [], hasEnded: false });
  t.equal(memory.suspension(suspension('google'))?.until, NOW + 9000);
});
