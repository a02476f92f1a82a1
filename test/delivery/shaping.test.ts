// The one decision: every reason against, the earliest time at which all of them may be over.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { healthy } from '../../src/delivery/shaping/adaptive-limit.ts';
import {
  decideShaping,
  type GroupFacts,
  SHAPING_CODES,
  type ShapingFacts,
} from '../../src/delivery/shaping/shaping.ts';
import type { QueuePause, Suspension } from '../../src/store/shaping.ts';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

const GROUP: GroupFacts = {
  ...{ name: 'google', pause: null, suspension: null, ceiling: 5, open: 0, share: null, perMinute: null },
  concurrency: healthy(5),
};

function facts(change: Partial<ShapingFacts> = {}): ShapingFacts {
  return {
    running: true,
    message: null,
    tenant: { status: 'active', statusReason: null, pause: null, pace: null },
    domain: { name: 'rcpt.test', pause: null, suspension: null },
    sender: null,
    group: GROUP,
    sourceAddress: null,
    source: null,
    connections: { open: 0, limit: 200 },
    ...change,
  };
}

const pause = (kind: QueuePause['kind'], key: string): QueuePause => ({
  kind,
  key,
  by: 'jo',
  note: 'a talk with them',
  at: NOW,
});

function suspension(scope: Suspension['scope'], minutes: number, subject = ''): Suspension {
  const until = NOW + minutes * MINUTE;
  return {
    mxGroup: 'google',
    scope,
    tenantId: null,
    subject,
    rule: 'slow-down',
    reply: '421 slow down',
    since: NOW,
    until,
  };
}

const codes = (change: Partial<ShapingFacts>) => decideShaping(facts(change), NOW).reasons.map(({ code }) => code);

t.test('each code is in the table for operators', async (t) => {
  const page = readFileSync(new URL('../../docs/operate.md', import.meta.url), 'utf8');
  const [, table = ''] = /^\| code \| why \| ends \|\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const listed = table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, code]) => code));
  // queue show adds the first one where nothing is in the way.
  t.same(listed.toSorted(), ['in_turn', ...SHAPING_CODES].sort());
});

t.test('nothing is in the way', async (t) => {
  t.same(decideShaping(facts(), NOW), { decision: 'go', reasons: [], until: null });
});

