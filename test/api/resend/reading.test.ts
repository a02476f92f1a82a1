// The Resend door read: emails by the ID of a submission or a message, lists, domains, API keys; and of one tenant only.
import t from 'tap';
import { startApiHarness } from '../../support/api-harness.ts';
import { wrapVerbs } from '../../support/wrap-verbs.ts';

/** The verb that fails, while there is one. */
let broken = '';

const api = await startApiHarness({
  wrapStore: (store) =>
    wrapVerbs(store, (name, verb) => (...args) => {
      if (name === broken) throw new Error(`${name} is broken`);
      return verb(...args);
    }),
});
t.teardown(() => api.close());
const tenant = await api.addTenant();
const domainId = await api.addVerifiedDomain(tenant.id, 'acme.test');

const MAIL = { from: 'Shop <shop@acme.test>', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };

const get = (path: string, key = tenant.key) => api.call('GET', `/resend${path}`, { key });

async function send(change: Record<string, unknown> = {}): Promise<string> {
  const { body } = await api.call('POST', '/resend/emails', { key: tenant.key, body: { ...MAIL, ...change } });
  return body.id;
}

async function messageIds(submissionId: string): Promise<string[]> {
  const submission = await api.store.queue.findSubmission(tenant.id, submissionId);
  return submission!.messages.map(({ id }) => id);
}

t.test('an email by the ID that its call was answered with', async (t) => {
  const id = await send({
    html: '<p>Hi</p>',
    tags: [{ name: 'kind', value: 'welcome' }],
    reply_to: 'Desk <d@acme.test>',
  });
  const [messageId] = await messageIds(id);
  const { status, body } = await get(`/emails/${id}`);
  t.equal(status, 200);
  const { created_at, ...rest } = body;
  t.match(created_at, /^\d{4}-.*Z$/);
  t.same(rest, {
    ...{ object: 'email', id, message_id: `<${messageId}@acme.test>`, from: 'Shop <shop@acme.test>' },
    ...{ to: ['jo@example.com'], cc: [], bcc: [], reply_to: ['Desk <d@acme.test>'], subject: 'Hello' },
    ...{ html: '<p>Hi</p>', text: 'Hi', tags: [{ name: 'kind', value: 'welcome' }] },
    ...{ scheduled_at: null, last_event: 'queued' },
  });
});

t.test('a letter, and one of its messages', async (t) => {
  const id = await send({ to: ['A <a@example.com>', 'b@example.com'], cc: 'c@example.com', bcc: 'd@example.com' });
  const [a, , , d] = await messageIds(id);
  t.match((await get(`/emails/${id}`)).body, {
    ...{ id, to: ['A <a@example.com>', 'b@example.com'], cc: ['c@example.com'], bcc: ['d@example.com'] },
    message_id: `<${a}@acme.test>`,
  });
  const one = await get(`/emails/${d!.toUpperCase()}`);
  t.match(one.body, { id: d, to: ['d@example.com'], cc: [], bcc: [], message_id: `<${d}@acme.test>`, text: 'Hi' });
});

t.test('lists, newest first, an entry for each call', async (t) => {
  const other = await api.addTenant();
  await api.addVerifiedDomain(other.id, 'other.test');
  const ids: string[] = [];
  const people = Array.from({ length: 50 }, (_, n) => `u${n}@example.com`);
  for (let n = 0; n < 5; n++) {
    const body = { ...MAIL, from: 'a@other.test', to: n % 2 ? people : 'jo@example.com', subject: `Mail ${n}` };
    ids.unshift((await api.call('POST', '/resend/emails', { key: other.key, body })).body.id);
  }
  const list = async (query: string) => (await get(`/emails${query}`, other.key)).body;
  const listed = async (query: string) => {
    const { object, has_more, data } = await list(query);
    t.equal(object, 'list');
    return [data.map(({ id }: { id: string }) => ids.indexOf(id)), has_more];
  };
  t.same(await listed(''), [[0, 1, 2, 3, 4], false]);
  t.same(await listed('?limit=2'), [[0, 1], true]);
  t.same(await listed(`?limit=2&after=${ids[1]}`), [[2, 3], true]);
  t.same(await listed(`?limit=2&after=${ids[2]}`), [[3, 4], false]);
  t.same(await listed(`?limit=1&after=${ids[4]}`), [[], false]);
  const { data } = await list('?limit=2');
  t.match(data[0], {
    object: 'email',
    subject: 'Mail 4',
    from: 'a@other.test',
    to: ['jo@example.com'],
    last_event: 'queued',
  });
  t.equal(data[1].to.length, 50);
  t.notOk('html' in data[0]);
  for (const query of ['?limit=0', '?limit=101', '?page=2', '?after=x', `?before=${ids[0]}`]) {
    t.match(await get(`/emails${query}`, other.key), { status: 400, body: { name: 'validation_error' } }, query);
  }
  const empty = await api.addTenant();
  t.same((await get('/emails', empty.key)).body, { object: 'list', has_more: false, data: [] });
});

