// What happened to a message, told once and in its order.
import t from 'tap';
import type { PeerFacts } from '../../src/base/outcome.ts';
import { timelineOf } from '../../src/portal/messages/timeline.ts';
import type { EventType, StoredEvent } from '../../src/store/events.ts';
import type { MessageView, WebhookCall } from '../../src/store/message-view.ts';
import type { AttemptRecord } from '../../src/store/queue.ts';

const T0 = Date.UTC(2026, 0, 31);

const PEER: PeerFacts = {
  ...{ mx: 'mx.x.test', remoteIp: '192.0.2.1', stage: 'dot', smtpCode: 250, enhancedCode: '2.0.0', response: 'queued' },
  tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: true },
  tlsPolicy: { mode: 'enforce', failure: null },
  elapsedMs: 1234,
};

function attempt(number: number, outcome: AttemptRecord['outcome'], peer: Partial<PeerFacts> = {}): AttemptRecord {
  const ids = { messageId: 'm', tenantId: 't' };
  return { ...ids, attempt: number, startedAt: T0 + number * 1000, outcome, peer: { ...PEER, ...peer } };
}

function event(type: EventType, seconds: number, data: Record<string, unknown>): StoredEvent {
  return { id: 'e', tenantId: 't', messageId: 'm', type, at: T0 + seconds * 1000, data };
}

function told(attempts: AttemptRecord[], events: StoredEvent[], webhookCalls: WebhookCall[] = []) {
  const message = { createdAt: T0, attemptList: attempts };
  return timelineOf(
    { message, events, webhookCalls, apiKey: { id: 'k', name: 'app' } } as unknown as MessageView,
    null,
  );
}

const titles = (entries: ReturnType<typeof told>) => entries.map(({ title }) => title);

t.test('attempts with server, TLS, policy and reply; their own events are not told twice', async (t) => {
  const refusal = { stage: 'rcpt', smtpCode: 451, enhancedCode: '4.7.1', response: 'later', tls: null } as const;
  const entries = told(
    [
      attempt(1, 'temporary', { ...refusal, tlsPolicy: { mode: 'none', failure: 'TLS is broken there' } }),
      attempt(2, 'delivered'),
    ],
    [
      event('email.deferred', 1, { delivery: { attempt: 1, next_attempt_at: '2026-01-31T00:00:10.000Z' } }),
      event('email.delivered', 3, { delivery: { attempt: 2 } }),
    ],
  );
  t.same(titles(entries), [
    'Accepted and stored',
    'Attempt 1: deferred',
    'Attempt 2: accepted by the receiving server',
  ]);
  const [accepted, first, second] = entries;
  t.same(accepted!.facts, [['API key', 'app']]);
  t.equal(first!.reason, '451 4.7.1 later');
  t.same(first!.facts, [
    ['Server', 'mx.x.test (192.0.2.1)'],
    ['TLS', 'none'],
    ['Policy', 'no MTA-STS: TLS is broken there'],
    ['Stage', 'recipient (RCPT)'],
    ['Duration', '1.2 s'],
  ]);
  t.match(second!.facts, [
    ['Server', /mx/],
    ['TLS', /^TLSv1.3, TLS_AES_256_GCM_SHA384, certificate valid/],
    ['Policy', 'MTA-STS enforce'],
    ['Duration', '1.2 s'],
  ]);
});

t.test('what came later by mail has entries of its own', async (t) => {
  const entries = told(
    [attempt(1, 'delivered')],
    [
      event('email.delivered', 2, { delivery: { attempt: 1 } }),
      event('email.deferred', 3, { delivery: { attempt: 1, next_attempt_at: null, response: 'delayed' } }),
      event('email.bounced', 4, {
        bounce: {
          source: 'dsn',
          attempt: 1,
          type: 'hard',
          diagnostic: 'no such user',
          suppressed: true,
          enhanced_code: '5.1.1',
        },
      }),
      event('email.complained', 5, { complaint: { feedback_type: 'abuse', suppressed: true } }),
    ],
  );
  t.same(titles(entries).slice(2), ['Delay reported by the receiving server', 'Bounced', 'Complaint']);
  const bounced = entries[3]!;
  t.equal(bounced.reason, 'no such user');
  t.match(bounced.facts, [
    ['Type', 'hard'],
    ['Reply code', '5.1.1'],
    ['Source', /bounce mail/],
    ['Suppression list', /added/],
  ]);
});

