// The order of checks, pair by pair: each call below has two faults, and the answer tells of
// the one that comes first. Then the shapes of answers that no endpoint has a say in.
import t from 'tap';
import { Fault } from '../../src/base/errors.ts';
import type { HttpEngineName } from '../../src/http/http.ts';
import type { Store } from '../../src/store/store.ts';
import { SCOPES } from '../../src/store/tenants.ts';
import { startApiHarness } from '../support/api-harness.ts';
import { RawHttp } from '../support/raw-http.ts';

const clock = { at: Date.now(), now: () => clock.at };
let storeIsBroken = false;
let storeIsAway = false;
const breakable = (store: Store): Store => ({
  ...store,
  domains: {
    ...store.domains,
    listDomains: (...args) =>
      storeIsAway ? Promise.reject(new Fault('the database could not be used')) : store.domains.listDomains(...args),
    findVerifiedDomain: (...args) =>
      storeIsBroken
        ? Promise.reject(new Error('disk on fire at /var/secret'))
        : store.domains.findVerifiedDomain(...args),
  },
});
const api = await startApiHarness({ clock, firstTier: 20, wrapStore: breakable });
t.teardown(() => api.close());
const tenant = await api.addTenant();
const asleep = await api.addTenant({ status: 'suspended' });
const limited = await api.addTenant({ tier: '1k' });
const domainId = await api.addVerifiedDomain(tenant.id, 'acme.test');
await api.addVerifiedDomain(tenant.id, 'second.test');
await api.store.suppressions.addSuppression(tenant.id, {
  address: 'no@example.com',
  reason: 'manual',
  messageId: null,
  createdAt: 0,
});

const MAIL = { from: 'a@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' };
const TOO_LARGE = Buffer.alloc(5 * 1024 * 1024 + 1, ' ');
const NO_TEMPLATE = '018f0000-0000-7000-8000-000000000000';

t.test('order of checks', async (t) => {
  const noScope = await api.addKey(tenant.id, []);
  const bound = await api.addKey(tenant.id, ['emails:send', 'domains:write'], 'second.test');
  const exhausted = await api.addKey(limited.id, []);
  await Promise.all(Array.from({ length: 20 }, () => api.call('GET', '/domains', { key: exhausted })));
  const retired = await api.addTenant({ tier: '1k' });
  await Promise.all(Array.from({ length: 21 }, () => api.call('GET', '/domains', { key: retired.key })));
  await api.store.tenants.updateTenant(retired.id, { status: 'in_review' });
  const BAD_IDEMPOTENCY = { 'Idempotency-Key': '' };
  const PLAIN = { 'Content-Type': 'text/plain' };
  const NONSENSE = { Authorization: 'Basic x' };

  const cases: [first: string, method: string, path: string, options: Parameters<typeof api.call>[2]][] = [
    ['not_found', 'GET', '/nowhere', { headers: NONSENSE }],
    ['method_not_allowed', 'PUT', '/emails', { headers: NONSENSE, body: TOO_LARGE }],
    ['missing_or_malformed_authorization', 'POST', '/emails', { body: '{', headers: PLAIN }],
    ['missing_or_malformed_authorization', 'GET', '/domains/x', {}],
    ['invalid_api_key', 'GET', '/domains/x', { key: 'pr_x_y' }],
    ['tenant_not_active', 'POST', '/emails', { key: asleep.key, headers: BAD_IDEMPOTENCY, body: '{' }],
    ['tenant_not_active', 'GET', '/domains', { key: retired.key }],
    ['rate_limited', 'POST', '/emails', { key: exhausted, body: MAIL }],
    ['scope_required', 'POST', '/emails', { key: noScope, headers: BAD_IDEMPOTENCY, body: MAIL }],
    ['scope_required', 'DELETE', '/domains/x', { key: noScope }],
    ['validation_failed', 'POST', '/emails', { key: tenant.key, headers: { ...BAD_IDEMPOTENCY, ...PLAIN }, body: '{' }],
    ['invalid_id', 'POST', '/domains/x/verify', { key: tenant.key, body: TOO_LARGE }],
    ['unsupported_media_type', 'POST', '/emails', { key: tenant.key, headers: PLAIN, body: TOO_LARGE }],
    ['request_too_large', 'POST', '/emails', { key: tenant.key, body: TOO_LARGE }],
    ['invalid_json', 'POST', '/emails', { key: tenant.key, body: '{"from": 1,}' }],
    ['validation_failed', 'POST', '/emails', { key: bound, body: { ...MAIL, from: 'a@nobody.test', subject: '' } }],
    ['domain_not_allowed', 'POST', '/emails', { key: bound, body: { ...MAIL, from: 'a@nobody.test' } }],
    [
      'domain_not_verified',
      'POST',
      '/emails',
      { key: tenant.key, body: { ...MAIL, from: 'a@nobody.test', template_id: NO_TEMPLATE } },
    ],
    [
      'validation_failed',
      'POST',
      '/emails',
      { key: tenant.key, body: { ...MAIL, to: 'no@example.com', template_id: NO_TEMPLATE } },
    ],
    ['all_recipients_suppressed', 'POST', '/emails', { key: tenant.key, body: { ...MAIL, to: 'no@example.com' } }],
    ['validation_failed', 'POST', '/domains', { key: bound, body: { domain: 'UPPER.test' } }],
    ['domain_not_allowed', 'POST', '/domains', { key: bound, body: { domain: 'acme.test' } }],
    ['domain_not_found', 'DELETE', `/domains/${NO_TEMPLATE}`, { key: bound }],
    ['domain_not_allowed', 'DELETE', `/domains/${domainId}`, { key: bound }],
    ['domain_not_allowed', 'POST', `/domains/${domainId}/verify`, { key: bound }],
  ];
  for (const [first, method, path, options] of cases) {
    const { body } = await api.call(method, path, options);
    t.equal(body.error, first, `${method} ${path} ${JSON.stringify(body)}`);
  }
});

