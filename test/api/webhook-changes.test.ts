// A webhook's life after its registration over the API: its choice of events, changes, a new secret, a test, what it was
// sent. What comes of choices is shown with the store (test/store/conformance), the calls with test/webhooks.
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { EVENT_CHOICES } from '../../src/events/event-types.ts';
import { type ApiAnswer, startApiHarness, type TestTenant } from '../support/api-harness.ts';
import { takeFirstSlot } from '../support/first-slot.ts';
import { recordSomeEvent } from '../support/some-event.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';

const api = await startApiHarness({ allowPrivateWebhooks: true });
t.teardown(() => api.close());

async function call(tenant: TestTenant, route: string, body?: unknown): Promise<ApiAnswer> {
  const [method, path] = route.split(' ') as [string, string];
  return api.call(method, path, { key: tenant.key, ...(body !== undefined && { body }) });
}

async function registered(tenant: TestTenant, url: string, events?: string[]): Promise<ApiAnswer['body']> {
  return (await call(tenant, 'POST /webhooks', { url, events })).body;
}

function refusedAs(t: Test, answer: ApiAnswer, message: RegExp): void {
  t.match({ status: answer.status, ...answer.body }, { status: 400, error: 'validation_failed', message });
}

t.test('a choice of events', async (t) => {
  const tenant = await api.addTenant();
  const all = [...EVENT_CHOICES].reverse();
  t.same((await registered(tenant, 'https://a.test/', all)).events, EVENT_CHOICES, 'in the order of the registry');
  const answer = await call(tenant, 'POST /webhooks', { url: 'https://b.test/', events: ['bounce', 'bounces'] });
  refusedAs(t, answer, /^events\[1\]: must be one of delivery, email\.delivered,/);
  refusedAs(
    t,
    await call(tenant, 'POST /webhooks', { url: 'https://b.test/', events: 'bounce' }),
    /^events: must be an array/,
  );
  t.equal((await call(tenant, 'GET /webhooks')).body.webhooks.length, 1);
});

t.test('a change keeps what it does not name', async (t) => {
  const tenant = await api.addTenant();
  const { id, secret: _, ...first } = await registered(tenant, 'https://a.test/in', ['bounce']);
  const change = (body: unknown) => call(tenant, `PATCH /webhooks/${id.toUpperCase()}`, body);
  t.same(
    (await change({ url: 'HTTPS://A.test/in' })).body,
    { id, ...first, url: 'HTTPS://A.test/in' },
    'the same target',
  );
  t.same((await change({ description: 'ü' })).body, { id, ...first, url: 'HTTPS://A.test/in', description: 'ü' });
  t.same((await change({ description: null, events: ['open'] })).body.description, 'ü', 'null is left out');
  t.notOk('events' in (await change({ events: [] })).body, 'every event');
  refusedAs(t, await change({ url: 'https://jo:pw@a.test/' }), /^url: must not contain credentials/);
  refusedAs(t, await change({ url: `https://a.test/${'x'.repeat(2048)}` }), /^url: must have at most 2048/);
  refusedAs(
    t,
    await change({ url: `https://a.test/${'字'.repeat(300)}` }),
    /^url: .* 2600 characters when percent-encoded/,
  );
  refusedAs(t, await change({ description: 'a\udc00' }), /^description: must be valid Unicode/);
  refusedAs(t, await change({ description: null }), /at least one of url, description and events/);
  refusedAs(t, await change({ event: [] }), /^event: unknown field; did you mean events/);
  const stranger = await api.addTenant();
  t.match(await call(stranger, `PATCH /webhooks/${id}`, { events: [] }), { status: 404 });
});

t.test('a test event is signed with every secret of the last day, whatever is chosen', async (t) => {
  const tenant = await api.addTenant();
  const endpoint = await startEndpoint(t);
  endpoint.answer = (response) => response.writeHead(503).end('later');
  const { id, secret } = await registered(tenant, endpoint.url, ['complaint']);
  const rotated = (await call(tenant, `POST /webhooks/${id}/rotate`)).body;
  const { body } = await call(tenant, `POST /webhooks/${id}/test`);
  t.match(body, { accepted: false, status: 503, answer: 'later', reason: 'The endpoint answered 503.' });
  const [got] = await endpoint.until(1);
  for (const key of [secret, rotated.secret]) t.ok(new Webhook(key).verify(got!.text, got!.headers));
  const again = (await call(tenant, `POST /webhooks/${id}/rotate`)).body;
  await call(tenant, `POST /webhooks/${id}/test`);
  const [, later] = await endpoint.until(2);
  for (const key of [secret, rotated.secret, again.secret]) t.ok(new Webhook(key).verify(later!.text, later!.headers));
});

t.test('what failed is listed and replayed', async (t) => {
  const tenant = await api.addTenant();
  await api.addVerifiedDomain(tenant.id, 'acme.test');
  const mail = { from: 'a@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
  const [messageId] = (await call(tenant, 'POST /emails', mail)).body.message_ids;
  const { id } = await registered(tenant, 'https://a.test/');
  const event = await recordSomeEvent(api, { tenantId: tenant.id, messageId, ...mail });
  const now = Date.now();
  const owners = [await takeFirstSlot(api.store)];
  const terms = { owners, now: now + 1, leaseUntil: [now + 600_000] };
  const [claimed] = await api.store.webhooks.claimDeliveries([{ webhookId: id, limit: 1 }], terms);
  const list = async (state: string) => (await call(tenant, `GET /webhooks/${id}/deliveries?state=${state}`)).body;
  const replay = () => call(tenant, `POST /webhooks/${id}/deliveries/${event}/replay`);
  t.match((await list('due')).deliveries, [
    { event_id: event, attempts: 1, next_attempt_at: null, last_attempt: null },
  ]);
  t.match(await replay(), { status: 409, body: { error: 'webhook_busy' } }, 'while it is being sent');
  const result = { startedAt: now, elapsedMs: 7, status: null, reason: 'No answer.', answer: null };
  const end = { to: 'failed' } as const;
  await api.store.webhooks.recordDeliveries([{ delivery: claimed!.deliveries[0]!, end, ...result }], now);
  const failed = await list('failed');
  t.match(failed, {
    deliveries: [
      {
        ...{ event_id: event, type: 'email.deferred', state: 'failed', attempts: 1, next_attempt_at: null },
        ...{ finished_at: /Z$/, last_attempt: { number: 1, elapsed_ms: 7, status: null, reason: 'No answer.' } },
      },
    ],
    has_more: false,
  });
  t.match(await replay(), { status: 202, body: { event_id: event, state: 'due' } });
  t.same((await list('failed')).deliveries, []);
  t.match((await list('due')).deliveries, [{ event_id: event, state: 'due', last_attempt: { number: 1 } }]);
});
