// Every status and error code of every operation in schema/openapi.yaml, provoked for real: what
// the document says that an operation answers is what it answers. That it answers nothing else
// is seen to by `checkAnswer`, through which all answers of all tests of the API go.
import t from 'tap';
import type { Store } from '../../src/store/store.ts';
import { SCOPES } from '../../src/store/tenants.ts';
import { type CallOptions, startApiHarness } from '../support/api-harness.ts';
import { takeFirstSlot } from '../support/first-slot.ts';
import { checkAnswer, errorCodesOf, locate, type Operation, operations } from '../support/openapi-check.ts';
import { RawHttp } from '../support/raw-http.ts';
import { recordSomeEvent } from '../support/some-event.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { wrapVerbs } from '../support/wrap-verbs.ts';

const NOBODY = '018f0000-0000-7000-8000-000000000000';
const BODY_OVER_LIMIT_BYTES = 5 * 1024 * 1024 + 1;

let store: 'works' | 'breaks' | 'is gone' = 'works';
const api = await startApiHarness({ firstTier: 1, wrapStore: breakable, allowPrivateWebhooks: true });
t.teardown(() => api.close());
const tenant = await api.addTenant();
const rival = await api.addTenant();
const suspended = await api.addTenant({ status: 'suspended' });
const exhausted = await api.addTenant({ tier: '1k' });
const noScope = await api.addKey(tenant.id, []);
const bound = await api.addKey(tenant.id, SCOPES, 'bound.test');
await api.call('GET', '/domains', { key: exhausted.key });
await api.addVerifiedDomain(tenant.id, 'acme.test');

