// GET /events, GET /emails/{id} and GET /healthz from outside.
import fs from 'node:fs';
import t from 'tap';
import { noPeer } from '../../src/base/outcome.ts';
import { deferredEvent } from '../../src/events/delivery-events.ts';
import { claimOf } from '../../src/store/queue.ts';
import { startApiHarness } from '../support/api-harness.ts';
import { claimMessage } from '../support/first-slot.ts';

const api = await startApiHarness();
t.teardown(() => api.close());
const tenant = await api.addTenant();
await api.addVerifiedDomain(tenant.id, 'acme.test');
const other = await api.addTenant();

const mail = { from: 'a@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
const { body: sent } = await api.call('POST', '/emails', { key: tenant.key, body: mail });
const messageId: string = sent.message_ids[0];
const message = {
  ...{ id: messageId, submissionId: sent.id, from: mail.from, recipient: mail.to, subject: mail.subject },
  fromDomain: 'acme.test',
  labels: null,
};

const eventIds: string[] = [];
for (let attempt = 1; attempt <= 5; attempt++) eventIds.push(await recordEvent());

async function recordEvent(): Promise<string> {
  const id = api.ids.next();
  const at = Date.now();
  const claim = claimOf(await claimMessage(api.store, messageId));
  await api.store.queue.record([
    {
      ...{ messageId, tenantId: tenant.id, at, claim, attempt: null },
      transition: { to: 'deferred', dueAt: at, reason: 'test', ambiguous: false },
      event: deferredEvent({ id, at }, message, { peer: noPeer('connect', 'test'), attempt: 1, nextAttemptAt: at }),
    },
  ]);
  return id;
}

function list(query: string, key = tenant.key) {
  return api.call('GET', `/events${query}`, { key });
}

const idsOf = (body: { events: { id: string }[] }) => body.events.map((event) => event.id);

t.test('the feed, page by page', async (t) => {
  const all = await list('');
  t.same(idsOf(all.body), eventIds);
  t.equal(all.body.has_more, false);
  t.match(all.body.events[0], {
    id: eventIds[0],
    type: 'email.deferred',
    family: 'delivery',
    timestamp: /\.\d{3}Z$/,
    data: { message_id: messageId },
  });
  const first = await list('?limit=2&after=');
  t.same(idsOf(first.body), eventIds.slice(0, 2));
  t.equal(first.body.has_more, true);
  const rest = await list(`?limit=3&after=${eventIds[1]!.toUpperCase()}`);
  t.same(idsOf(rest.body), eventIds.slice(2));
  t.equal(rest.body.has_more, false, 'a full page without a successor');
  t.same((await list(`?after=${eventIds[4]}`)).body, { events: [], has_more: false });
  t.same((await list('', other.key)).body, { events: [], has_more: false }, "another tenant's feed");
});

t.test('parameters that are refused', async (t) => {
  const cases: [query: string, message: RegExp][] = [
    ['?after=x', /^after: must be an event ID/],
    [`?after=${messageId}`, /^after: event not found/],
    ['?limit=0', /^limit: /],
    ['?limit=1001', /^limit: /],
    ['?limit=-1', /^limit: /],
    ['?limit=1e2', /^limit: /],
    ['?limit=2&limit=3', /^limit: must be given only once/],
    ['?aftre=x', /^aftre: unknown parameter/],
  ];
  for (const [query, message] of cases) {
    const { status, body } = await list(query);
    t.match({ status, ...body }, { status: 400, error: 'validation_failed', message }, query);
  }
  t.match(await list(`?after=${eventIds[0]}`, other.key), { status: 400 }, "another tenant's event is no cursor");
  t.equal((await list('?limit=1000')).status, 200);
});

t.test('a message with its events, for its own tenant only', async (t) => {
  const { body } = await api.call('GET', `/emails/${messageId}`, { key: tenant.key });
  t.same(Object.keys(body), ['id', 'submission_id', 'state', 'from', 'to', 'subject', 'created_at', 'events']);
  t.equal(body.state, 'deferred');
  t.same(idsOf(body), eventIds);
  for (const [key, id] of [
    [other.key, messageId],
    [tenant.key, sent.id],
    [tenant.key, api.ids.next()],
  ]) {
    const answer = await api.call('GET', `/emails/${id}`, { key: key! });
    t.match(answer, { status: 404, body: { error: 'email_not_found' } });
    if (id !== sent.id) t.match(answer.body.message, /are erased 90 days after they have finished\.$/);
  }
  t.match(await api.call('GET', '/emails/1', { key: tenant.key }), { status: 400, body: { error: 'invalid_id' } });
});

t.test('healthz needs no key, and says so when the database is gone', async (t) => {
  const fine = await api.call('GET', '/healthz');
  t.same([fine.status, fine.body], [200, { status: 'ok' }]);
  t.equal((await api.call('HEAD', '/healthz')).status, 200);
  t.equal((await api.call('POST', '/healthz')).status, 405);
  fs.renameSync(api.file, `${api.file}.away`);
  const gone = await api.call('GET', '/healthz');
  fs.renameSync(`${api.file}.away`, api.file);
  t.same([gone.status, gone.body], [503, { status: 'db_unreachable' }]);
  t.equal((await api.call('GET', '/healthz')).status, 200);
});