t.test('what another tenant has is not found', async (t) => {
  const other = await api.addTenant();
  const id = await send();
  const [messageId] = await messageIds(id);
  for (const path of [`/emails/${id}`, `/emails/${messageId}`, `/domains/${domainId}`]) {
    t.match(await get(path, other.key), { status: 404, body: { statusCode: 404, name: 'not_found' } }, path);
  }
  t.same((await get('/domains', other.key)).body.data, []);
});

t.test('domains', async (t) => {
  const pending = await api.call('POST', '/domains', { key: tenant.key, body: { domain: 'new.test' } });
  const gone = await api.call('POST', '/domains', { key: tenant.key, body: { domain: 'gone.test' } });
  await api.call('DELETE', `/domains/${gone.body.id}`, { key: tenant.key });
  const { body } = await get('/domains');
  t.match(body, { object: 'list', has_more: false });
  t.match(body.data, [
    { id: pending.body.id, name: 'new.test', status: 'pending', capabilities: { sending: 'enabled' } },
    { id: domainId, name: 'acme.test', status: 'verified', open_tracking: false, click_tracking: false },
  ]);
  t.equal(body.data.length, 2);
  t.match((await get('/domains?limit=1')).body, { has_more: true, data: [{ name: 'new.test' }] });
  const one = await get(`/domains/${pending.body.id}`);
  t.match(one.body, { object: 'domain', name: 'new.test', status: 'pending' });
  t.match(one.body.records, [
    { record: 'DKIM', name: /_domainkey\.new\.test$/, type: 'TXT', status: 'pending', value: /^v=DKIM1/ },
    { record: 'SPF', name: 'new.test', type: 'TXT', status: 'not_started', value: /^v=spf1/ },
    { record: 'DMARC', name: '_dmarc.new.test', status: 'not_started' },
  ]);
  t.match(await get(`/domains/${gone.body.id}`), { status: 404, body: { name: 'not_found' } });
});

t.test('API keys, never their secrets', async (t) => {
  const other = await api.addTenant();
  const bound = await api.addKey(other.id, ['emails:send'], 'acme.test');
  const keys = await api.store.keys.listApiKeys(other.id);
  await api.store.keys.noteKeyUses([{ keyId: keys[0]!.id, at: Date.UTC(2026, 0, 1) }]);
  const { body } = await get('/api-keys', other.key);
  t.same(body, {
    object: 'list',
    has_more: false,
    data: [...keys].reverse().map(({ id, name, createdAt }, index) => ({
      ...{ id, name, created_at: new Date(createdAt).toISOString() },
      last_used_at: index === 1 ? '2026-01-01T00:00:00.000Z' : null,
    })),
  });
  const own = await get('/api-keys', bound);
  t.same(own.body.data.length, 1, 'a restricted key sees those of its domain');
  await api.store.keys.revokeApiKey(other.id, keys[0]!.id, 1);
  t.same((await get('/api-keys', bound)).body.data.length, 1);
  t.same((await get('/api-keys', await api.addKey(other.id))).body.data.length, 2, 'without those that are revoked');
});

t.test('what fails here is told in the shape of the door', async (t) => {
  broken = 'queue.findSubmission';
  const answer = await get('/emails/018f0000-0000-7000-8000-000000000000');
  broken = '';
  t.equal(answer.status, 500);
  t.same(answer.body, {
    ...{ statusCode: 500, name: 'internal_server_error', message: 'Unexpected server error. Retry later.' },
  });
});
