// What follows from a judgement: when to retry, whom to tell, whom never to write to again.
import t from 'tap';
import { HOUR_MS, MINUTE_MS } from '../../src/base/clock.ts';
import { type BounceType, noPeer } from '../../src/base/outcome.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { decide, type RetryPolicy } from '../../src/delivery/outcome/decide.ts';
import { type Judgement, judge, type Temporary } from '../../src/delivery/outcome/judge.ts';
import type { ClaimedMessage } from '../../src/store/queue.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const DAY_MS = 24 * HOUR_MS;
const policy: RetryPolicy = {
  ladder: { stepsMs: [MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS], jitter: 0.2 },
  platformSuppressionMs: 90 * DAY_MS,
};
const message: ClaimedMessage = {
  id: '01a1fa95-106b-7002-adff-f4f2f4d924ec',
  tenantId: '01a1fa95-106b-7002-adff-f4f2f4d924ed',
  submissionId: '01a1fa95-106b-7002-adff-f4f2f4d924ee',
  lane: 1,
  owner: { slot: 1, epoch: 1 },
  recipient: 'ann@rcpt.test',
  from: 'hello@sender.test',
  fromDomain: 'sender.test',
  labels: null,
  subject: 'A test',
  attempt: 1,
  createdAt: NOW,
  sendAt: null,
  expiresAt: NOW + 72 * HOUR_MS,
  notices: 0,
  sourceAddress: null,
};

interface Given extends Partial<ClaimedMessage> {
  random?: number;
  now?: number;
}

function decideOn(judgement: Judgement, { random = 0.5, now = NOW, ...change }: Given = {}) {
  const moment = { now, random: () => random, mxGroup: 'mx.test', suppressionKey: 'ann@rcpt.test' };
  return decide(judgement, { ...message, ...change }, policy, moment);
}

function temporary(change: Partial<Temporary> = {}): Judgement {
  return {
    kind: 'temporary',
    peer: noPeer('rcpt', 'later'),
    reason: 'later',
    ambiguous: false,
    retryAfterMs: null,
    ...change,
  };
}

function pauseAfter(judgement: Judgement, given: Given = {}): number {
  const { transition } = decideOn(judgement, given);
  if (transition.to !== 'deferred') throw new Error(`not deferred: ${transition.to}`);
  return transition.dueAt - (given.now ?? NOW);
}

t.test('delivered is told', async (t) => {
  t.same(decideOn({ kind: 'delivered', peer: noPeer('dot', 'ok') }), { transition: { to: 'delivered' }, notify: true });
});

t.test('the ladder, its last step repeated, with jitter to both sides', async (t) => {
  const pauses = [1, 2, 3, 4, 40].map((attempt) => pauseAfter(temporary(), { attempt }) / MINUTE_MS);
  t.same(pauses, [1, 2, 5, 5, 5]);
  t.equal(pauseAfter(temporary(), { random: 0 }), 0.8 * MINUTE_MS);
  t.equal(Math.round(pauseAfter(temporary(), { random: 0.999999 })), 1.2 * MINUTE_MS);
});

t.test('an ambiguous loss waits twice as long, and says so', async (t) => {
  const loss = temporary({ ambiguous: true });
  t.equal(pauseAfter(loss, { attempt: 2 }), 4 * MINUTE_MS);
  t.match(decideOn(loss), { transition: { to: 'deferred', ambiguous: true, reason: 'later' } });
});

t.test('a delay that the server named is never undercut', async (t) => {
  const named = temporary({ retryAfterMs: 30_000 });
  t.equal(pauseAfter(named, { random: 0 }), 30_000, 'shorter than the first step: greylisting');
  t.equal(pauseAfter(named, { random: 0.999999 }), 36_000);
  t.equal(pauseAfter(named, { attempt: 3, random: 0.5 }), 5 * MINUTE_MS, 'but later steps are not shortened by it');
  t.ok(pauseAfter(temporary({ retryAfterMs: HOUR_MS }), { random: 0 }) >= HOUR_MS);
});

