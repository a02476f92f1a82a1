// The template endpoints and POST /emails with a template, from outside.
import t from 'tap';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { type ApiAnswer, startApiHarness, type TestTenant } from '../support/api-harness.ts';

const api = await startApiHarness();
t.teardown(() => api.close());
const contents = openContentReader(api.file);
t.teardown(() => contents.close());
const tenant = await api.addTenant();
const rival = await api.addTenant();
await api.addVerifiedDomain(tenant.id, 'acme.test');
const NOBODY = '018f0000-0000-7000-8000-000000000000';

function create(body: unknown, owner: TestTenant = tenant) {
  return api.call('POST', '/templates', { key: owner.key, body });
}

function replace(id: string, body: unknown, owner: TestTenant = tenant) {
  return api.call('PUT', `/templates/${id}`, { key: owner.key, body });
}

async function templateOf(source: { html?: string; text?: string }): Promise<string> {
  const { status, body } = await create({ name: 'test', ...source });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

function send(templateId: unknown, change: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  const mail = { from: 'shop@acme.test', to: 'jo@example.com', subject: 'Hi {{ name }}', template_id: templateId };
  return api.call('POST', '/emails', { key: tenant.key, body: { ...mail, ...change }, headers });
}

/** What a courier would compose the message of. */
async function storedContent({ status, body }: ApiAnswer) {
  if (status !== 202) throw new Error(JSON.stringify(body));
  const result = await contents.read(body.message_ids[0]);
  if (result.kind !== 'content') throw new Error(result.reason);
  const { subject, html, text } = result.content;
  return { subject, html, text };
}

t.test('created, shown, listed, replaced, deleted', async (t) => {
  const owner = await api.addTenant();
  const { status, body } = await create({ name: 'Welcome', html: '<p>{{ name }}</p>', text: null }, owner);
  t.equal(status, 201);
  t.same(Object.keys(body), ['id', 'name', 'html', 'text', 'created_at', 'updated_at']);
  t.match(body, { name: 'Welcome', html: '<p>{{ name }}</p>', text: null, created_at: /\.\d{3}Z$/ });
  t.equal(body.updated_at, body.created_at);
  const get = (id: string) => api.call('GET', `/templates/${id}`, { key: owner.key });
  t.same(await get(body.id.toUpperCase()).then((shown) => [shown.status, shown.body]), [200, body]);

  const second = await create({ name: 'Welcome', text: 'x' }, owner);
  const replaced = await replace(body.id, { name: 'Bye', text: 'Bye {{ name }}', html: '' }, owner);
  t.equal(replaced.status, 200);
  t.match(replaced.body, { id: body.id, name: 'Bye', html: null, text: 'Bye {{ name }}', created_at: body.created_at });
  t.ok(replaced.body.updated_at >= body.updated_at);
  const list = await api.call('GET', '/templates', { key: owner.key });
  t.same(list.body, { templates: [replaced.body, second.body] });

  const remove = () => api.call('DELETE', `/templates/${body.id}`, { key: owner.key });
  t.match(await remove(), { status: 204, body: null });
  t.match(await remove(), { status: 404, body: { error: 'template_not_found' } });
  t.equal((await get(body.id)).status, 404);
});

t.test('what is refused, and in which words', async (t) => {
  const id = await templateOf({ text: 'kept' });
  const cases: [body: unknown, message: RegExp][] = [
    [{ html: 'x' }, /^name: this field is required/],
    [{ name: '', html: 'x' }, /^name: must not be empty/],
    [{ name: 'x'.repeat(201), html: 'x' }, /^name: must have at most 200 characters/],
    [{ name: 'a\ud800', html: 'x' }, /^name: must be valid Unicode/],
    [{ name: 'x' }, /^html: at least one of html and text/],
    [{ name: 'x', html: '', text: null }, /^html: at least one of html and text/],
    [{ name: 'x', html: 5 }, /^html: must be a string/],
    [{ name: 'x', text: 'a\udc00' }, /^text: must be valid Unicode/],
    [{ name: 'x', html: 'x', sender: 'y' }, /^sender: unknown field/],
    [{ name: 'x', html: 'x', subject: 5 }, /^subject: must be a string/],
    [{ name: 'x', html: 'x', subject: 'a\ud800' }, /^subject: must be valid Unicode/],
    [{ name: 'x', html: 'x', subject: 'x'.repeat(10 * 1024 + 1) }, /^subject: must have at most 10240 bytes/],
    [{ name: 'x', html: 'x', subject: 'Hi {{ x' }, /^subject: .* line 1, column 4\.$/],
    [{ name: 'x', subject: 'alone' }, /^html: at least one of html and text/],
    [{ name: 'x', html: 'x'.repeat(1024 * 1024 + 1) }, /^html: must have at most 1048576 bytes/],
    [{ name: 'x', text: 'ü'.repeat(512 * 1024 + 1) }, /^text: must have at most 1048576 bytes/],
    [{ name: 'x', html: 'a\nb {{ c' }, /^html: output .* not closed, line 2, column 3\.$/],
    [{ name: 'x', html: 'x', text: '{% nosuch %}' }, /^text: tag "nosuch" not found, line 1, column 1\.$/],
    [{ name: 'x', html: '{% include "a" %}' }, /^html: tag "include" not found/],
    [{ name: 'x', html: '{{ a | where_exp: "i", "i" }}' }, /^html: undefined filter: where_exp, line 1/],
    [{ name: 'x', html: '{% if a %}'.repeat(20_000) }, /^html: .*, line 1, column \d+\.$/],
  ];
  for (const [body, message] of cases) {
    for (const answer of [await create(body), await replace(id, body)]) {
      t.match(answer, { status: 400, body: { error: 'validation_failed', message } }, String(message));
    }
  }
  t.match((await api.call('GET', `/templates/${id}`, { key: tenant.key })).body, { text: 'kept' });
  t.equal((await create({ name: 'x'.repeat(200), html: 'x'.repeat(1024 * 1024) })).status, 201, 'to the byte');
});

t.test('there is room for 8 MiB of templates', async (t) => {
  const owner = await api.addTenant();
  const large = 'x'.repeat(1024 * 1024);
  for (let count = 0; count < 4; count++) await create({ name: 'x', html: large, text: large }, owner);
  t.match((await create({ name: 'x', html: 'x' }, owner)).body, {
    error: 'validation_failed',
    message: /limited to 8388608 bytes/,
  });
  t.equal((await api.call('GET', '/templates', { key: owner.key })).body.templates.length, 4);
});

t.test('a subject is kept with its template', async (t) => {
  const { status, body } = await create({ name: 'Welcome', text: 'Hi', subject: 'Hi {{ name }}' });
  t.equal(status, 201);
  t.same(Object.keys(body), ['id', 'name', 'html', 'text', 'subject', 'created_at', 'updated_at']);
  t.equal(body.subject, 'Hi {{ name }}');
  t.same((await api.call('GET', `/templates/${body.id}`, { key: tenant.key })).body, body);
  t.equal((await replace(body.id, { name: 'Welcome', text: 'Hi', subject: 'Bye' })).body.subject, 'Bye');
  for (const subject of [undefined, null, '']) {
    t.notOk('subject' in (await replace(body.id, { name: 'Welcome', text: 'Hi', subject })).body, 'replaced by none');
  }
});

t.test('the subject of a template, and that of a call', async (t) => {
  const source = { html: '<b>{{ name }}</b>', text: '{{ name }}' };
  const id = (await create({ name: 'test', ...source, subject: ' {% if name %}{{ name }} & Co{% endif %}\n' })).body.id;
  const withName = (name: unknown, change = {}) => send(id, { subject: undefined, data: { name }, ...change });
  t.match(await storedContent(await withName('<A>')), { subject: '<A> & Co', html: '<b>&lt;A&gt;</b>', text: '<A>' });
  t.match(await storedContent(await withName('A', { subject: null })), { subject: 'A & Co' }, 'null is left out');
  t.match(await storedContent(await withName('A', { subject: '{{ name }}' })), { subject: '{{ name }}' }, 'as it is');
  t.match(await storedContent(await withName('x'.repeat(993))), { subject: `${'x'.repeat(993)} & Co` });
  t.match(await storedContent(await withName('😀'.repeat(993))), { subject: `${'😀'.repeat(993)} & Co` }, 'characters');
  const refused: [name: unknown, message: RegExp][] = [
    ['x'.repeat(994), /^template_id: the template's subject can't be rendered: produces more than 998 characters\.$/],
    ['A\r\nBcc: x@y.test', /^template_id: the template's subject .* control characters/],
    ['A\tB', /^template_id: the template's subject .* control characters/],
    ['A\u0085B', /^template_id: the template's subject .* control characters/],
    [false, /^template_id: the template's subject renders to nothing\.$/],
  ];
  for (const [name, message] of refused) {
    t.match(await withName(name), { status: 400, body: { error: 'validation_failed', message } }, JSON.stringify(name));
    t.equal((await withName(name, { subject: 'Given' })).status, 202, 'what is not used is not rendered');
  }
  const loop = (await create({ name: 'test', ...source, subject: '{{ name | nonsense }}' })).body;
  t.match(loop, { error: 'validation_failed', message: /^subject: undefined filter: nonsense/ });
});

t.test('a call without a subject needs a template that has one', async (t) => {
  const id = await templateOf({ text: 'x' });
  const none = /^subject: this field is required: the template has no subject\.$/;
  t.match(await send(id, { subject: undefined }), { status: 400, body: { error: 'validation_failed', message: none } });
  const { subject: _, ...bare } = { from: 'shop@acme.test', to: 'jo@example.com', subject: '', text: 'x' };
  const missing = { status: 400, body: { message: 'subject: this field is required.' } };
  for (const body of [bare, { ...bare, subject: null }, { ...bare, template_id: null }, { ...bare, to: 5 }]) {
    t.match(await api.call('POST', '/emails', { key: tenant.key, body }), missing);
  }
  const nothing = await api.call('POST', '/emails', { key: tenant.key, body: {} });
  t.equal(nothing.body.message, 'from: this field is required.', 'the first of three, as ever');
  t.match(await send(id, { subject: '' }), { status: 400, body: { message: 'subject: must not be empty.' } });
  t.match(await send(NOBODY, { subject: undefined }), {
    body: { message: 'template_id: template not found. GET /templates lists your templates.' },
  });
});

t.test('parts do not see what others did to the data', async (t) => {
  const counter = '{% increment n %}{{ n }}';
  const id = (await create({ name: 'test', html: counter, text: counter, subject: counter })).body.id;
  const { subject, html, text } = await storedContent(await send(id, { subject: undefined, data: { n: 5 } }));
  t.equal(html, text);
  t.equal(subject, text);
});

t.test('other tenants do not exist; writing needs the scope, reading any key', async (t) => {
  const id = await templateOf({ html: 'mine' });
  for (const unknown of [id, NOBODY]) {
    const path = `/templates/${unknown}`;
    const answers = [
      await api.call('GET', path, { key: rival.key }),
      await api.call('PUT', path, { key: rival.key, body: { name: 'x', html: 'theirs' } }),
      await api.call('DELETE', path, { key: rival.key }),
    ];
    for (const answer of answers) t.match(answer, { status: 404, body: { error: 'template_not_found' } });
  }
  t.same((await api.call('GET', '/templates', { key: rival.key })).body, { templates: [] });
  await api.addVerifiedDomain(rival.id, 'rival.test');
  const mail = { from: 'a@rival.test', to: 'jo@example.com', subject: 'x' };
  for (const unknown of [id, NOBODY]) {
    const answer = await api.call('POST', '/emails', { key: rival.key, body: { ...mail, template_id: unknown } });
    t.match(answer, { status: 400, body: { error: 'validation_failed', message: /^template_id: template not found/ } });
  }

  const reader = await api.addKey(tenant.id, ['emails:send']);
  t.equal((await api.call('GET', `/templates/${id}`, { key: reader })).status, 200);
  t.equal((await api.call('GET', '/templates', { key: reader })).status, 200);
  const body = { name: 'x', html: 'x' };
  t.match(await api.call('POST', '/templates', { key: reader, body }), { body: { error: 'scope_required' } });
  t.match(await api.call('PUT', `/templates/${id}`, { key: reader, body }), { body: { error: 'scope_required' } });
  t.match(await api.call('DELETE', `/templates/${id}`, { key: reader }), { body: { error: 'scope_required' } });
  t.match(await api.call('GET', '/templates/x', { key: reader }), { status: 400, body: { error: 'invalid_id' } });
});

t.test('what was rendered is what is sent; later edits change nothing', async (t) => {
  const id = await templateOf({ html: '<p>{{ name }}</p>{{ name | raw }}', text: 'Hi {{ name }}' });
  const before = await send(id.toUpperCase(), { data: { name: '<Jo>' }, html: 'ignored', text: 'ignored' });
  await replace(id, { name: 'x', text: 'new {{ name }}' });
  const after = await send(id, { data: { name: '<Jo>' } });
  await api.call('DELETE', `/templates/${id}`, { key: tenant.key });
  t.same(await storedContent(before), { subject: 'Hi {{ name }}', html: '<p>&lt;Jo&gt;</p><Jo>', text: 'Hi <Jo>' });
  t.same(await storedContent(after), { subject: 'Hi {{ name }}', html: null, text: 'new <Jo>' });
});

t.test('data: an object, empty when absent, with whatever it holds', async (t) => {
  const id = await templateOf({ text: '[{{ a }}{{ __proto__ }}{{ list.size }}]' });
  for (const data of [undefined, null, {}]) t.equal((await storedContent(await send(id, { data }))).text, '[]');
  t.equal((await storedContent(await send(id, { data: { a: 1, list: [1, 2] } }))).text, '[12]');
  for (const data of [[], 'x', 5, true]) {
    t.match(await send(id, { data }), { status: 400, body: { message: /^data: must be an object/ } });
  }
  const deep = `{"a": ${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
  const mail = { from: 'shop@acme.test', to: 'jo@example.com', subject: 'x', template_id: id };
  const body = JSON.stringify({ ...mail, data: 0 }).replace(/0}$/, `${deep}}`);
  t.match((await api.call('POST', '/emails', { key: tenant.key, body })).body, {
    message: /is nested too deeply/,
  });
});

t.test('data with as many keys as fit into a call', async (t) => {
  const keys = Array.from({ length: 520_000 }, (_, n) => `"${n.toString(36)}":0`);
  const data = JSON.parse(`{${keys.join()}}`);
  const id = await templateOf({ text: 'found {{ b4ci }}' });
  t.equal((await storedContent(await send(id, { data }))).text, 'found 0');
});

t.test('a template that does not render: part, line and column; nothing is queued', async (t) => {
  const queued = async () => (await api.store.queue.listQueue({ tenantId: tenant.id, limit: 1000 })).length;
  const before = await queued();
  const cases: [source: { html?: string; text?: string }, message: RegExp][] = [
    [
      { html: 'x', text: '\n{{ a | base64_decode }}' },
      /the template's text can't be rendered: invalid base64.*, line 2, column 1\.$/,
    ],
    [
      { html: '{% for i in (1..200000) %}0123456789{% endfor %}' },
      /the template's html .* (1048576 bytes of output|takes longer than \d+ ms), line 1, column/,
    ],
    [{ html: '{% for i in (1..99999999) %}{% endfor %}' }, /the template's html .* memory .*, line 1, column 1\.$/],
    [{ html: '{{ nothing }}', text: '{% if no %}x{% endif %}' }, /renders to an empty message/],
  ];
  for (const [source, message] of cases) {
    const { status, body } = await send(await templateOf(source), { data: { a: '?' } });
    t.match({ status, ...body }, { status: 400, error: 'validation_failed', message: /^template_id: / });
    t.match(body.message, message);
  }
  t.equal(await queued(), before);
});

t.test('the template comes after the domain and before suppression', async (t) => {
  await api.store.suppressions.addSuppression(tenant.id, {
    ...{ address: 'gone@example.com', reason: 'manual', messageId: null, createdAt: 0 },
  });
  const broken = await templateOf({ text: '{{ "?" | base64_decode }}' });
  for (const id of [broken, NOBODY]) {
    t.match(await send(id, { from: 'a@elsewhere.test' }), { status: 422, body: { error: 'domain_not_verified' } });
    t.match(await send(id, { to: 'gone@example.com' }), { status: 400, body: { error: 'validation_failed' } });
  }
  const good = await templateOf({ text: 'x' });
  t.match(await send(good, { to: 'gone@example.com' }), { status: 422, body: { error: 'all_recipients_suppressed' } });
});

t.test('a replay renders nothing', async (t) => {
  const id = await templateOf({ text: 'once' });
  const headers = { 'Idempotency-Key': 'templated' };
  const first = await send(id, {}, headers);
  await replace(id, { name: 'x', text: '{{ "?" | base64_decode }}' });
  t.same((await send(id, {}, headers)).body, { ...first.body, replayed: true });
  await api.call('DELETE', `/templates/${id}`, { key: tenant.key });
  t.same((await send(id, {}, headers)).body, { ...first.body, replayed: true });
  t.equal((await send(id)).status, 400);
});
