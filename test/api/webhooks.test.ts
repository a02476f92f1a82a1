// The webhook endpoints from outside: register, list, show, delete; what is refused, and what
// another tenant sees of it, which is nothing.
import t, { type Test } from 'tap';
import { SCOPES } from '../../src/store/tenants.ts';
import { type ApiAnswer, startApiHarness } from '../support/api-harness.ts';
import { RawHttp } from '../support/raw-http.ts';

const api = await startApiHarness();
t.teardown(() => api.close());
const NOBODY = '018f0000-0000-7000-8000-000000000000';
const RECORD_FIELDS = ['id', 'url', 'description', 'created_at'];

function register(key: string, url: unknown, description?: unknown): Promise<ApiAnswer> {
  return api.call('POST', '/webhooks', { key, body: { url, description } });
}

async function list(key: string): Promise<{ id: string }[]> {
  return (await api.call('GET', '/webhooks', { key })).body.webhooks;
}

function refusedAs(t: Test, answer: ApiAnswer, message: RegExp, about: string): void {
  t.match({ status: answer.status, ...answer.body }, { status: 400, error: 'validation_failed', message }, about);
}

t.test('register, list, show, delete', async (t) => {
  const { key } = await api.addTenant();
  const before = Date.now();
  const created = await register(key, 'https://hooks.acme.test/in?a=1', 'Orders');
  t.equal(created.status, 201);
  const { secret, ...record } = created.body;
  t.same(Object.keys(record), RECORD_FIELDS);
  t.match(record, { url: 'https://hooks.acme.test/in?a=1', description: 'Orders' });
  t.match(record.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.ok(Date.parse(record.created_at) >= before && Date.parse(record.created_at) <= Date.now());
  t.match(record.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
  t.match(secret, /^[A-Za-z0-9+/]{43}=$/);
  t.equal(Buffer.from(secret, 'base64').length, 32);

  const second = await register(key, 'http://8.8.8.8/in');
  t.equal(second.status, 201, 'http is accepted, a public address too');
  t.equal(second.body.description, null);
  t.not(second.body.secret, secret);

  const listed = await api.call('GET', '/webhooks', { key });
  t.equal(listed.status, 200);
  const { secret: _, ...secondRecord } = second.body;
  t.same(listed.body, { webhooks: [record, secondRecord] }, 'oldest first, without secrets');
  const shown = await api.call('GET', `/webhooks/${record.id}`, { key });
  t.equal(shown.status, 200);
  t.same(shown.body, record);
  t.same((await api.call('GET', `/webhooks/${record.id.toUpperCase()}`, { key })).body, record);

  const deleted = await api.call('DELETE', `/webhooks/${record.id}`, { key });
  t.equal(deleted.status, 204);
  t.equal(deleted.body, null);
  t.equal(deleted.headers.get('content-type'), null);
  t.same(await list(key), [secondRecord]);
  for (const method of ['GET', 'DELETE']) {
    const gone = await api.call(method, `/webhooks/${record.id}`, { key });
    t.match(gone, { status: 404, body: { error: 'webhook_not_found' } }, method);
  }
});

for (const engine of ['uws', 'node'] as const) {
  t.test(`on the wire a 204 has no body and claims none (${engine})`, async (t) => {
    const other = await startApiHarness({ engine });
    t.teardown(() => other.close());
    const { key } = await other.addTenant();
    const body = { url: 'https://acme.test/' };
    const { id } = (await other.call('POST', '/webhooks', { key, body })).body;
    const connection = await RawHttp.connect(other.port);
    t.teardown(() => connection.destroy());
    const head = `Host: x\r\nAuthorization: Bearer ${key}\r\nConnection: close`;
    await connection.send(`DELETE /webhooks/${id} HTTP/1.1\r\n${head}\r\n\r\n`);
    const answer = await connection.rest();
    t.match(answer, /^HTTP\/1\.1 204 /);
    t.match(answer, /\r\n\r\n$/, 'the end of the header is the end');
    t.notMatch(answer, /content-(?:length|type)|transfer-encoding/i, 'RFC 9110 section 8.6');
  });
}

t.test('the same URL again, however it is written', async (t) => {
  const [{ key }, other] = [await api.addTenant(), await api.addTenant()];
  t.equal((await register(key, 'https://Hooks.Bücher.test')).body.url, 'https://Hooks.Bücher.test', 'shown as written');
  const same = [
    'https://Hooks.Bücher.test',
    'https://hooks.bücher.test/',
    'HTTPS://hooks.xn--bcher-kva.test:443/',
    'https://hooks.xn--bcher-kva.test/a/..',
    'https://hooks.xn--bcher-kva.test/%2e/.',
  ];
  for (const url of same) {
    const { status, body } = await register(key, url, 'another');
    t.match(
      { status, ...body },
      { status: 409, error: 'webhook_exists', message: /secret.*lost.*rotate .*keeps.*delete.*again/ },
      url,
    );
  }
  const different = [
    'http://hooks.bücher.test/',
    'https://hooks.bücher.test:8443/',
    'https://hooks.bücher.test/?',
    'https://hooks.bücher.test/A',
    'https://hooks.bücher.test/a',
  ];
  for (const url of different) t.equal((await register(key, url)).status, 201, url);
  t.equal((await register(other.key, 'https://hooks.bücher.test/')).status, 201, 'another tenant may have it too');
  const [first] = await list(key);
  await api.call('DELETE', `/webhooks/${first!.id}`, { key });
  t.equal((await register(key, 'https://hooks.bücher.test/')).status, 201, 'free after a deletion');
});

t.test('twenty at the same time make one webhook', async (t) => {
  const { key } = await api.addTenant();
  const answers = await Promise.all(Array.from({ length: 20 }, () => register(key, 'https://acme.test/')));
  t.same(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(409)]);
  t.equal((await list(key)).length, 1);
});

t.test('URLs and descriptions that are refused', async (t) => {
  const { key } = await api.addTenant();
  const urls: [url: unknown, message: RegExp][] = [
    [undefined, /^url: this field is required/],
    [null, /^url: this field is required/],
    ['', /^url: must not be empty/],
    [5, /^url: must be a string/],
    [['https://acme.test/'], /^url: must be a string/],
    ['acme.test/in', /^url: must be a full http/],
    ['//acme.test/in', /^url: must be a full http/],
    ['https:acme.test', /^url: must be a full http/],
    ['https:///acme.test', /^url: must be a full http/],
    ['ftp://acme.test/', /^url: must be a full http/],
    ['ws://acme.test/', /^url: must be a full http/],
    ['file:///etc/passwd', /^url: must be a full http/],
    ['javascript:alert(1)', /^url: must be a full http/],
    ['https://', /^url: must be a full http/],
    ['https://acme.test:99999/', /^url: must be a full http/],
    ['https://256.256.256.256/', /^url: must be a full http/],
    ['https://1.2.3.4.5/', /^url: must be a full http/],
    ['https://[::1%25eth0]/', /^url: must be a full http/],
    ['https://acme.test:0/', /^url: must not use port 0/],
    ['https://jo:pw@acme.test/', /^url: must not contain credentials/],
    ['https://jo@acme.test/', /^url: must not contain credentials/],
    ['https://@acme.test/', /^url: must not contain credentials/],
    ['https://8.8.8.8@127.0.0.1/', /^url: must not contain credentials/],
    ['https://acme.test/#part', /^url: must not have a fragment/],
    ['https://acme.test/#', /^url: must not have a fragment/],
    ['https://acme.test#@8.8.8.8/', /^url: must not have a fragment/],
    [' https://acme.test/', /^url: must not contain white space/],
    ['https://acme.test/ ', /^url: must not contain white space/],
    ['https://acme.test/a b', /^url: must not contain white space/],
    ['https://acme\n.test/', /^url: must not contain white space/],
    ['ht\ttps://acme.test/', /^url: must not contain white space/],
    ['https://acme.test/\u0000', /^url: must not contain white space/],
    ['https:\\\\acme.test\\in', /^url: must not contain .*backslash/],
    ['https://acme.test\\@127.0.0.1/', /^url: must not contain .*backslash/],
    [`https://acme.test/${'a'.repeat(2031)}`, /^url: must have at most 2048 characters, not 2049/],
    [`https://acme.test/${'é'.repeat(431)}`, /^url: must have at most 2600 characters when percent-encoded, not 2604/],
    ['https://acme.test/\ud800', /^url: must be valid Unicode/],
  ];
  for (const [url, message] of urls) {
    const about = `url ${JSON.stringify(url)?.slice(0, 80)}`;
    refusedAs(t, await register(key, url), message, about);
  }

  const url = 'https://acme.test/';
  refusedAs(t, await register(key, url, 5), /^description: must be a string/, 'a number');
  refusedAs(t, await register(key, url, 'é'.repeat(501)), /^description: .*500 characters, not 501/, 'too long');
  refusedAs(t, await register(key, url, 'a\udc00'), /^description: must be valid Unicode/, 'a lone surrogate');
  const unknown = await api.call('POST', '/webhooks', { key, body: { url, event: ['email.delivered'] } });
  refusedAs(t, unknown, /^event: unknown field; did you mean events/, 'an unknown field');
  t.same(await list(key), [], 'nothing was registered');
});

t.test('limits are reached before they are passed', async (t) => {
  const { key } = await api.addTenant();
  t.equal((await register(key, `https://acme.test/${'a'.repeat(2030)}`)).status, 201);
  const longest = '😀'.repeat(500);
  t.equal((await register(key, 'https://acme.test/@?to=a@b.test', longest)).body.description, longest);
  t.equal((await register(key, 'https://acme.test/empty', '')).body.description, '');
  t.equal((await register(key, 'https://acme.test/null', null)).body.description, null);
});

t.test('addresses that are not public are refused, and the message names the key', async (t) => {
  const { key } = await api.addTenant();
  const hosts = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:7f00:1]', '[::1]', '[64:ff9b::7f00:1]'],
    ...['localhost', 'LocalHost.', 'a.localhost', '169.254.169.254', '10.0.0.1', '[fd00::1]', '[fe80::1]', '0', '[::]'],
    ...['100.64.0.1', '224.0.0.1', '[ff02::1]', '192.168.0.1:8080', '１２７.0.0.1', '%31%32%37.0.0.1'],
  ];
  for (const host of hosts) {
    refusedAs(t, await register(key, `https://${host}/in`), /^url: .*webhooks\.allow_private/, host);
  }
  t.same(await list(key), []);
});

