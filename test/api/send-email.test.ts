// POST /emails from outside: what is taken, what is refused, and in which words.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { startApiHarness } from '../support/api-harness.ts';

const api = await startApiHarness();
t.teardown(() => api.close());
const tenant = await api.addTenant();
await api.addVerifiedDomain(tenant.id, 'acme.test');
await api.addVerifiedDomain(tenant.id, 'xn--bcher-kva.test');

const MAIL = { from: 'shop@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };

function send(change: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  return api.call('POST', '/emails', { key: tenant.key, body: { ...MAIL, ...change }, headers });
}

async function recipientsOf(messageIds: string[]): Promise<(string | undefined)[]> {
  const messages = await Promise.all(messageIds.map((id) => api.store.queue.getMessage(id)));
  return messages.map((message) => message?.recipient);
}

t.test('a message is taken, stored and shown', async (t) => {
  const { status, body } = await send({ from: 'Shop <shop@acme.test>', html: '<p>Hi</p>', headers: { 'X-Tag': 'é' } });
  t.equal(status, 202);
  t.same(Object.keys(body), ['id', 'message_ids', 'rejected', 'replayed']);
  t.equal(body.message_ids.length, 1);
  t.same(body.rejected, []);
  t.equal(body.replayed, false);
  const [id] = body.message_ids;
  const shown = await api.call('GET', `/emails/${id.toUpperCase()}`, { key: tenant.key });
  t.match(shown.body, {
    id,
    submission_id: body.id,
    state: 'queued',
    from: 'shop@acme.test',
    to: 'jo@example.com',
    subject: 'Hello',
    created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  });
  t.same(shown.body.events, []);
  t.ok(
    api.notices.some(({ domain }) => domain === 'example.com'),
    'the scheduler is told',
  );
  t.ok(
    api.log.some(({ facts }) => facts.message_id === id && facts.fact === 'accepted'),
    'the log tells of it',
  );
});

t.test('one message per distinct recipient, in the order of to', async (t) => {
  const to = ['B <b@Example.com>', 'a@example.com', 'b@example.COM', 'B@example.com', '"a"@example.com'];
  const { status, body } = await send({ to });
  t.equal(status, 202);
  t.same(await recipientsOf(body.message_ids), ['b@Example.com', 'a@example.com', 'B@example.com']);
});

t.test('fifty entries are the limit, counted before duplicates are merged', async (t) => {
  const fifty = Array.from({ length: 50 }, (_, n) => `u${n}@example.com`);
  t.equal((await send({ to: fifty })).body.message_ids.length, 50);
  const merged = await send({ to: Array(50).fill('jo@example.com') });
  t.equal(merged.body.message_ids.length, 1);
  const { status, body } = await send({ to: Array(51).fill('jo@example.com') });
  t.equal(status, 400);
  t.match(body.message, /^to: .*at most 50 entries, not 51/);
});

t.test('a comma in a name makes no list', async (t) => {
  for (const to of [
    'Doe, Jo <jo@example.com>',
    'Jo <a@x.test>, Ann <jo@example.com>',
    '"Jo; a@x.test" <jo@example.com>',
    '"a,b"@example.com',
  ]) {
    t.equal((await send({ to })).status, 202, to);
  }
});

t.test('what is refused names the field', async (t) => {
  const cases: [change: Record<string, unknown>, message: RegExp][] = [
    [{ subjct: 'x' }, /^subjct: unknown field; did you mean subject\?$/],
    [{ form: 'x' }, /^form: unknown field; did you mean from\?$/],
    [{ HTML: 'x' }, /^HTML: unknown field; did you mean html\?$/],
    [{ ['x'.repeat(100_000)]: 1 }, /^x{60}…: unknown field; known fields are/],
    [{ zzzzzz: 1 }, /^zzzzzz: unknown field; known fields are from, to/],
    [JSON.parse('{"__proto__": {"subject": "x"}}'), /^__proto__: unknown field/],
    [{ constructor: 'x' }, /^constructor: unknown field/],
    [{ refused: 'internal_error' }, /^refused: unknown field/],
    [{ from: null }, /^from: this field is required/],
    [{ from: undefined }, /^from: this field is required/],
    [{ to: undefined }, /^to: this field is required/],
    [{ subject: undefined }, /^subject: this field is required/],
    [{ from: 5 }, /^from: must be a string, not a number/],
    [{ from: '' }, /^from: must not be empty/],
    [{ from: 'nobody' }, /^from: the address has no @/],
    [{ from: 'a@[192.0.2.1]' }, /^from: addresses with an IP address/],
    [{ from: 'a@localhost' }, /^from: the domain must have at least two labels/],
    [{ to: ['ann@x.test', 'user@127.0.0.1'] }, /^to\[1\]: the domain looks like an IP address/],
    [{ from: 'a@b.test, c@d.test' }, /^from: /],
    [{ to: {} }, /^to: must be a string or an array, not an object/],
    [{ to: [] }, /^to: must have at least one entry/],
    [{ to: ['a@example.com', 7] }, /^to\[1\]: must be a string, not a number/],
    [{ to: ['a@example.com', null] }, /^to\[1\]: must be a string, not null/],
    [{ to: ['a@example.com', 'b@example.com', 'c'] }, /^to\[2\]: the address has no @/],
    [{ to: 'c' }, /^to: the address has no @/],
    [{ to: 'a@x.test,b@x.test' }, /^to: must hold one address per entry; pass several as an array: \["a@/],
    [{ to: 'a@x.test; "b,c"@x.test' }, /^to: the address has more than one @/],
    [{ to: 'Jo <a@x.test>; Ann <b@x.test>;' }, /^to: must hold one address per entry/],
    [{ to: 'Jo <a@x.test>, b@x.test' }, /^to: must hold one address per entry/],
    [{ to: ['a@x.test', 'b@x.test, c@x.test'] }, /^to\[1\]: must hold one address per entry/],
    [{ to: 'a@x.test,nobody' }, /^to: the domain/],
    [{ to: 'Jo\r\nBcc: x@y.test <jo@example.com>' }, /^to: the name contains a control character/],
    [{ to: 'Jo \ud800 <jo@example.com>' }, /^to: the name is not valid Unicode/],
    [{ to: '\udfffjo@example.com' }, /^to: the address is not valid Unicode/],
    [{ subject: '' }, /^subject: must not be empty/],
    [{ subject: 'x'.repeat(999) }, /^subject: must have at most 998 characters, not 999/],
    [{ subject: 'a\r\nBcc: x@y.test' }, /^subject: must not contain control characters/],
    [{ subject: 'a\u0085b' }, /^subject: must not contain control characters/],
    [{ subject: 'a\ud83d' }, /^subject: must be valid Unicode/],
    [{ text: null }, /^html: at least one of html and text/],
    [{ text: '', html: '' }, /^html: at least one of html and text/],
    [{ html: ['x'] }, /^html: must be a string, not an array/],
    [{ html: '\udc00' }, /^html: must be valid Unicode/],
    [{ text: '\udc00' }, /^text: must be valid Unicode/],
    [{ template_id: 'x' }, /^template_id: must be a UUID/],
    [{ template_id: '018f0000-0000-7000-8000-000000000000' }, /^template_id: template not found/],
    [{ template_id: '018f0000-0000-7000-8000-000000000000', data: [] }, /^data: must be an object/],
    [{ headers: [] }, /^headers: must be an object, not an array/],
    [{ headers: { 'X-A': 1 } }, /^headers\.X-A: must be a string, not a number/],
    [{ headers: { 'X-A': 'a\nb' } }, /^headers: X-A: The value contains a CR, LF or NUL/],
    [{ headers: { 'X-A': '\ud800' } }, /^headers\.X-A: must be valid Unicode/],
    [{ headers: { 'X A': 'b' } }, /^headers: X A: /],
    [{ headers: { bcc: 'x@y.test' } }, /^headers: bcc: .*can't be set/],
    [{ headers: { 'MESSAGE-ID': 'x' } }, /^headers: MESSAGE-ID: .*can't be set/],
    [{ headers: { 'ARC-Seal': 'x' } }, /^headers: ARC-Seal: .*can't be set/],
    [{ headers: { 'X-A': 'x'.repeat(500), 'x-a': 'y' } }, /^headers: x-a: .*twice/],
    [{ headers: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`X-${n}`, 'v'])) }, /^headers: .*limit is 50/],
  ];
  for (const [change, message] of cases) {
    const { status, body } = await send(change);
    t.match({ status, ...body }, { status: 400, error: 'validation_failed', message }, JSON.stringify(change));
  }
});

t.test('what looks odd and is right is taken', async (t) => {
  const changes: Record<string, unknown>[] = [
    { subject: 'x'.repeat(998) },
    { subject: '👩‍👩‍👧'.repeat(100) },
    { subject: '{{ literal }}' },
    { from: '"Müller, Jo" <shop@ACME.test>' },
    { from: 'shop@bücher.test' },
    { to: '用户@例子.example' },
    { to: 'a <b> c <jo@example.com>' },
    { text: null, html: '<p>only</p>' },
    { text: '', html: '<p>only</p>' },
    { data: 'not looked at' },
    { data: null, template_id: null, headers: null },
    { headers: { 'X-A': null, 'List-Unsubscribe': '<https://acme.test/u>' } },
    { headers: JSON.parse('{"__proto__": "a header name like any other"}') },
    { subjct: null },
  ];
  for (const change of changes) t.equal((await send(change)).status, 202, JSON.stringify(change));
});

t.test('the from domain is exactly a verified one of the tenant', async (t) => {
  const other = await api.addTenant();
  await api.addVerifiedDomain(other.id, 'theirs.test');
  for (const from of ['a@sub.acme.test', 'a@unknown.test', 'a@theirs.test']) {
    const { status, body } = await send({ from });
    t.match({ status, ...body }, { status: 422, error: 'domain_not_verified', message: /^from: / }, from);
  }
});

t.test('the refusal of a domain says what is next to do', async (t) => {
  const refusal = async (domain: string) => (await send({ from: `a@${domain}` })).body.message;
  t.equal(
    await refusal('unknown.test'),
    'from: unknown.test is not a verified domain of your account. Register it with POST /domains and verify it.',
  );
  const { id } = (await api.call('POST', '/domains', { key: tenant.key, body: { domain: 'pending.test' } })).body;
  const step = `publish its records and verify it with POST /domains/${id}/verify.`;
  t.match(await refusal('pending.test'), `It is registered and pending: ${step}`);
  await api.store.domains.recordVerdict(tenant.id, id, { state: 'failed', failureReason: 'not_found', checkedAt: 1 });
  t.match(await refusal('pending.test'), `It is registered and failed: ${step}`);
  await api.call('DELETE', `/domains/${id}`, { key: tenant.key });
  t.match(await refusal('pending.test'), 'Register it with POST /domains');
});

t.test('a compressed body is refused by the name of its encoding', async (t) => {
  const post = (body: Buffer, encoding: string) =>
    api.call('POST', '/emails', { key: tenant.key, body, headers: { 'Content-Encoding': encoding } });
  const json = JSON.stringify(MAIL);
  const message = 'Content-Encoding gzip is not supported. Send the body uncompressed, without that header.';
  const refused = { status: 400, body: { error: 'invalid_json', message } };
  t.match(await post(gzipSync(json), 'gzip'), refused);
  const large = randomBytes(100_000).toString('base64');
  t.match(await post(gzipSync(JSON.stringify({ ...MAIL, text: large })), 'gzip'), refused, 'in a thread');
  t.equal((await post(Buffer.from(json), 'identity')).status, 202);
});

t.test('a key that is bound to a domain sends from no other', async (t) => {
  const key = await api.addKey(tenant.id, ['emails:send'], 'acme.test');
  const call = (from: string) => api.call('POST', '/emails', { key, body: { ...MAIL, from } });
  t.equal((await call('a@acme.test')).status, 202);
  t.match(await call('a@xn--bcher-kva.test'), { status: 403, body: { error: 'domain_not_allowed' } });
  t.match(await call('a@unknown.test'), { status: 403, body: { error: 'domain_not_allowed' } }, 'before the 422');
});

t.test('suppressed recipients are rejected, the rest is queued', async (t) => {
  const entry = { reason: 'complaint' as const, messageId: null, createdAt: 0 };
  await api.store.suppressions.addSuppression(tenant.id, { address: 'stop@example.com', ...entry });
  const rule = { mxGroup: null, rule: 'test', messageId: null, createdAt: 0, expiresAt: Date.now() + 60_000 };
  await api.store.suppressions.addPlatformSuppression({ address: 'gone@example.com', ...rule });
  const { body } = await send({
    to: ['X <STOP@Example.com>', 'ok@example.com', 'stop@example.com', 'gone@example.com'],
  });
  t.same(body.rejected, [
    { to: 'STOP@Example.com', reason: 'complaint' },
    { to: 'stop@example.com', reason: 'complaint' },
    { to: 'gone@example.com', reason: 'hard_bounce' },
  ]);
  t.same(await recipientsOf(body.message_ids), ['ok@example.com']);
  const all = await send({ to: ['stop@example.com', 'gone@example.com'] });
  t.match(all, { status: 422, body: { error: 'all_recipients_suppressed' } });
  const [ownWords, platformWords] = [
    'Remove the entries from your suppression list if they are wrong.',
    `gone@example.com is on the service-wide list of nonexistent mailboxes until ${new Date(rule.expiresAt).toISOString().slice(0, 10)}. If that is wrong, contact the operator.`,
  ];
  const because = (reasons: string) => `to: every recipient is suppressed (${reasons}), so nothing was queued.`;
  t.equal(all.body.message, `${because('complaint, hard_bounce')} ${ownWords} ${platformWords}`);
  const own = await send({ to: 'stop@example.com' });
  t.equal(own.body.message, `${because('complaint')} ${ownWords}`);
  const ofPlatform = await send({ to: 'gone@example.com' });
  t.equal(ofPlatform.body.message, `${because('hard_bounce')} ${platformWords}`, 'there is nothing to remove');
  const other = await api.addTenant();
  await api.addVerifiedDomain(other.id, 'other.test');
  const theirs = await api.call('POST', '/emails', {
    key: other.key,
    body: { ...MAIL, from: 'a@other.test', to: 'stop@example.com' },
  });
  t.equal(theirs.status, 202, "one tenant's list does not stop another's mail");
});