const published = await created('/domains', { domain: 'new.test' });
api.dns.addZone('new.test');
api.dns.set(published.records[0].name, 'TXT', [published.records[0].value], 0);
const unpublished = (await created('/domains', { domain: 'bare.test' })).id;
const contested = (await created('/domains', { domain: 'held.test' })).id;
const template = (await created('/templates', { name: 'Welcome', text: 'Hello {{ name }}' })).id;
const endpoint = await startEndpoint(t);
const webhook = (await created('/webhooks', { url: endpoint.url })).id;
const MAIL = { from: 'a@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
const {
  id: queued,
  message_ids: [email],
} = await created('/emails', MAIL);
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const submission = (await created('/emails', { ...MAIL, send_at: inHours(1) })).id;

/** What a call to each path needs to be a good one. */
const ID: Record<string, string> = {
  '/emails/{id}': email,
  '/submissions/{id}': submission,
  '/submissions/{id}/cancel': submission,
  '/domains/{id}': published.id,
  '/domains/{id}/verify': published.id,
  '/webhooks/{id}': webhook,
  '/webhooks/{id}/rotate': webhook,
  '/webhooks/{id}/test': webhook,
  '/webhooks/{id}/deliveries': webhook,
  '/webhooks/{id}/deliveries/{event_id}/replay': webhook,
  '/templates/{id}': template,
};
const BODY: Record<string, object> = {
  'POST /emails': MAIL,
  'POST /emails/batch': { emails: [MAIL] },
  'POST /domains': { domain: 'other.test' },
  'POST /webhooks': { url: 'https://hooks.acme.test/other' },
  'POST /templates': { name: 'Reminder', html: '<p>{{ due }}</p>' },
  'PUT /templates/{id}': { name: 'Welcome', text: 'Hi {{ name }}' },
  'PATCH /submissions/{id}': { send_at: inHours(2) },
  'PATCH /webhooks/{id}': { events: ['bounce'] },
  'POST /suppressions': { address: 'sam@example.net' },
  'POST /suppressions/import': { addresses: ['ann@example.net', 'nobody'] },
};
/** What stands in paths besides IDs, and what can't. */
const SUPPRESSED = 'gone%40example.net';
const event = await recordSomeEvent(api, { tenantId: tenant.id, messageId: email, ...MAIL });

/** By operation: the codes of errors, and the statuses of other answers. */
const provoked = new Map<string, Set<string>>();

function breakable(real: Store): Store {
  const broken = async () => {
    throw new Error('disk on fire');
  };
  return {
    ...wrapVerbs(
      real,
      (_name, verb) =>
        (...args) =>
          store === 'breaks' ? broken() : verb(...args),
    ),
    ping: async () => (store === 'breaks' ? broken() : store !== 'is gone' && (await real.ping())),
  };
}

async function created(path: string, body: object) {
  return (await api.call('POST', path, { key: tenant.key, body })).body;
}

function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

interface Attempt extends CallOptions {
  id?: string;
  address?: string;
  eventId?: string;
  query?: string;
}

/** Calls an operation, well but for what `attempt` changes. */
async function attempt(
  operation: Operation,
  { id, address = SUPPRESSED, eventId = event, query = '', ...options }: Attempt = {},
): Promise<void> {
  const { method, path } = operation;
  const target =
    path
      .replace('{id}', id ?? ID[path] ?? '')
      .replace('{address}', address)
      .replace('{event_id}', eventId) + query;
  const body = BODY[nameOf(operation)];
  const good = { key: tenant.key, ...(body ? { body } : {}) };
  const answer = await api.call(method, target, { ...good, ...options });
  note(operation, answer);
}

/** The same over a bare socket, with a body that is declared and does not come. */
async function announce(operation: Operation, declaredBytes: number): Promise<void> {
  const { method, path } = operation;
  const target = path
    .replace('{id}', ID[path] ?? '')
    .replace('{address}', SUPPRESSED)
    .replace('{event_id}', event);
  const connection = await RawHttp.connect(api.port);
  t.teardown(() => connection.destroy());
  const auth = `Authorization: Bearer ${tenant.key}\r\nContent-Type: application/json`;
  await connection.send(
    `${method} ${target} HTTP/1.1\r\nHost: x\r\n${auth}\r\nContent-Length: ${declaredBytes}\r\n\r\n{`,
  );
  const { status, headers, text } = await connection.answer();
  const answer = { status, headers: new Headers([...headers]), body: JSON.parse(text) };
  checkAnswer({ method, path: target, ...answer });
  note(operation, answer);
}

function note(operation: Operation, { status, body }: { status: number; body: { error?: string } | null }): void {
  const name = nameOf(operation);
  provoked.set(name, (provoked.get(name) ?? new Set()).add(body?.error ?? String(status)));
}

function operation(name: string): Operation {
  return operations.find((candidate) => nameOf(candidate) === name)!;
}

function describedAnswers({ pointer }: Operation): string[] {
  const statuses = Object.keys(locate(`${pointer}/responses`)!.value);
  return statuses.flatMap((status) => {
    const schema = locate(`${pointer}/responses/${status}/content/application~1json/schema`)?.value ?? {};
    const codes = errorCodesOf(schema);
    return codes.length > 0 ? codes : [status];
  });
}

/** What any operation may answer. */
async function callInEveryWrongWay(): Promise<void> {
  for (const one of operations) {
    await attempt(one, { key: undefined });
    await attempt(one, { key: 'pr_unknown_key' });
    await attempt(one, { key: suspended.key });
    await attempt(one, { key: exhausted.key });
    await attempt(one, { key: noScope, id: NOBODY });
    await attempt(one, { id: NOBODY });
    await attempt(one, { id: 'x' });
    if (!BODY[nameOf(one)]) continue;
    await attempt(one, { headers: { 'Content-Type': 'text/plain' } });
    await attempt(one, { body: '{' });
    await attempt(one, { body: {} });
  }
}

async function announceBodies(): Promise<void> {
  await Promise.all(operations.flatMap((one) => [announce(one, BODY_OVER_LIMIT_BYTES), announce(one, 10)]));
}

/** What only some operations may answer. */
async function callAgainstTheRules(): Promise<void> {
  const addSuppression = { reason: 'manual', messageId: null, createdAt: 0 } as const;
  await api.store.suppressions.addSuppression(tenant.id, { address: 'no@example.com', ...addSuppression });
  await attempt(operation('POST /emails'), { body: { ...MAIL, to: 'no@example.com' } });
  await attempt(operation('POST /emails'), { body: { ...MAIL, from: 'a@nobody.test' } });
  await attempt(operation('POST /emails'), { key: bound });
  const batch = operation('POST /emails/batch');
  await attempt(batch, { body: { emails: [MAIL, { ...MAIL, to: 'no@example.com' }] } });
  await attempt(batch, { body: { emails: [{ ...MAIL, from: 'a@nobody.test' }] } });
  await attempt(batch, { key: bound });
  const move = operation('PATCH /submissions/{id}');
  await attempt(move, { id: queued });
  await attempt(move, { key: bound });
  await attempt(operation('POST /submissions/{id}/cancel'), { key: bound });
  await attempt(operation('GET /emails'), { query: '?limit=0' });
  await attempt(operation('GET /events'), { query: '?limit=0' });
  for (const whole of ['/domains', '/templates', '/webhooks']) {
    await attempt(operation(`GET ${whole}`), { query: '?limit=9' });
  }
  await attempt(operation('GET /stats'), { query: '?by=week' });
  await attempt(operation('GET /suppressions'), { query: '?reason=none' });
  const removal = operation('DELETE /suppressions/{address}');
  await attempt(removal, { address: 'x' });
  await attempt(removal);
  await created('/suppressions', { address: 'gone@example.net' });

  await attempt(operation('POST /webhooks'), { body: { url: endpoint.url } });
  await created('/webhooks', { url: 'https://taken.acme.test/' });
  await attempt(operation('PATCH /webhooks/{id}'), { body: { url: 'https://taken.acme.test/' } });
  await attempt(operation('GET /webhooks/{id}/deliveries'), { query: '?limit=0' });
  await collideAtWebhook();
  await attempt(operation('POST /domains'), { body: { domain: 'new.test' } });
  for (const name of ['POST /domains', 'POST /domains/{id}/verify', 'DELETE /domains/{id}']) {
    await attempt(operation(name), { key: bound });
  }
  await attempt(operation('POST /domains/{id}/verify'), { id: unpublished });
}

/** What is being sent just then: a test, and an event. */
async function collideAtWebhook(): Promise<void> {
  const replay = operation('POST /webhooks/{id}/deliveries/{event_id}/replay');
  await attempt(replay, { eventId: NOBODY });
  await attempt(replay);
  const owners = [await takeFirstSlot(api.store)];
  const terms = { owners, now: Date.now() + 1, leaseUntil: [Date.now() + 600_000] };
  const [claimed] = await api.store.webhooks.claimDeliveries([{ webhookId: webhook, limit: 1 }], terms);
  await attempt(replay);
  const [delivery] = claimed!.deliveries;
  const result = { startedAt: 0, elapsedMs: 1, status: 204, reason: 'It was 204.', answer: '' };
  await api.store.webhooks.recordDeliveries([{ delivery: delivery!, end: { to: 'delivered' }, ...result }], Date.now());

  const test = operation('POST /webhooks/{id}/test');
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  endpoint.answer = (response) => void answered.then(() => response.writeHead(204).end());
  const first = attempt(test);
  await endpoint.until(1);
  await attempt(test);
  answer();
  await first;
}

/** Another tenant holds the name, and its record is there as well as ours. */
async function verifyContested(): Promise<void> {
  await api.addVerifiedDomain(rival.id, 'held.test');
  const { body: ours } = await api.call('GET', `/domains/${contested}`, { key: tenant.key });
  const key = ours.records[0].value;
  api.dns.addZone('held.test');
  for (const selector of [ours.dkim_selector, 'seed']) api.dns.set(`${selector}._domainkey.held.test`, 'TXT', [key], 0);
  await attempt(operation('POST /domains/{id}/verify'), { id: contested });
}

async function breakStore(): Promise<void> {
  store = 'breaks';
  for (const one of operations) await attempt(one);
  store = 'is gone';
  await attempt(operation('GET /healthz'));
  store = 'works';
}

/** Last what deletes. */
async function callWell(): Promise<void> {
  const deletes = (one: Operation) => one.method === 'DELETE';
  for (const one of operations.filter((other) => !deletes(other))) await attempt(one);
  await attempt(operation('POST /suppressions'));
  for (const one of operations.filter(deletes)) await attempt(one);
}

t.test('each operation answers all that the document says, and nothing else', async (t) => {
  await callInEveryWrongWay();
  await announceBodies();
  await callAgainstTheRules();
  await verifyContested();
  await breakStore();
  await callWell();
  for (const one of operations) {
    t.same([...provoked.get(nameOf(one))!].toSorted(), describedAnswers(one).toSorted(), nameOf(one));
  }
});