t.test('with webhooks.allow_private', async (t) => {
  const loopback = await startApiHarness({ allowPrivateWebhooks: ['127.0.0.0/8', '::1'] });
  t.teardown(() => loopback.close());
  const { key } = await loopback.addTenant();
  const statusOf = async (url: string) => (await loopback.call('POST', '/webhooks', { key, body: { url } })).status;
  for (const host of ['127.0.0.1:9', '[::1]', 'localhost', 'a.localhost']) {
    t.equal(await statusOf(`http://${host}/`), 201, host);
  }
  for (const host of ['10.0.0.1', '169.254.169.254', '[fd00::1]'])
    t.equal(await statusOf(`http://${host}/`), 400, host);
  t.equal(await statusOf('http://127.1:9/'), 409, 'another notation of the same address is the same URL');
});

t.test('a tenant has at most 50', async (t) => {
  const [{ key }, other] = [await api.addTenant(), await api.addTenant()];
  const url = (n: number) => `https://acme.test/${n}`;
  const answers = await Promise.all(Array.from({ length: 51 }, (_, n) => register(key, url(n))));
  t.equal(answers.filter(({ status }) => status === 201).length, 50);
  refusedAs(t, await register(key, url(51)), /limit of 50 webhooks.*Delete one/, 'one too many');
  t.equal((await register(key, url(0))).status, 409, 'the same URL is told first');
  t.equal((await register(other.key, url(0))).status, 201);
  const [first] = await list(key);
  await api.call('DELETE', `/webhooks/${first!.id}`, { key });
  t.equal((await register(key, url(51))).status, 201, 'room again');
});

