// The Resend door from outside: what it accepts, how it refuses, and that keys, limits, rates and idempotency keys are those
// of our own API. Resend's own SDK is in sdk.test.ts.
import t from 'tap';
import { openContentReader } from '../../../src/store/sqlite/reading/courier-reads.ts';
import type { Attachment, MessageContent } from '../../../src/store/submissions.ts';
import { type ApiAnswer, startApiHarness } from '../../support/api-harness.ts';
import { takeFirstSlot } from '../../support/first-slot.ts';

const api = await startApiHarness({ firstTier: 5 });
t.teardown(() => api.close());
const tenant = await api.addTenant();
await api.addVerifiedDomain(tenant.id, 'acme.test');

const MAIL = { from: 'Shop <shop@acme.test>', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
const NOBODY = '018f0000-0000-7000-8000-000000000000';

type Headers = Record<string, string>;

const post = (path: string, body: unknown, headers: Headers = {}) =>
  api.call('POST', `/resend${path}`, { key: tenant.key, body: body as object, headers });
const send = (change: Record<string, unknown> = {}, headers: Headers = {}) =>
  post('/emails', { ...MAIL, ...change }, headers);

async function messagesOf(submissionId: string): Promise<MessageContent[]> {
  const submission = (await api.store.queue.findSubmission(tenant.id, submissionId))!;
  const reader = openContentReader(api.file);
  const results = await Promise.all(submission.messages.map(({ id }) => reader.read(id)));
  reader.close();
  return results.map((result) => {
    if (result.kind !== 'content') throw new Error(result.reason);
    return result.content;
  });
}

async function sent(change: Record<string, unknown>): Promise<MessageContent[]> {
  const { status, body } = await send(change);
  if (status !== 200) throw new Error(`${status}: ${body.message}`);
  return messagesOf(body.id);
}

async function attachmentsOf({ submissionId }: MessageContent): Promise<Attachment[]> {
  const reader = openContentReader(api.file);
  const attachments = await reader.attachments(tenant.id, submissionId);
  reader.close();
  return attachments;
}

async function waiting(): Promise<number> {
  return (await api.store.queue.listQueue({ tenantId: tenant.id, limit: 10_000 })).length;
}

t.test('a call is answered with the ID of the submission alone', async (t) => {
  const { status, body, headers } = await send();
  t.equal(status, 200);
  t.same(Object.keys(body), ['id']);
  t.equal(headers.get('content-type'), 'application/json');
  t.ok(headers.get('x-request-id') && headers.get('ratelimit-remaining'));
  const own = await api.call('GET', `/submissions/${body.id}`, { key: tenant.key });
  t.match(own.body, { id: body.id, from: 'shop@acme.test', messages: [{ to: 'jo@example.com' }] });
});

t.test('all fields arrive', async (t) => {
  const [first, second, third] = await sent({
    ...{ to: ['Jo <jo@example.com>'], cc: 'c@example.com', bcc: ['b@example.com'], reply_to: 'Desk <desk@other.test>' },
    ...{ html: '<p>Hi</p>', headers: { 'X-Entity-Ref-ID': '7' }, tags: [{ name: 'kind', value: 'welcome' }] },
  });
  t.match(first, {
    ...{ from: { name: 'Shop', address: 'shop@acme.test' }, to: { name: 'Jo' }, html: '<p>Hi</p>', text: 'Hi' },
    headers: [['X-Entity-Ref-ID', '7']],
    lists: { letter: { to: [{ name: 'Jo' }], cc: [{ address: 'c@example.com' }] }, replyTo: [{ name: 'Desk' }] },
  });
  t.same([second!.to.address, third!.to.address], ['c@example.com', 'b@example.com']);
  const message = await api.store.queue.findMessage(tenant.id, first!.messageId);
  t.same(message!.labels, { tags: { kind: 'welcome' }, metadata: null });
});

t.test('several in to are one letter, as nowhere else', async (t) => {
  const to = ['a@example.com', 'B <b@example.com>'];
  const letter = {
    to: [
      { name: null, address: 'a@example.com' },
      { name: 'B', address: 'b@example.com' },
    ],
    cc: [],
  };
  const copies = await sent({ to });
  t.same(
    copies.map(({ lists }) => lists),
    [
      { letter, replyTo: [] },
      { letter, replyTo: [] },
    ],
  );
  for (const alone of ['a@example.com', ['a@example.com'], ['a@example.com', 'A <a@EXAMPLE.com>']]) {
    t.same((await sent({ to: alone }))[0]!.lists, null, 'one recipient needs none');
  }
  const own = await api.call('POST', '/emails', { key: tenant.key, body: { ...MAIL, to } });
  t.same((await messagesOf(own.body.id))[0]!.lists, null);
  const asked = await api.call('POST', '/emails', { key: tenant.key, body: { ...MAIL, to, isLetter: true } });
  t.match(asked, { status: 400, body: { message: /^isLetter: unknown field/ } });
});

t.test('attachments in three encodings, small and large', async (t) => {
  for (const bytes of [Buffer.from([0, 1, 2, 254, 255]), Buffer.alloc(0), Buffer.alloc(700_000, 'postrider')]) {
    const encodings = { base64: bytes.toString('base64'), list: [...bytes], buffer: bytes.toJSON() };
    for (const [name, content] of Object.entries(encodings)) {
      const attachment = { filename: 'a.pdf', content, content_id: 'logo', path: name === 'list' ? '' : null };
      const [message] = await sent({
        attachments: [attachment, { filename: 'b.bin', content: 'AA==', content_type: 'x/y' }],
      });
      const [first, second] = await attachmentsOf(message!);
      t.match(first, { filename: 'a.pdf', contentType: 'application/pdf', contentId: 'logo' });
      t.ok(first!.content.equals(bytes), `${name}, ${bytes.length} bytes`);
      t.match(second, { filename: 'b.bin', contentType: 'x/y', contentId: null, content: Buffer.of(0) });
    }
  }
});

t.test('as the SDK for Go writes it', async (t) => {
  const attachment = { content: [7], filename: 'a.png', inline_content_id: 'logo' };
  const empty = { html: '', reply_to: '', scheduled_at: '' };
  const [message] = await sent({ ...empty, to: ['jo@example.com'], attachments: [attachment] });
  t.match(message, { html: null, text: 'Hi', lists: null });
  t.match(await attachmentsOf(message!), [{ contentId: 'logo', content: Buffer.of(7) }]);
  t.ok(isError(await send({ subject: '' }), 422, 'missing_required_field'));
});

t.test('a template with its variables', async (t) => {
  const template = { name: 'welcome', html: '<p>{{ who }} {{ n }}</p>', text: '{{ who }}', subject: 'For {{ who }}' };
  const { body } = await api.call('POST', '/templates', { key: tenant.key, body: template });
  const { from, to } = MAIL;
  const answer = await post('/emails', { from, to, template: { id: body.id, variables: { who: 'Jo', n: 7 } } });
  t.match(await messagesOf(answer.body.id), [{ subject: 'For Jo', html: '<p>Jo 7</p>', text: 'Jo' }]);
  t.match(await send({ template: { id: NOBODY } }), { status: 400, body: { message: /^template\.id: / } });
  t.match(await send({ template: { id: 'welcome' } }), {
    status: 400,
    body: { message: /^template\.id: must be a UUID/ },
  });
});

function isError({ status, body }: ApiAnswer, statusCode: number, name: string): boolean {
  return (
    status === statusCode && body.statusCode === statusCode && body.name === name && Object.keys(body).length === 3
  );
}

t.test('refusals have the shape and the names that the SDKs know', async (t) => {
  const before = await waiting();
  const attached = (attachment: object) => ({ attachments: [attachment] });
  const url = 'https://example.com/a.pdf';
  const refused: [change: Record<string, unknown>, statusCode: number, name: string, message: RegExp][] = [
    [{ from: null }, 422, 'missing_required_field', /^from: /],
    [{ to: undefined }, 422, 'missing_required_field', /^to: /],
    [{ subject: undefined }, 422, 'missing_required_field', /^subject: /],
    [{ text: undefined }, 422, 'missing_required_field', /^html: /],
    [{ from: 'nobody' }, 422, 'invalid_from_address', /^from: /],
    [{ from: 'a@other.test' }, 403, 'validation_error', /^from: other\.test is not a verified domain/],
    [{ to: 'a@b@c' }, 400, 'validation_error', /^to: /],
    [{ to: Array(51).fill('a@example.com') }, 400, 'validation_error', /^to: /],
    [{ subject: 7 }, 400, 'validation_error', /^subject: must be a string/],
    [{ replyTo: 'a@example.com' }, 400, 'validation_error', /^replyTo: unknown field; did you mean reply_to\?/],
    [{ topic_id: 'x' }, 400, 'validation_error', /^topic_id: topics are not supported/],
    [{ tags: [{ name: 'a b', value: 'c' }] }, 400, 'validation_error', /^tags\[0\]\.name: /],
    [{ headers: { Cc: 'a@example.com' } }, 400, 'validation_error', /use .*cc/],
    [{ scheduled_at: 'tomorrow' }, 400, 'validation_error', /^scheduled_at: write the time as RFC 3339, such as 20/],
    [
      attached({ filename: 'a.pdf', path: url }),
      422,
      'invalid_attachment',
      /^attachments\[0\]\.path: files are not fetched/,
    ],
    [attached({ filename: 'a.pdf' }), 422, 'invalid_attachment', /^attachments\[0\]\.content: this field is required/],
    [attached({ content: 'AA==' }), 422, 'invalid_attachment', /^attachments\[0\]\.filename: this field is required/],
    [attached({ filename: 'a/b', content: 'AA==' }), 422, 'invalid_attachment', /^attachments\[0\]\.filename: /],
    [
      attached({ filename: 'a', content: '!' }),
      422,
      'invalid_attachment',
      /^attachments\[0\]\.content: must be base64/,
    ],
    [
      attached({ filename: 'a', content: [1, 256] }),
      422,
      'invalid_attachment',
      /^attachments\[0\]\.content: must have bytes/,
    ],
    [attached({ filename: 'a', content: 7 }), 422, 'invalid_attachment', /^attachments\[0\]\.content: must be/],
  ];
  for (const [change, statusCode, name, message] of refused) {
    const answer = await send(change);
    t.ok(isError(answer, statusCode, name), `${statusCode} ${name}`, { answer });
    t.match(answer.body.message, message);
  }
  t.equal(await waiting(), before, 'nothing was queued');
});

t.test('as do those before the body', async (t) => {
  const call = (method: string, path: string, key?: string, body?: string) =>
    api.call(method, path, { ...(key && { key }), ...(body && { body }) });
  const emails = '/resend/emails';
  const { key } = tenant;
  t.ok(isError(await call('POST', emails), 401, 'missing_api_key'));
  t.ok(isError(await call('POST', emails, 're_123'), 401, 'invalid_api_key'));
  const reading = await api.addKey(tenant.id, ['domains:write']);
  t.ok(isError(await call('POST', emails, reading), 401, 'restricted_api_key'));
  t.ok(isError(await call('POST', emails, key, '{'), 400, 'validation_error'));
  t.ok(isError(await call('POST', emails, key, '[]'), 400, 'validation_error'));
  t.ok(isError(await call('POST', '/resend/emails/batch', key, '{"emails":[]}'), 400, 'validation_error'));
  t.ok(isError(await call('POST', emails, key, `"${'x'.repeat(5 * 1024 * 1024)}"`), 413, 'validation_error'));
  t.ok(isError(await send({}, { 'Content-Type': 'text/plain' }), 415, 'validation_error'));
  t.ok(isError(await send({}, { 'Idempotency-Key': 'x'.repeat(201) }), 400, 'invalid_idempotency_key'));
  t.ok(isError(await call('GET', `${emails}/7`, key), 422, 'invalid_parameter'));
  t.ok(isError(await call('GET', `${emails}/${NOBODY}`, key), 404, 'not_found'));
  const { id } = await api.addTenant({ status: 'suspended' });
  t.ok(isError(await call('POST', emails, await api.addKey(id), '{}'), 403, 'validation_error'));
  const bound = await api.addKey(tenant.id, undefined, 'other.test');
  t.ok(isError(await call('POST', emails, bound, JSON.stringify(MAIL)), 403, 'validation_error'));
});

t.test('paths and methods that there are not', async (t) => {
  for (const path of ['/resend', '/resend/', '/resend/contacts', '/resend/emails/', '/resend/broadcasts/7']) {
    t.ok(isError(await api.call('GET', path), 404, 'not_found'), path);
    t.ok(isError(await api.call('POST', path, { body: {} }), 404, 'not_found'), path);
  }
  t.ok(
    isError(await api.call('DELETE', '/resend/domains'), 404, 'not_found'),
    'no 405: all that is left out is not found',
  );
  t.match(await api.call('GET', '/resendx'), { status: 404, body: { error: 'not_found' } }, 'not below the door');
});

t.test('a key has one rate over both doors', async (t) => {
  const { key } = await api.addTenant({ tier: '1k' });
  for (let call = 0; call < 3; call++) t.equal((await api.call('GET', '/domains', { key })).status, 200);
  const last = await api.call('POST', '/resend/emails/batch', { key, body: [MAIL, MAIL] });
  t.equal(last.headers.get('ratelimit-remaining'), '0', 'a batch counts its emails');
  const refused = await api.call('GET', '/resend/domains', { key });
  t.ok(isError(refused, 429, 'rate_limit_exceeded'));
  t.ok(Number(refused.headers.get('retry-after')) >= 1);
});

t.test('idempotency keys are one namespace over both doors', async (t) => {
  const keyed = { 'Idempotency-Key': 'order-1' };
  const first = await send({}, keyed);
  t.same((await send({ subject: 'Other' }, keyed)).body, first.body, 'a repeated call gets the first answer');
  const own = await api.call('POST', '/emails', { key: tenant.key, body: MAIL, headers: keyed });
  t.match(
    own,
    { status: 202, body: { id: first.body.id, message_ids: [String], replayed: true } },
    'in the shape of the door',
  );
  t.ok(isError(await post('/emails/batch', [MAIL], keyed), 400, 'invalid_idempotent_request'));

  const batchKeyed = { 'Idempotency-Key': 'orders-1' };
  const body = { emails: [MAIL, { ...MAIL, to: 'x' }], on_error: 'skip' };
  const batch = await api.call('POST', '/emails/batch', { key: tenant.key, body, headers: batchKeyed });
  const replay = await post('/emails/batch', [MAIL], batchKeyed);
  t.match(replay, {
    status: 200,
    body: { data: [{ id: batch.body.results[0].id }], errors: [{ index: 1, message: /^to: / }] },
  });
  t.ok(isError(await send({}, batchKeyed), 400, 'invalid_idempotent_request'));
});

t.test('a batch', async (t) => {
  const good = { ...MAIL, to: ['a@example.com', 'b@example.com'], attachments: [{ filename: 'a', content: [1, 2] }] };
  const { status, body } = await post('/emails/batch', [MAIL, good]);
  t.equal(status, 200);
  t.match(body, { data: [{ id: String }, { id: String }] });
  t.same(Object.keys(body), ['data']);
  const [letter] = await messagesOf(body.data[1].id);
  t.equal(letter!.lists!.letter!.to.length, 2);
  t.same((await attachmentsOf(letter!))[0]!.content, Buffer.of(1, 2));

  const before = await waiting();
  const bad = { ...MAIL, attachments: [{ filename: 'a', path: '/etc/passwd' }] };
  const refused = await post('/emails/batch', [MAIL, bad]);
  t.ok(isError(refused, 422, 'invalid_attachment'));
  t.match(refused.body.message, /^Email 1 of the batch, counted from 0: attachments\[0\]\.path: /);
  t.ok(isError(await post('/emails/batch', Array(101).fill(MAIL)), 400, 'validation_error'));
  t.ok(isError(await post('/emails/batch', []), 400, 'validation_error'));
  t.ok(isError(await post('/emails/batch', [7]), 400, 'validation_error'));
  t.ok(isError(await post('/emails/batch', [MAIL], { 'x-batch-validation': 'lenient' }), 400, 'validation_error'));
  t.equal(await waiting(), before);

  const permissive = { 'x-batch-validation': 'permissive' };
  const some = await post('/emails/batch', [bad, MAIL, { ...MAIL, from: 'a@other.test' }, null], permissive);
  t.equal(some.status, 200);
  t.match(some.body, {
    data: [{ id: String }],
    errors: [
      { index: 0, message: /^attachments\[0\]\.path: / },
      { index: 2, message: /^from: other\.test/ },
      { index: 3, message: /must be an object, not null\.$/ },
    ],
  });
  t.match(await post('/emails/batch', [MAIL], permissive), { body: { data: [{ id: String }], errors: [] } });
});

t.test('a large batch is translated as well', async (t) => {
  const content = [...Buffer.alloc(30_000, 'postrider')];
  const batch = [1, 2, 3].map(() => ({ ...MAIL, attachments: [{ filename: 'a', content }] }));
  const { body } = await post('/emails/batch', batch);
  const [message] = await messagesOf(body.data[2].id);
  t.ok((await attachmentsOf(message!))[0]!.content.equals(Buffer.from(content)));
  const large = { scheduled_at: ' '.repeat(70_000) };
  t.match(await send(large), { status: 400, body: { message: /^scheduled_at: must have at most 100 characters/ } });
});

t.test('variables of a template may be many', async (t) => {
  const template = { name: 'many', text: '{{ numbers | size }} {{ who }}' };
  const { body } = await api.call('POST', '/templates', { key: tenant.key, body: template });
  const variables = { numbers: Array(200_000).fill(7), who: 'Jo' };
  t.match(await sent({ template: { id: body.id, variables } }), [{ text: '200000 Jo' }]);
  const objects = { numbers: Array(20_000).fill({ n: [7] }), who: 'Jo' };
  t.match(await sent({ template: { id: body.id, variables: objects } }), [{ text: '20000 Jo' }]);
  const batch = Array.from({ length: 100 }, (_, n) => ({
    ...MAIL,
    template: { id: body.id, variables: { numbers: Array(60).fill({ a: 'x', b: 'y' }), who: `No. ${n}` } },
  }));
  const ids = (await post('/emails/batch', batch)).body.data;
  t.match(await messagesOf(ids[99].id), [{ text: '60 No. 99' }]);
  const list = { ...MAIL, template: { id: body.id, variables: [objects] } };
  const expected = { status: 400, body: { message: /^template\.variables: must be an object/ } };
  t.match(await post('/emails', list), expected);
  const deep = `{"from":"a@acme.test","to":"b@acme.test","subject":"x","template":{"id":"${body.id}","variables":{"a":`;
  const nested = `${deep}${'['.repeat(9000)}${']'.repeat(9000)}}}}`;
  const answer = await api.call('POST', '/resend/emails', { key: tenant.key, body: nested });
  t.ok(isError(answer, 400, 'validation_error'), answer.body.message);
});

t.test('mail for later', async (t) => {
  const later = new Date(Date.now() + 7_200_000).toISOString();
  const scheduledAt = async (id: string) => (await api.store.queue.findSubmission(tenant.id, id))!.sendAt;
  const { body } = await send({ scheduled_at: later });
  t.equal(await scheduledAt(body.id), Date.parse(later));
  const path = `/resend/emails/${body.id}`;
  const update = (scheduled_at: unknown, key = tenant.key, more = {}) =>
    api.call('PATCH', path, { key, body: { scheduled_at, ...more } });
  const before = Date.now();
  const moved = await update('in 3 days', tenant.key, { id: body.id });
  t.match(moved, { status: 200, body: { object: 'email', id: body.id } });
  const wait = (await scheduledAt(body.id))! - before - 3 * 86_400_000;
  t.ok(wait >= 0 && wait <= Date.now() - before);

  const refused = async (scheduled_at: unknown, message: RegExp, statusCode = 400, name = 'validation_error') => {
    for (const answer of [await update(scheduled_at), ...(scheduled_at ? [await send({ scheduled_at })] : [])]) {
      t.ok(isError(answer, statusCode, name), answer.body.message);
      t.match(answer.body.message, message);
    }
  };
  await refused('tomorrow at 9am', /^scheduled_at: write the time as RFC 3339, such as 20/);
  await refused('in 31 days', /^scheduled_at: must be at most 30 days ahead/);
  await refused('2020-01-01T00:00:00Z', /^scheduled_at: is more than 5 minutes in the past/);
  await refused('2026-13-45', /^scheduled_at: must be an RFC 3339 time/);
  await refused(null, /^scheduled_at: this field is required/, 422, 'missing_required_field');
  const bound = await api.addKey(tenant.id, undefined, 'other.test');
  t.ok(isError(await update('in 1 day', bound), 403, 'validation_error'));
  t.ok(isError(await update('in 1 day', await api.addKey(tenant.id, [])), 401, 'restricted_api_key'));
  const { key: stranger } = await api.addTenant();
  t.ok(isError(await update('in 1 day', stranger), 404, 'not_found'));
  t.ok(isError(await api.call('POST', `${path}/cancel`, { key: stranger }), 404, 'not_found'));

  const batch = await post('/emails/batch', [MAIL, { ...MAIL, scheduled_at: 'in 5 minutes' }]);
  t.same(await scheduledAt(batch.body.data[0].id), null);
  t.ok(await scheduledAt(batch.body.data[1].id));

  const cancel = (id: string) => api.call('POST', `/resend/emails/${id}/cancel`, { key: tenant.key });
  t.match(await cancel(body.id), { status: 200, body: { object: 'email', id: body.id } });
  t.ok(isError(await update('in 1 day'), 409, 'validation_error'), 'nothing is scheduled any more');
  const [lane] = await api.store.queue.dueLanes([1]);
  const { messages } = await api.store.queue.claim(lane!.lane, 1000, {
    owner: await takeFirstSlot(api.store),
    now: Date.now(),
    dueAgainAt: [Date.now() + 1000],
  });
  const onTheWire = (await api.store.queue.findMessage(tenant.id, messages[0]!.id))!;
  const [last] = await api.store.audit.listAudit(tenant.id, { before: null, limit: 1 });
  t.ok(isError(await cancel(onTheWire.submissionId), 409, 'validation_error'), 'too late');
  t.same(await api.store.audit.listAudit(tenant.id, { before: null, limit: 1 }), [last], 'and not in the audit log');
});