t.test('of delays only the first and a long one are told', async (t) => {
  const told = (given: Given) => decideOn(temporary(), given).notify;
  t.equal(told({}), true);
  t.equal(told({ notices: 1, attempt: 2, now: NOW + HOUR_MS }), false);
  t.equal(told({ notices: 1, attempt: 9, now: NOW + 4 * HOUR_MS - 1 }), false);
  t.equal(told({ notices: 1, attempt: 9, now: NOW + 4 * HOUR_MS }), true);
  t.equal(told({ notices: 2, attempt: 12, now: NOW + 40 * HOUR_MS }), false);
  const sendAt = NOW + 48 * HOUR_MS;
  t.equal(
    told({ notices: 1, attempt: 9, sendAt, now: sendAt + 4 * HOUR_MS - 1 }),
    false,
    'what was scheduled began later',
  );
  t.equal(told({ notices: 1, attempt: 9, sendAt, now: sendAt + 4 * HOUR_MS }), true);
});

t.test('an attempt can name its time, or bound it', async (t) => {
  t.equal(pauseAfter(temporary({ nextAt: NOW + 7 })), 7);
  t.equal(pauseAfter(temporary({ notAfter: NOW + 7 })), 7);
  t.ok(pauseAfter(temporary({ notAfter: NOW + HOUR_MS })) < 2 * MINUTE_MS);
  t.equal(decideOn(temporary({ notify: true }), { notices: 2, attempt: 9 }).notify, true);
});

t.test('what DNS alone says is for the tenant’s list, and an end without a verdict suppresses nobody', async (t) => {
  const peer = { ...noPeer('resolve', 'no'), enhancedCode: '5.1.2' };
  const absent: Judgement = { kind: 'permanent', bounce: 'hard', reason: 'no', rule: 'route-5.1.2', peer };
  t.match(decideOn(absent), {
    transition: { to: 'bounced', bounce: 'hard', suppress: { rule: 'route-5.1.2', platformExpiresAt: null } },
    notify: true,
  });
  const given: Judgement = { ...absent, bounce: 'soft', end: 'failed' };
  t.same(decideOn(given), { transition: { to: 'failed', reason: 'no' }, notify: true });
});

t.test(
  'what a server says of a domain at RCPT is what its DNS says: another tenant has to hear the same',
  async (t) => {
    const rules = loadBounceRules(SHIPPED_RULES);
    const parties = { senders: [], recipients: [message.recipient] };
    const refused = (enhancedCode: string, response: string) => {
      const said = { mx: 'mx.test', remoteIp: '192.0.2.1', smtpCode: 550, enhancedCode };
      const { transition } = decideOn(
        judge({ kind: 'refused', peer: { ...noPeer('rcpt', response), ...said } }, rules, parties),
      );
      return transition.to === 'bounced' ? transition : null;
    };
    const noDomain = refused('5.1.2', '<ann@rcpt.test>: Recipient address rejected: Domain not found');
    t.match(noDomain, { bounce: 'hard', suppress: { platformExpiresAt: NOW + 90 * DAY_MS, needsSecondTenant: true } });
    const noMailbox = refused('5.1.1', '<ann@rcpt.test>: Recipient address rejected: User unknown');
    t.match(noMailbox, { bounce: 'hard', suppress: { platformExpiresAt: NOW + 90 * DAY_MS } });
    t.equal(noMailbox?.suppress?.needsSecondTenant, undefined);
  },
);

t.test('only a hard bounce suppresses', async (t) => {
  const permanent = (bounce: BounceType): Judgement => ({
    kind: 'permanent',
    bounce,
    reason: 'no',
    rule: 'no-such-mailbox',
    peer: { ...noPeer('rcpt', 'user unknown'), smtpCode: 550, enhancedCode: '5.1.1' },
  });
  const note = {
    suppressionKey: 'ann@rcpt.test',
    mxGroup: 'mx.test',
    rule: 'no-such-mailbox',
    platformExpiresAt: NOW + 90 * DAY_MS,
  };
  t.same(decideOn(permanent('hard')), {
    transition: { to: 'bounced', bounce: 'hard', reason: 'no', suppress: note },
    notify: true,
  });
  const atDot: Judgement = {
    ...permanent('hard'),
    peer: { ...noPeer('dot', 'user unknown'), smtpCode: 550 },
  } as Judgement;
  t.match(decideOn(atDot), { transition: { suppress: { ...note, needsSecondTenant: true } } }, 'not the word at RCPT');
  for (const bounce of ['soft', 'block'] as const) {
    t.same(decideOn(permanent(bounce)), {
      transition: { to: 'bounced', bounce, reason: 'no', suppress: null },
      notify: true,
    });
  }
});

t.test('what cannot be read is parked, and the tenant is not told of our trouble', async (t) => {
  t.same(decideOn({ kind: 'unreadable', reason: 'why' }), {
    transition: { to: 'parked', reason: 'why' },
    notify: false,
  });
});