t.test('each reason, in a sentence, with its time and its reach', async (t) => {
  const paced = { perHour: 100, sent: 100, freeAt: NOW + MINUTE };
  const tenant = facts().tenant;
  const cases: [Partial<ShapingFacts>, Record<string, unknown>][] = [
    [{ running: false }, { code: 'not_running', until: null }],
    [
      { message: { dueAt: NOW + 5, parked: false, pause: null, lastReason: '451 later' } },
      { code: 'not_due', until: NOW + 5, reason: /due at 2026-01-01T00:00:00.005Z: 451 later/ },
    ],
    [
      { message: { dueAt: null, parked: true, pause: null, lastReason: 'no content' } },
      { code: 'parked', until: null, reason: /no content/ },
    ],
    [
      { message: { dueAt: null, parked: true, pause: pause('message', 'x'), lastReason: null } },
      { code: 'message_paused', reach: 'message', reason: /this message was paused by jo .*: a talk with them/ },
    ],
    [
      { tenant: { ...tenant, status: 'in_review', statusReason: 'bounces' } },
      { code: 'tenant_not_active', reach: 'lane', reason: 'the tenant is in review: bounces' },
    ],
    [{ tenant: { ...tenant, pause: pause('tenant', 'acme') } }, { code: 'tenant_paused', reach: 'lane', until: null }],
    [
      { tenant: { ...tenant, pace: paced } },
      {
        code: 'tenant_paced',
        reach: 'lane',
        until: NOW + MINUTE,
        reason: /100 messages within an hour.*limits\.messages_per_hour/,
      },
    ],
    [
      { tenant: { ...tenant, pace: { ...paced, sent: 60 } } },
      { code: 'tenant_paced', reason: /^this daemon asks for its part of the tenant's limit of 100 messages per hour/ },
    ],
    [
      { domain: { name: 'd.test', pause: pause('domain', 'd.test'), suspension: null } },
      { code: 'domain_paused', reach: 'lane' },
    ],
    [
      { domain: { name: 'd.test', pause: null, suspension: suspension('domain', 2, 'd.test') } },
      { code: 'domain_suspended', reach: 'lane', until: NOW + 2 * MINUTE },
    ],
    [
      { sender: suspension('sender_domain', 3, 'acme.test') },
      {
        code: 'sender_domain_suspended',
        reach: 'message',
        reason: /mail from acme\.test to google .* as rule slow-down asks: 421 slow down/,
      },
    ],
    [{ group: { ...GROUP, pause: pause('group', 'google') } }, { code: 'group_paused', reach: 'group', until: null }],
    [
      { group: { ...GROUP, suspension: suspension('group', 15) } },
      { code: 'group_suspended', reach: 'group', until: NOW + 15 * MINUTE },
    ],
    [
      { source: suspension('source', 60, '192.0.2.1') },
      { code: 'source_address_suspended', reach: 'group', reason: /mail from our address 192\.0\.2\.1 to google/ },
    ],
    [
      {
        group: { ...GROUP, concurrency: { ...healthy(5), failures: 2, coolDownUntil: NOW + 9, reason: 'timeout' } },
      },
      { code: 'cool_down', until: NOW + 9, reason: /2 connection attempts in a row to google failed: timeout/ },
    ],
    [
      { group: { ...GROUP, perMinute: { limit: 30, sent: 30, freeAt: NOW + 7 } } },
      { code: 'messages_per_minute', until: NOW + 7, reason: /^30 messages were sent to google within a minute/ },
    ],
    [
      { group: { ...GROUP, perMinute: { limit: 30, sent: 29, freeAt: NOW + 7 } } },
      { code: 'messages_per_minute', reason: /^this daemon asks for its part of the limit of 30 messages per minute/ },
    ],
    [
      { group: { ...GROUP, open: 5 } },
      { code: 'connections_full', until: null, reason: 'all 5 connections to google are in use' },
    ],
    [
      { group: { ...GROUP, open: 2, concurrency: { ...healthy(5), limit: 2, reason: '421 busy' } } },
      { code: 'connections_full', reason: /all 2 .*of 5; lowered: 421 busy/ },
    ],
    [
      { group: { ...GROUP, share: 0 } },
      {
        code: 'connections_full',
        reason: 'this daemon asks for its part of the 5 connections to google that all daemons share',
      },
    ],
    [
      { group: { ...GROUP, share: 2, open: 2 } },
      {
        code: 'connections_full',
        reason:
          'all 2 connections that this daemon has of the 5 connections to google that all daemons share are in use',
      },
    ],
    [
      { group: { ...GROUP, share: 3, open: 2, concurrency: { ...healthy(5), limit: 2, reason: '421 busy' } } },
      { code: 'connections_full', reason: /all 2 .*of 5; lowered: 421 busy/ },
    ],
    [{ connections: { open: 200, limit: 200 } }, { code: 'all_connections_full', reach: 'group' }],
  ];
  for (const [change, expected] of cases) {
    const verdict = decideShaping(facts(change), NOW);
    t.equal(verdict.decision, 'wait', String(expected.code));
    t.match(verdict.reasons, [expected], String(expected.code));
    t.equal(verdict.reasons.length, 1, `${expected.code} alone`);
    t.equal(verdict.until, verdict.reasons[0]!.until);
  }
});

t.test('all of them together: none is left out, the latest time counts, an unknown one more', async (t) => {
  const group = {
    ...GROUP,
    suspension: suspension('group', 15),
    perMinute: { limit: 1, sent: 1, freeAt: NOW + MINUTE },
  };
  const timed = decideShaping(facts({ group, sender: suspension('sender_domain', 30) }), NOW);
  t.match(timed, { until: NOW + 30 * MINUTE, reasons: { length: 3 } });
  const unknown = decideShaping(facts({ group: { ...group, pause: pause('group', 'google') } }), NOW);
  t.equal(unknown.until, null);
  t.same(codes({ group: { ...group, open: 9 }, connections: { open: 1, limit: 1 } }), [
    ...['group_suspended', 'messages_per_minute', 'connections_full', 'all_connections_full'],
  ]);
});

t.test('what is over is no reason, and an open connection needs no other', async (t) => {
  t.same(codes({ group: { ...GROUP, suspension: suspension('group', 0) }, source: suspension('source', -1) }), []);
  t.same(codes({ group: { ...GROUP, open: 5 }, connections: null }), []);
  const probing = { ...healthy(5), failures: 1, coolDownUntil: NOW - 1, reason: 'timeout' };
  t.same(codes({ group: { ...GROUP, concurrency: probing } }), [], 'one knocks when the cool-down is over');
  t.same(codes({ group: { ...GROUP, open: 1, concurrency: probing } }), ['connections_full'], 'no more than one');
});
