// The bodies of delivery events: one shape for all, and the part named after what happened.
import t from 'tap';
import { noPeer, type PeerFacts } from '../../src/base/outcome.ts';
import {
  bouncedEvent,
  canceledEvent,
  deferredEvent,
  deliveredEvent,
  failedEvent,
} from '../../src/events/delivery-events.ts';
import { eventBody } from '../../src/events/event-body.ts';
import { EVENT_TYPES } from '../../src/events/event-types.ts';
import type { EventType, NewEvent } from '../../src/store/events.ts';

const AT = Date.parse('2026-11-20T12:00:00.123Z');
const stamp = { id: '01a1fa95-106b-7002-adff-f4f2f4d924ec', at: AT };
const message = {
  id: '01a1fa95-106b-7002-adff-f4f2f4d924ed',
  submissionId: '01a1fa95-106b-7002-adff-f4f2f4d924ee',
  from: 'hello@sender.test',
  recipient: 'Ann@rcpt.test',
  subject: 'Grüße',
  fromDomain: 'sender.test',
  labels: null,
  tenantId: 'never shown',
};
const peer: PeerFacts = {
  mx: 'mx.rcpt.test',
  remoteIp: '192.0.2.1',
  stage: 'dot',
  smtpCode: 250,
  enhancedCode: '2.0.0',
  response: 'ok',
  tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: true },
  tlsPolicy: { mode: 'enforce', failure: null },
  elapsedMs: 12.6,
};
const common = {
  message_id: message.id,
  submission_id: message.submissionId,
  from: 'hello@sender.test',
  to: 'Ann@rcpt.test',
  subject: 'Grüße',
  domain: 'sender.test',
};

function bodyOf(event: NewEvent) {
  const stored = { ...event, data: JSON.parse(JSON.stringify(event.data)), tenantId: 'x', messageId: message.id };
  return eventBody(stored);
}

t.test('delivered', async (t) => {
  t.same(bodyOf(deliveredEvent(stamp, message, { peer, attempt: 3 })), {
    id: stamp.id,
    type: 'email.delivered',
    family: 'delivery',
    timestamp: '2026-11-20T12:00:00.123Z',
    data: {
      ...common,
      delivery: {
        mx: 'mx.rcpt.test',
        remote_ip: '192.0.2.1',
        smtp_code: 250,
        enhanced_code: '2.0.0',
        response: 'ok',
        tls: { ...peer.tls, policy: 'enforce' },
        attempt: 3,
        elapsed_ms: 13,
      },
    },
  });
});

t.test('deferred says when the next attempt is', async (t) => {
  const body = bodyOf(deferredEvent(stamp, message, { peer, attempt: 1, nextAttemptAt: AT + 60_000 }));
  t.match(body, { type: 'email.deferred', family: 'delivery', data: common });
  t.match(body.data.delivery, { next_attempt_at: '2026-11-20T12:01:00.123Z', attempt: 1 });
});

t.test('bounced', async (t) => {
  const refusal: PeerFacts = { ...peer, stage: 'rcpt', smtpCode: 550, enhancedCode: '5.1.1', response: 'unknown' };
  const body = bodyOf(bouncedEvent(stamp, message, { peer: refusal, attempt: 1, bounce: 'hard', suppressed: true }));
  t.match(body, { type: 'email.bounced', family: 'bounce' });
  t.same(body.data, {
    ...common,
    bounce: {
      type: 'hard',
      source: 'smtp',
      smtp_code: 550,
      enhanced_code: '5.1.1',
      diagnostic: 'unknown',
      mx: 'mx.rcpt.test',
      reporting_mta: null,
      attempt: 1,
      suppressed: true,
    },
  });
});

t.test('failed carries the last reason', async (t) => {
  const body = bodyOf(failedEvent(stamp, message, { peer: noPeer('prepare', 'given up after 72 h'), attempt: 20 }));
  t.match(body, { type: 'email.failed', family: 'bounce' });
  t.match(body.data.bounce, {
    type: 'soft',
    diagnostic: 'given up after 72 h',
    mx: null,
    attempt: 20,
    suppressed: false,
  });
});

t.test('canceled says who ended it, and why', async (t) => {
  const cancellation = { by: 'operator', reason: 'sent by mistake' } as const;
  const body = bodyOf(canceledEvent(stamp, message, cancellation));
  t.match(body, { type: 'email.canceled', family: 'delivery', data: { to: message.recipient } });
  t.same(body.data.cancellation, cancellation);
});

t.test('every type has a family of the specification and a meaning', async (t) => {
  const types = Object.keys(EVENT_TYPES) as EventType[];
  t.equal(types.length, 8);
  for (const type of types) {
    t.ok(['delivery', 'bounce', 'complaint', 'open'].includes(EVENT_TYPES[type].family), type);
    t.match(EVENT_TYPES[type].meaning, /^[A-Z].*\.$/, type);
  }
});