t.test('every authenticated call counts, also of a tenant that is not active', async (t) => {
  const { key } = await api.addTenant({ tier: '1k', status: 'suspended' });
  const ask = async () => (await api.call('GET', '/domains', { key })).headers;
  const left = async () => Number((await ask()).get('ratelimit-remaining'));
  const first = await left();
  t.ok(first > 0 && (await left()) < first, `${first}, and then less`);
  await Promise.all(Array.from({ length: 20 }, ask));
  const spent = await api.call('GET', '/domains', { key });
  t.match(spent, { status: 403, body: { error: 'tenant_not_active' } });
  t.equal(spent.headers.get('ratelimit-remaining'), '0');
  t.equal(spent.headers.get('retry-after'), null, 'waiting does not help');
});

t.test('the Authorization header', async (t) => {
  const ask = async (authorization: string) =>
    (await api.call('GET', '/domains', { headers: { Authorization: authorization } })).body.error;
  for (const header of ['', 'Bearer', 'Bearer ', `Basic ${tenant.key}`, tenant.key, `Bearer${tenant.key}`]) {
    t.equal(await ask(header), 'missing_or_malformed_authorization', header);
  }
  const [, publicId] = tenant.key.split('_');
  for (const token of [
    'x',
    '{}',
    `${tenant.key}x`,
    tenant.key.slice(0, -1),
    `pr_${publicId}_${'a'.repeat(43)}`,
    'a b',
  ]) {
    t.equal(await ask(`Bearer ${token}`), 'invalid_api_key', token);
  }
  t.equal(await ask(`bEARER   ${tenant.key}`), undefined, 'the scheme is compared without case');
  const { headers } = await api.call('GET', '/domains');
  t.equal(headers.get('www-authenticate'), 'Bearer');
  const revoked = await api.addKey(tenant.id);
  const { id } = (await api.store.keys.listApiKeys(tenant.id)).at(-1)!;
  t.equal(await ask(`Bearer ${revoked}`), undefined);
  await api.store.keys.revokeApiKey(tenant.id, id, 1);
  t.equal(await ask(`Bearer ${revoked}`), 'invalid_api_key', 'from the next call on');
});

t.test('every scope opens its endpoints and no other', async (t) => {
  const endpoints: [method: string, path: string, scope: string | null][] = [
    ['POST', '/emails', 'emails:send'],
    ['POST', '/domains', 'domains:write'],
    ['POST', `/domains/${NO_TEMPLATE}/verify`, 'domains:write'],
    ['DELETE', `/domains/${NO_TEMPLATE}`, 'domains:write'],
    ['GET', '/domains', null],
    ['GET', `/domains/${NO_TEMPLATE}`, null],
    ['GET', '/events', null],
    ['GET', `/emails/${NO_TEMPLATE}`, null],
  ];
  for (const held of SCOPES) {
    const key = await api.addKey(tenant.id, [held]);
    for (const [method, path, scope] of endpoints) {
      const body = method === 'POST' && !path.endsWith('verify') ? {} : undefined;
      const { body: answer } = await api.call(method, path, { key, body });
      t.equal(answer.error === 'scope_required', scope !== null && scope !== held, `${held}: ${method} ${path}`);
    }
  }
});