t.test("another tenant's webhook does not exist", async (t) => {
  const [owner, stranger] = [await api.addTenant(), await api.addTenant()];
  const { id } = (await register(owner.key, 'https://acme.test/')).body;
  for (const method of ['GET', 'DELETE']) {
    const foreign = await api.call(method, `/webhooks/${id}`, { key: stranger.key });
    const unknown = await api.call(method, `/webhooks/${NOBODY}`, { key: stranger.key });
    t.equal(foreign.status, 404);
    t.same(foreign.body, unknown.body, 'nothing tells it from one that nobody has');
    t.equal(foreign.body.error, 'webhook_not_found');
    t.equal((await api.call(method, '/webhooks/x', { key: stranger.key })).body.error, 'invalid_id');
  }
  t.same(await list(stranger.key), []);
  t.equal((await api.call('GET', `/webhooks/${id}`, { key: owner.key })).status, 200, 'and it is still there');
});

t.test('writing needs webhooks:write, reading any key, bound or not', async (t) => {
  const tenant = await api.addTenant();
  const others = SCOPES.filter((scope) => scope !== 'webhooks:write');
  await api.addVerifiedDomain(tenant.id, 'bound.test');
  for (const bound of [undefined, 'bound.test']) {
    const writer = await api.addKey(tenant.id, ['webhooks:write'], bound);
    const { status, body } = await register(writer, `https://acme.test/${bound}`);
    t.equal(status, 201, `bound to ${bound}`);
    for (const scopes of [[], others]) {
      const reader = await api.addKey(tenant.id, scopes, bound);
      t.equal((await register(reader, 'https://other.test/')).body.error, 'scope_required');
      t.equal((await api.call('DELETE', `/webhooks/${body.id}`, { key: reader })).body.error, 'scope_required');
      t.equal((await api.call('GET', `/webhooks/${body.id}`, { key: reader })).status, 200);
      t.same(await list(reader), [(await api.call('GET', `/webhooks/${body.id}`, { key: reader })).body]);
    }
    t.equal((await api.call('DELETE', `/webhooks/${body.id}`, { key: writer })).status, 204, `bound to ${bound}`);
  }
});

t.test('methods that there are not', async (t) => {
  const { key } = await api.addTenant();
  for (const [method, path, allow] of [
    ['PUT', '/webhooks', 'GET, HEAD, POST'],
    ['POST', `/webhooks/${NOBODY}`, 'DELETE, GET, HEAD, PATCH'],
  ] as const) {
    const { status, headers } = await api.call(method, path, { key, body: {} });
    t.equal(status, 405);
    t.same(headers.get('allow')?.split(', ').sort(), allow.split(', '), path);
  }
});