t.test('opens and clicks say when it was a program, and which link', async (t) => {
  const entries = told(
    [],
    [
      event('email.opened', 1, { open: { machine: true, machine_reason: 'a proxy of images', ip: '192.0.2.9' } }),
      event('email.clicked', 2, { click: { machine: false, url: 'https://x.test/a', user_agent: 'Browser' } }),
    ],
  );
  t.same(titles(entries).slice(1), ['Opened, most likely by a machine', 'Clicked']);
  t.match(entries[1], { tone: 'quiet', reason: 'a proxy of images' });
  t.same(entries[2]!.facts, [
    ['Link', 'https://x.test/a'],
    ['Program', 'Browser'],
  ]);
});

t.test('giving up without an attempt is told with its reason', async (t) => {
  const failed = event('email.failed', 9, {
    bounce: { source: 'smtp', attempt: 0, diagnostic: 'its lifetime is over' },
  });
  t.match(told([], [failed])[1], { title: 'Failed', reason: 'its lifetime is over', tone: 'bad' });
  const strange = event('email.strange' as EventType, 1, {});
  t.match(told([], [strange])[1], { title: 'email.strange' }, 'a kind of a later version');
});

const CALL: WebhookCall = {
  ...{ webhookId: 'w', url: 'https://hooks.test/in', eventId: 'e', eventType: 'email.delivered', at: T0 + 3000 },
  ...{ state: 'due', attempts: 0, dueAt: T0 + 3000, finishedAt: null, lastAttempt: null },
};
const REFUSED = { number: 2, startedAt: T0 + 9000, elapsedMs: 5, status: 503, reason: 'It answered 503.', answer: '' };

t.test('calls to webhooks stand where they were last tried', async (t) => {
  const isTried = { attempts: 2, lastAttempt: REFUSED };
  const entries = told(
    [attempt(2, 'delivered')],
    [event('email.opened', 5, {})],
    [
      CALL,
      { ...CALL, ...isTried, dueAt: T0 + 60_000 },
      { ...CALL, ...isTried, state: 'failed', dueAt: null },
      {
        ...CALL,
        state: 'delivered',
        dueAt: null,
        attempts: 3,
        lastAttempt: { ...REFUSED, reason: 'It answered 204.' },
      },
    ],
  );
  t.same(entries.map(({ title, tone }) => [title, tone]).slice(2), [
    ['Webhook call waiting', 'busy'],
    ['Opened', 'good'],
    ['Webhook call refused', 'warn'],
    ['Webhook call failed', 'bad'],
    ['Webhook call accepted', 'good'],
  ]);
  const [waiting, , refused, failed, accepted] = entries.slice(2);
  t.equal(waiting!.path, '/portal/webhooks/w?event=e#attempts');
  t.match(waiting, {
    reason: null,
    facts: [
      ['URL', 'https://hooks.test/in'],
      ['Event', 'email.delivered'],
      ['Attempts', '0'],
    ],
  });
  t.equal(refused!.path, '/portal/webhooks/w/attempts/e/2');
  t.equal(refused!.reason, 'It answered 503.');
  t.match(String(Object(refused!.facts.at(-1)![1]).text), /datetime="2026-01-31T00:01:00.000Z"/);
  t.same(
    failed!.facts.map(([name]) => name),
    ['URL', 'Event', 'Attempts'],
    'there is no next attempt',
  );
  t.equal(accepted!.reason, 'It answered 204.');
});
