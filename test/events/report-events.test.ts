// The bodies of what comes back by mail, held to the API description that tenants read.
import t from 'tap';
import { eventBody } from '../../src/events/event-body.ts';
import { complainedEvent, delayNoticeEvent, reportedBounceEvent } from '../../src/events/report-events.ts';
import type { NewEvent } from '../../src/store/events.ts';
import { misfit, pointerTo } from '../support/openapi-check.ts';

const stamp = { id: '01a1fa95-106b-7002-adff-f4f2f4d924ec', at: Date.parse('2026-11-20T12:00:00.123Z') };
const message = {
  id: '01a1fa95-106b-7002-adff-f4f2f4d924ed',
  submissionId: '01a1fa95-106b-7002-adff-f4f2f4d924ee',
  from: 'hello@sender.test',
  recipient: 'Ann@rcpt.test',
  subject: 'Grüße',
  fromDomain: 'sender.test',
  labels: null,
};
const nothingSaid = { smtpCode: null, enhancedCode: null, diagnostic: null, mx: null, reportingMta: null, attempt: 1 };

function bodyOf(event: NewEvent) {
  return eventBody({ ...event, tenantId: 't', messageId: message.id });
}

t.test('they are what the API description says', async (t) => {
  for (const [schema, event] of [
    ['BouncedEvent', reportedBounceEvent(stamp, message, { ...nothingSaid, bounce: 'soft', suppressed: false })],
    ['DeferredEvent', delayNoticeEvent(stamp, message, nothingSaid)],
    [
      'DeferredEvent',
      delayNoticeEvent(stamp, message, { ...nothingSaid, smtpCode: 450, reportingMta: 'mx.rcpt.test' }),
    ],
    [
      'ComplainedEvent',
      complainedEvent(stamp, message, {
        feedbackType: 'abuse',
        userAgent: null,
        arrivalDate: null,
        reportedDomain: null,
        suppressed: true,
      }),
    ],
  ] as const) {
    t.equal(misfit(pointerTo('components', 'schemas', schema), bodyOf(event)), null, schema);
  }
});

t.test('times are shown as everywhere', async (t) => {
  const facts = {
    feedbackType: 'abuse',
    userAgent: 'x/1',
    arrivalDate: stamp.at,
    reportedDomain: 'a.test',
    suppressed: true,
  };
  t.match(bodyOf(complainedEvent(stamp, message, facts)), {
    family: 'complaint',
    data: { complaint: { arrival_date: '2026-11-20T12:00:00.123Z', source: 'arf' } },
  });
});