t.test('rate: headers on every answer, 429, and the next call after the pause', async (t) => {
  const key = await api.addKey(limited.id);
  const first = await api.call('GET', '/domains', { key });
  t.equal(first.headers.get('ratelimit-limit'), '20');
  t.equal(first.headers.get('ratelimit-remaining'), '19');
  t.equal(first.headers.get('ratelimit-reset'), '3');
  await Promise.all(Array.from({ length: 19 }, () => api.call('GET', '/domains', { key })));
  const refused = await api.call('POST', '/emails', { key, body: MAIL });
  t.equal(refused.status, 429);
  t.same(refused.body, {
    error: 'rate_limited',
    message: 'key has exceeded its allowed request rate',
    retry_after_secs: 3,
  });
  t.equal(refused.headers.get('retry-after'), '3');
  t.equal(refused.headers.get('ratelimit-remaining'), '0');
  clock.at += 2000;
  t.equal((await api.call('GET', '/domains', { key })).headers.get('retry-after'), '1');
  clock.at += 1000;
  t.equal((await api.call('GET', '/domains', { key })).status, 200);
  const uncapped = await api.call('GET', '/domains', { key: tenant.key });
  t.ok(Number(uncapped.headers.get('ratelimit-limit')) > 1_000_000, 'no cap');
  const failed = await api.call('POST', '/emails', { key: tenant.key, body: '{' });
  t.ok(failed.headers.has('ratelimit-remaining'), 'refusals carry them too');
});

t.test('a large body is paid for when it is there: a token for each full 64 KiB', async (t) => {
  const PIECE = 64 * 1024;
  const padded = (bytes: number) => JSON.stringify(MAIL).padEnd(bytes, ' ');
  const remainingAfter = async (bytes: number) => {
    const key = await api.addKey(limited.id);
    const answer = await api.call('POST', '/emails', { key, body: padded(bytes) });
    return answer.headers.get('ratelimit-remaining');
  };
  t.equal(await remainingAfter(PIECE - 1), '19');
  t.equal(await remainingAfter(PIECE), '18');
  t.equal(await remainingAfter(PIECE * 2 - 1), '18');
  t.equal(await remainingAfter(PIECE * 10), '9');
  const key = await api.addKey(limited.id);
  const largest = await api.call('POST', '/emails', { key, body: padded(PIECE * 80) });
  t.equal(largest.headers.get('ratelimit-remaining'), '0');
  t.equal(largest.headers.get('ratelimit-reset'), '243', '81 tokens, one in three seconds');
  const next = await api.call('GET', '/domains', { key });
  t.match(next, { status: 429, body: { retry_after_secs: 186 } }, 'until one of them is back');
  clock.at += 185_000;
  t.equal((await api.call('GET', '/domains', { key })).headers.get('retry-after'), '1');
  clock.at += 1000;
  t.equal((await api.call('GET', '/domains', { key })).status, 200);
  const refused = await api.call('POST', '/emails', { key: await api.addKey(limited.id), body: TOO_LARGE });
  t.equal(refused.headers.get('ratelimit-remaining'), '19', 'what is refused by its length is not read');
});

