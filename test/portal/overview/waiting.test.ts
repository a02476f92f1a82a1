// Why a tenant's mail waits, in words that its people may read: no names and notes of operators.
import t from 'tap';
import type { ShapingReason } from '../../../src/delivery/shaping/shaping.ts';
import { duration, eventsView, waitingView } from '../../../src/portal/overview/now-view.ts';
import { waitingReason } from '../../../src/portal/overview/waiting.ts';
import type { WaitingLane } from '../../../src/store/reads.ts';

const NOW = Date.UTC(2026, 0, 2);
const LANE: WaitingLane = {
  ...{ lane: 1, domain: 'x.test', messages: 2, oldestAt: NOW - 3 * 3_600_000, oldestId: 'id', lastReason: null },
  dueAt: NOW - 5,
};

function reason(code: ShapingReason['code'], text: string, until: number | null = null): ShapingReason {
  return { code, reach: 'lane', reason: text, until };
}

t.test('the words of delivery are taken over, those of operators are not', async (t) => {
  const reasons = [
    reason('group_paused', 'google was paused by root at 2026: they owe us money'),
    reason('messages_per_minute', 'google takes 5 per minute'),
  ];
  t.same(waitingReason(LANE, { reasons, until: NOW + 1 }, NOW), {
    reasons: ['The operator of this service has paused mail to this provider.', 'Google takes 5 per minute'],
    until: NOW + 1,
  });
  for (const code of ['message_paused', 'tenant_paused', 'domain_paused', 'group_paused'] as const) {
    const told = waitingReason(LANE, { reasons: [reason(code, 'by root: a secret')], until: null }, NOW);
    t.notMatch(told.reasons.join(), /root|secret/, code);
  }
});

t.test(
  'the last reply explains a retry, nothing at all is about to be sent, and parked mail waits for a person',
  async (t) => {
    const free = { reasons: [], until: null };
    const later = { ...LANE, lastReason: '451 busy (later, rule busy-now)', dueAt: NOW + 60_000 };
    t.same(waitingReason(later, free, NOW), { reasons: ['Last error: 451 busy'], until: NOW + 60_000 });
    const due = { reasons: [reason('not_due', 'Its next attempt is due at …', NOW + 60_000)], until: NOW + 60_000 };
    t.same(waitingReason(later, due, NOW), { reasons: ['Last error: 451 busy'], until: NOW + 60_000 });
    const untried = waitingReason({ ...LANE, dueAt: NOW + 60_000 }, due, NOW);
    t.same(untried.reasons, ['Waiting for the next attempt.']);
    t.same(waitingReason(LANE, free, NOW), { reasons: ['About to be sent.'], until: null });
    const parked = waitingReason({ ...LANE, dueAt: null, lastReason: 'damaged' }, null, NOW);
    t.match(parked, { reasons: [/can’t be read and is waiting for the operator/, 'Last error: damaged'], until: null });
  },
);

t.test('what waits is shown with its age and its reasons', async (t) => {
  const mail = { open: 1234, lanes: [LANE], otherLanes: 2, complete: true };
  const reasons = [{ reasons: ['<b>why</b>'], until: null }];
  const { text } = waitingView({ mail, reasons, now: NOW });
  t.match(text, '1,234 messages are still in the queue. The oldest has been waiting for <strong>3 hours</strong>');
  t.match(text, '&lt;b&gt;why&lt;/b&gt;');
  t.match(text, '2 more domains');
  t.match(waitingView({ mail: { ...mail, complete: false }, reasons, now: NOW }).text, 'at least');
  const none = { open: 0, lanes: [], otherLanes: 0, complete: true };
  t.match(waitingView({ mail: none, reasons: [], now: NOW }).text, 'The queue is empty');
  const other = waitingView({ mail: { ...none, open: 1 }, reasons: [], now: NOW }).text;
  t.match(other, /1 message is <a [^>]*>scheduled for later<\/a>, .* or being sent right now; nothing is waiting/);
  t.same([0, 999, 59_999, 60_000, 7_200_000, 86_400_000].map(duration), [
    ...['0 seconds', '0 seconds', '59 seconds', '1 minute', '2 hours', '1 day'],
  ]);
  t.equal(duration(-5), '0 seconds', 'the clock was set');
});

t.test('events are shown in words; strange ones do no harm', async (t) => {
  const event = { id: 'i', tenantId: 't', messageId: 'm', at: NOW };
  const data = { to: '<i>@x.test', subject: '<b>' };
  const strange = { ...event, type: 'email.new' as 'email.opened', data: { to: 5 } };
  const { text } = eventsView([{ ...event, type: 'email.bounced', data }, strange]);
  t.match(text, '&lt;i&gt;@x.test');
  t.match(text, '&lt;b&gt;');
  t.match(text, 'Refused for good');
  t.match(text, 'email.new');
  t.match(eventsView([]).text, 'No events yet');
});
