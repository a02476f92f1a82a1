// A lane's states: what each event does in each of them, and what the scheduler's lanes do about it.
import t from 'tap';
import { Lane, type LaneEvent, type LaneState } from '../../src/delivery/queue/lane.ts';
import { Lanes } from '../../src/delivery/queue/lanes.ts';

const NOW = 1_000_000;
const NAMES = { id: 1, slot: 1, tenantId: 'tenant', domain: 'rcpt.test' };
const NOTICE = { lane: 1, slot: 1, tenantId: 'tenant', domain: 'rcpt.test' };

/** The events that lead to each state. */
const WAYS: Record<LaneState['kind'], LaneEvent[]> = {
  resting: [{ kind: 'noticed', dueAt: NOW + 1000 }],
  routing: [{ kind: 'noticed', dueAt: NOW }],
  ready: [{ kind: 'noticed', dueAt: NOW }, { kind: 'queued' }],
  claiming: [{ kind: 'noticed', dueAt: NOW }, { kind: 'queued' }, { kind: 'claiming' }],
  held: [
    { kind: 'noticed', dueAt: NOW },
    { kind: 'held', until: null },
  ],
  gone: [
    { kind: 'noticed', dueAt: NOW },
    { kind: 'queued' },
    { kind: 'claiming' },
    { kind: 'claimed', nextDueAt: null },
  ],
};

function laneThat(kind: LaneState['kind']): Lane {
  const lane = new Lane(NAMES);
  for (const event of WAYS[kind]) lane.change(event, NOW);
  return lane;
}

const EVENTS: Record<string, LaneEvent> = {
  'noticed now': { kind: 'noticed', dueAt: NOW },
  'noticed sooner': { kind: 'noticed', dueAt: NOW + 500 },
  'noticed later': { kind: 'noticed', dueAt: NOW + 2000 },
  woken: { kind: 'woken' },
  queued: { kind: 'queued' },
  outdated: { kind: 'outdated' },
  'held for a time': { kind: 'held', until: NOW + 700 },
  claiming: { kind: 'claiming' },
  'claimed, more is due': { kind: 'claimed', nextDueAt: NOW },
  'claimed, more is due later': { kind: 'claimed', nextDueAt: NOW + 3000 },
  'claimed, nothing is left': { kind: 'claimed', nextDueAt: null },
  failed: { kind: 'failed', retryAt: NOW + 1000 },
};

/** What is not listed changes nothing. */
const CHANGES: Record<LaneState['kind'], Record<string, LaneState>> = {
  resting: {
    'noticed now': { kind: 'routing' },
    'noticed sooner': { kind: 'resting', dueAt: NOW + 500 },
    woken: { kind: 'routing' },
  },
  routing: {
    queued: { kind: 'ready' },
    'held for a time': { kind: 'held', until: NOW + 700 },
    claiming: { kind: 'claiming', dueAt: Number.POSITIVE_INFINITY },
    failed: { kind: 'resting', dueAt: NOW + 1000 },
  },
  ready: {
    outdated: { kind: 'routing' },
    'held for a time': { kind: 'held', until: NOW + 700 },
    claiming: { kind: 'claiming', dueAt: Number.POSITIVE_INFINITY },
  },
  claiming: {
    'noticed now': { kind: 'claiming', dueAt: NOW },
    'noticed sooner': { kind: 'claiming', dueAt: NOW + 500 },
    'noticed later': { kind: 'claiming', dueAt: NOW + 2000 },
    'claimed, more is due': { kind: 'routing' },
    'claimed, more is due later': { kind: 'resting', dueAt: NOW + 3000 },
    'claimed, nothing is left': { kind: 'gone' },
    failed: { kind: 'resting', dueAt: NOW + 1000 },
  },
  held: { woken: { kind: 'routing' } },
  gone: {},
};

for (const [kind, changes] of Object.entries(CHANGES) as [LaneState['kind'], Record<string, LaneState>][]) {
  t.test(`a lane that is ${kind}`, async (t) => {
    for (const [name, event] of Object.entries(EVENTS)) {
      const lane = laneThat(kind);
      const before = lane.state;
      t.equal(before.kind, kind);
      const expected = changes[name];
      t.equal(lane.change(event, NOW), expected !== undefined, `${name}: whether it changes`);
      t.same(lane.state, expected ?? before, name);
    }
  });
}

