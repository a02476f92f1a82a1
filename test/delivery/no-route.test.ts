// What follows when no server can be called: nothing final from one look into DNS.
import t from 'tap';
import { HOUR_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { NO_TLS_POLICY, noPeer, type SmtpStage } from '../../src/base/outcome.ts';
import {
  dueLook,
  judgeNoRoute,
  type NoRouteRules,
  type Unrouted,
  type UnroutedSince,
  unroutedSince,
} from '../../src/delivery/route/no-route.ts';
import type { SecondLook } from '../../src/protocol/dns/second-look.ts';
import type { AttemptRecord } from '../../src/store/queue.ts';

const NOW = Date.parse('2026-11-24T12:00:00Z');
const rules: NoRouteRules = { secondLookAfterMs: 15 * MINUTE_MS, lifetimeMs: 4 * HOUR_MS };
const ABSENT: Unrouted = { kind: 'undeliverable', reason: 'The domain x.test does not exist.', enhancedCode: '5.1.2' };
const LOST: Unrouted = { kind: 'undeliverable', reason: 'x.test has no address.', enhancedCode: '5.4.4' };
const FIRST: UnroutedSince = { absent: null, lost: null, looks: 0 };

function judge(route: Unrouted, since: Partial<UnroutedSince> = {}, secondLook: SecondLook | null = null) {
  return judgeNoRoute({ domain: 'x.test', route, since: { ...FIRST, ...since }, secondLook, held: null, rules }, NOW);
}

function attempt(minutes: number, enhancedCode: string | null, stage: SmtpStage = 'resolve'): AttemptRecord {
  const peer = { ...noPeer(stage, 'no'), enhancedCode, tlsPolicy: NO_TLS_POLICY };
  const startedAt = NOW - minutes * MINUTE_MS;
  return { messageId: 'm', tenantId: 't', attempt: 1, startedAt, outcome: 'temporary', peer };
}

t.test('the first NXDOMAIN defers, and says when it is checked again', async (t) => {
  t.match(judge(ABSENT), {
    kind: 'temporary',
    reason: 'the domain does not seem to exist; checked again at 2026-11-24T12:15:00.000Z (NXDOMAIN for x.test)',
    nextAt: NOW + 15 * MINUTE_MS,
    notify: true,
    peer: { stage: 'resolve', enhancedCode: '5.1.2', smtpCode: null, response: /does not seem to exist/ },
  });
  const early = judge(ABSENT, { absent: NOW - MINUTE_MS, lost: NOW - MINUTE_MS, looks: 1 });
  t.match(early, { kind: 'temporary', nextAt: NOW + 14 * MINUTE_MS }, 'an early retry changes nothing');
  t.notOk('notify' in early, 'and is not told');
});

t.test('a second look is due a quarter of an hour after the first', async (t) => {
  const due = (route: Unrouted, began: number | null, held: string | null = null) =>
    dueLook({ domain: 'x.test', route, since: { looks: 9, absent: began, lost: began }, held, rules }, NOW);
  t.equal(due(ABSENT, NOW - 15 * MINUTE_MS), 'domain');
  t.equal(due(ABSENT, NOW - 15 * MINUTE_MS + 1), null);
  t.equal(due(ABSENT, null), null);
  t.equal(due(ABSENT, NOW - HOUR_MS, 'held'), null, 'nothing is asked as long as it is held');
  t.equal(due(LOST, NOW - 4 * HOUR_MS + 1), null);
  t.equal(due(LOST, NOW - 4 * HOUR_MS), 'route', 'before it fails');
  t.equal(due({ ...ABSENT, enhancedCode: '5.1.10' }, NOW - 9 * HOUR_MS), null);
  t.equal(due({ kind: 'unreachable', reason: 'IPv6' }, NOW - 9 * HOUR_MS), null);
});

t.test('what the second look says', async (t) => {
  const since = { absent: NOW - 20 * MINUTE_MS, lost: NOW - 20 * MINUTE_MS, looks: 1 };
  t.match(judge(ABSENT, since, { kind: 'absent', by: 'its parent' }), {
    kind: 'permanent',
    bounce: 'hard',
    rule: 'route-5.1.2',
    reason: /x\.test does not exist, according to the DNS servers at 2026-11-24T11:40:00.000Z and its parent at 2026-/,
  });
  const long = { absent: NOW - 50 * HOUR_MS, lost: NOW - 50 * HOUR_MS, looks: 60 };
  for (const began of [since, long]) {
    t.match(judge(ABSENT, began, { kind: 'present', by: 'its parent' }), {
      kind: 'temporary',
      reason: /the domain x\.test does not exist according to the DNS servers, but does according to its parent/,
      notAfter: NOW + HOUR_MS,
    });
  }
  const nobody: SecondLook = { kind: 'unknown', reason: 'SERVFAIL' };
  t.match(judge(ABSENT, since, nobody), {
    kind: 'temporary',
    reason: /no other server confirmed it: SERVFAIL; checked again until 2026-11-24T15:40:00.000Z/,
    notAfter: NOW + HOUR_MS,
  });
  const late = { absent: NOW - 4 * HOUR_MS, lost: NOW - 4 * HOUR_MS, looks: 9 };
  t.match(judge(ABSENT, late, nobody), { kind: 'permanent', end: 'failed', bounce: 'soft', reason: /after 4 h$/ });
});

t.test('a null MX is a statement, an outage is none', async (t) => {
  const owner = 'The domain x.test accepts no mail (null MX).';
  t.match(judge({ kind: 'undeliverable', reason: owner, enhancedCode: '5.1.10' }), {
    kind: 'permanent',
    bounce: 'hard',
    reason: owner,
    rule: 'route-5.1.10',
  });
  const outage = judge({ kind: 'unavailable', reason: 'SERVFAIL' });
  t.match(outage, { kind: 'temporary', reason: 'DNS did not answer: SERVFAIL', peer: { enhancedCode: null } });
});

t.test('without a way: deferred at once, failed after four hours', async (t) => {
  t.match(judge(LOST), {
    kind: 'temporary',
    reason: 'x.test has no address; checked again until 2026-11-24T16:00:00.000Z',
    notAfter: NOW + HOUR_MS,
    notify: true,
  });
  const almost = judge(LOST, { lost: NOW - 4 * HOUR_MS + MINUTE_MS, looks: 9 });
  t.match(almost, { kind: 'temporary', notAfter: NOW + MINUTE_MS }, 'the last attempt is made when time is up');
  const late = { lost: NOW - 4 * HOUR_MS, looks: 9 };
  t.match(judge(LOST, late, { kind: 'present', by: 'its parent' }), {
    kind: 'temporary',
    reason:
      /x\.test has no mail server with an address according to the DNS servers, but has one according to its parent; checked again until they agree/,
    notAfter: NOW + HOUR_MS,
  });
  t.match(judge(LOST, late, { kind: 'unknown', reason: 'SERVFAIL' }), { kind: 'permanent', end: 'failed' });
  t.match(judge(LOST, late, { kind: 'absent', by: 'its parent' }), {
    kind: 'permanent',
    end: 'failed',
    bounce: 'soft',
    reason: 'x.test has no address; given up after 4 h',
  });
});

t.test('while much mail at once has no route, none of it ends', async (t) => {
  const since = { ...FIRST, absent: NOW - 50 * HOUR_MS, lost: NOW - 50 * HOUR_MS, looks: 60 };
  const hold = (route: Unrouted, change: Partial<UnroutedSince> = {}) =>
    judgeNoRoute(
      { domain: 'x.test', route, since: { ...since, ...change }, secondLook: null, held: 'held: 9 of 9', rules },
      NOW,
    );
  t.match(hold(ABSENT), {
    kind: 'temporary',
    reason: 'the domain does not seem to exist; held: 9 of 9',
    notAfter: NOW + HOUR_MS,
    peer: { enhancedCode: '5.1.2', response: /many domains have no mail server at the moment, so it is held/ },
  });
  t.match(hold(LOST), { kind: 'temporary', reason: 'x.test has no address; held: 9 of 9' });
  t.match(hold(LOST, FIRST), { notify: true });
  t.match(hold({ ...ABSENT, enhancedCode: '5.1.10' }), { kind: 'permanent' }, 'a null MX is its owner’s word');
  t.match(hold({ kind: 'unreachable', reason: 'IPv6' }), { kind: 'permanent', end: 'failed' }, 'DNS is not to blame');
});

t.test('addresses of ours that cannot be used say nothing about the receiver', async (t) => {
  const waits = judge({ kind: 'no_source', reason: 'none of ours' }, { looks: 500, lost: NOW - 50 * HOUR_MS });
  t.match(waits, { kind: 'temporary', reason: 'none of ours', peer: { enhancedCode: null } });
  t.match(judge({ kind: 'no_source', reason: 'none of ours' }), { notify: true });
});

t.test('since when: by the last attempts in a row that ended with the look-up', async (t) => {
  t.same(unroutedSince([]), { absent: null, lost: null, looks: 0 });
  const at = (minutes: number) => NOW - minutes * MINUTE_MS;
  const connected = attempt(90, null, 'connect');
  t.same(unroutedSince([attempt(99, '5.1.2'), connected]), { absent: null, lost: null, looks: 0 });
  t.same(unroutedSince([attempt(99, '5.1.2'), connected, attempt(30, '5.1.2'), attempt(10, '5.1.2')]), {
    absent: at(30),
    lost: at(30),
    looks: 2,
  });
  const overOutage = [attempt(50, '5.1.2'), attempt(30, null), attempt(10, '5.1.2')];
  t.same(unroutedSince(overOutage), { absent: at(50), lost: at(50), looks: 3 }, 'an outage says nothing');
  const existed = [attempt(50, '5.1.2'), attempt(30, '5.4.4'), attempt(10, '5.1.2')];
  t.same(unroutedSince(existed), { absent: at(10), lost: at(50), looks: 3 }, 'it existed meanwhile');
  t.same(unroutedSince([attempt(50, null)]), { absent: null, lost: null, looks: 1 });
});