t.test('bodies', async (t) => {
  const send = (body: unknown, contentType = 'application/json') =>
    api.call('POST', '/emails', { key: tenant.key, body, headers: { 'Content-Type': contentType } });
  for (const contentType of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;v=1']) {
    t.equal((await send(MAIL, contentType)).status, 202, contentType);
  }
  for (const contentType of ['text/json', 'application/json-patch+json', 'application/x-www-form-urlencoded', ' ']) {
    t.equal((await send(MAIL, contentType)).body.error, 'unsupported_media_type', contentType);
  }
  const asBytes = (text: string) => Buffer.from(text);
  const broken = [asBytes(''), asBytes('{'), Buffer.from([0x22, 0xff, 0x22]), asBytes('\ufeff{}'), asBytes('{"a":1}x')];
  for (const body of broken) t.equal((await send(body)).body.error, 'invalid_json', String(body));
  const { body: placed } = await send('{"from": "secret-value" oops}');
  t.match(placed.message, /position 24/);
  t.notMatch(placed.message, /secret|oops/, 'the place, not the content');
  for (const body of ['null', '[]', '"x"', '5', 'true']) {
    t.match(
      (await send(body)).body,
      { error: 'validation_failed', message: 'The request body must be a JSON object.' },
      body,
    );
  }
  const full = { ...MAIL, text: 'x'.repeat(5 * 1024 * 1024 - JSON.stringify(MAIL).length + 2) };
  t.equal(JSON.stringify(full).length, 5 * 1024 * 1024);
  t.equal((await send(full)).status, 202, 'exactly 5 MiB');
  t.equal((await api.call('DELETE', `/domains/${NO_TEMPLATE}`, { key: tenant.key, body: TOO_LARGE })).status, 413);
});

t.test('paths, methods and HEAD', async (t) => {
  const wrong = await api.call('PATCH', '/domains');
  t.equal(wrong.status, 405);
  t.equal(wrong.headers.get('allow'), 'GET, HEAD, POST');
  t.equal((await api.call('OPTIONS', '/domains/x/verify')).headers.get('allow'), 'POST');
  for (const path of ['/', '/domains/', '/v1/emails', '//domains', '/domains/x/y']) {
    t.equal((await api.call('GET', path)).status, 404, path);
  }
  const head = await api.call('HEAD', '/domains', { key: tenant.key });
  const get = await api.call('GET', '/domains', { key: tenant.key });
  t.equal(head.status, 200);
  t.equal(head.body, null);
  t.equal(head.headers.get('content-length'), get.headers.get('content-length'));
  t.equal((await api.call('HEAD', '/domains')).status, 401);
  t.equal((await api.call('HEAD', '/nowhere')).status, 404);
  t.equal((await api.call('HEAD', '/domains/x/verify')).status, 405);
});

t.test('a failure on our side is a 500 that tells only the log why', async (t) => {
  storeIsBroken = true;
  const { status, headers, body } = await api.call('POST', '/emails', { key: tenant.key, body: MAIL });
  storeIsBroken = false;
  t.equal(status, 500);
  t.equal(body.error, 'internal_error');
  t.notMatch(JSON.stringify(body), /fire|secret|\.ts/);
  const line = api.log.find(({ facts }) => facts.request_id === headers.get('x-request-id'));
  t.match(line, { level: 'error', facts: { reason: /disk on fire/, path: '/emails' } });
  t.equal((await api.call('POST', '/emails', { key: tenant.key, body: MAIL })).status, 202, 'and it goes on');
});

t.test('what can work again soon says when to come back', async (t) => {
  storeIsAway = true;
  const { status, headers, body } = await api.call('GET', '/domains', { key: tenant.key });
  storeIsAway = false;
  t.match({ status, body }, { status: 500, body: { error: 'internal_error' } });
  t.equal(headers.get('retry-after'), '10');
});

for (const engine of ['uws', 'node'] satisfies HttpEngineName[]) {
  t.test(`bodies that no library would send (${engine})`, async (t) => {
    const there = await startApiHarness({ engine });
    t.teardown(() => there.close());
    const { key } = await there.addTenant();
    const head = `POST /emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const ask = async (rest: string) => {
      const connection = await RawHttp.connect(there.port);
      t.teardown(() => connection.destroy());
      await connection.send(head + rest);
      const { status, headers, text } = await connection.answer();
      t.ok(headers.has('x-request-id'));
      return { status, error: JSON.parse(text).error };
    };
    const tooLarge = { status: 413, error: 'request_too_large' };
    t.same(await ask('Content-Length: 5242881\r\n\r\n'), tooLarge, 'declared');
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    t.same(await ask(`Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}1\r\n \r\n`), tooLarge, 'chunked');
    const fits = await ask(`Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`);
    t.same(fits, { status: 400, error: 'invalid_json' }, 'exactly 5 MiB of blanks, chunked');
    const stalled = await ask('Content-Length: 10\r\n\r\n{');
    t.same(stalled, { status: 400, error: 'read_body_failed' }, 'a body that stops coming');
  });
}