t.test('mail that is accepted while the store claims is not forgotten', async (t) => {
  const lane = laneThat('claiming');
  lane.change({ kind: 'noticed', dueAt: NOW }, NOW);
  lane.change({ kind: 'claimed', nextDueAt: null }, NOW);
  t.same(lane.state, { kind: 'routing' });
});

t.test('a claim need not look before the earliest time that the store has told', async (t) => {
  const lane = new Lane(NAMES);
  const after = (...events: LaneEvent[]) => {
    for (const event of events) lane.change(event, NOW);
    return lane.dueFrom;
  };
  const noticed = (dueAt: number): LaneEvent => ({ kind: 'noticed', dueAt });
  t.equal(after(noticed(NOW), noticed(NOW + 5)), NOW);
  t.equal(after({ kind: 'queued' }, noticed(NOW - 7)), NOW - 7, 'told while it is due already');
  t.equal(
    after({ kind: 'claiming' }, noticed(NOW - 9), { kind: 'failed', retryAt: NOW }),
    NOW - 9,
    'nothing was claimed',
  );
  t.equal(after({ kind: 'woken' }, { kind: 'claiming' }, { kind: 'claimed', nextDueAt: NOW + 50 }), NOW + 50);
  const claimedBeside = [{ kind: 'claiming' }, noticed(NOW + 20), { kind: 'claimed', nextDueAt: NOW + 90 }] as const;
  t.equal(after({ kind: 'woken' }, ...claimedBeside), NOW + 20, 'the claim may not have seen it');
  t.equal(after({ kind: 'woken' }, { kind: 'held', until: null }, { kind: 'woken' }), 0, 'a hold may change times');
});

t.test('a lane whose mail is gone is forgotten, and its next notice makes a new one', async (t) => {
  const routed: Lane[] = [];
  const lanes = new Lanes({ now: () => NOW }, async (lane) => void routed.push(lane));
  t.teardown(() => lanes.stop());
  lanes.notice([{ ...NOTICE, dueAt: NOW }]);
  const [first] = routed;
  for (const event of WAYS.gone.slice(1)) lanes.change(first!, event);
  t.equal(lanes.get(1), undefined);
  lanes.notice([{ ...NOTICE, dueAt: NOW }]);
  t.equal(routed.length, 2);
  t.not(routed[1], first);
  t.equal(lanes.get(1), routed[1]);
});

t.test('lanes that are held wait for their time, or for an operator', async (t) => {
  const routed: Lane[] = [];
  let now = NOW;
  const lanes = new Lanes({ now: () => now }, async (lane) => void routed.push(lane));
  t.teardown(() => lanes.stop());
  const rung = t.capture(globalThis, 'setTimeout', (ring: () => void) => ring);
  lanes.notice([{ ...NOTICE, dueAt: NOW }]);
  const [lane] = routed;
  lanes.change(lane!, { kind: 'held', until: NOW + 5000 });
  const [{ args, returned }] = rung() as unknown as [{ args: [unknown, number]; returned: () => void }];
  t.equal(args[1], 5000);
  now = NOW + 5000;
  returned();
  t.equal(routed.length, 2, 'its time has come');
  lanes.change(lane!, { kind: 'held', until: null });
  t.equal(rung().length, 0, 'nobody knows until when: no alarm');
  lanes.wakeHeld();
  t.equal(routed.length, 3);
});

t.test('one timer for all lanes is set again only for an earlier time', async (t) => {
  const lanes = new Lanes({ now: () => NOW }, async () => {});
  t.teardown(() => lanes.stop());
  const timers = t.capture(globalThis, 'setTimeout', () => null);
  const waits = () => timers().map(({ args }) => (args as unknown[])[1]);
  for (const [lane, inMs] of [5000, 9000, 3000, 9000].entries()) lanes.notice([{ ...NOTICE, lane, dueAt: NOW + inMs }]);
  t.same(waits(), [5000, 3000]);
});
