// What the conformance suite cannot see: it only speaks JSON. Run with the installed package.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { inspect } from 'node:util';
import * as postrider from 'postrider-client';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"test": 2432232314}';
const SIGNED = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const verify = (headers, payload = BODY) =>
  postrider.verifyWebhook(payload, headers, SECRET, { toleranceSeconds: 1e10 }).test;

test('import and require have the same names and classes', () => {
  const required = createRequire(import.meta.url)('postrider-client');
  assert.deepEqual(Object.keys(postrider).sort(), Object.keys(required).sort());
  assert.equal(postrider.PostriderError, required.PostriderError);
});

test('headers as servers and frameworks have them', () => {
  assert.equal(verify(new Headers(SIGNED)), 2432232314);
  assert.equal(verify(new Map(Object.entries(SIGNED))), 2432232314);
  const lists = Object.entries(SIGNED).map(([name, value]) => [name, [value]]);
  assert.equal(verify({ ...Object.fromEntries(lists), 'x-none': undefined }), 2432232314);
  assert.throws(() => verify(undefined), { code: 'missing_header' });
});

test('bodies as servers and frameworks have them', () => {
  const bytes = new TextEncoder().encode(BODY);
  assert.equal(verify(SIGNED, bytes), 2432232314);
  assert.equal(verify(SIGNED, bytes.buffer), 2432232314);
  assert.equal(verify(SIGNED, Buffer.from(`..${BODY}..`).subarray(2, -2)), 2432232314);
  assert.throws(() => verify(SIGNED, null), { code: 'payload_not_raw' });
});

test('data that is no JSON is an error before anything is sent', async () => {
  const client = new postrider.Postrider({ apiKey: 'pr_k', baseUrl: 'http://127.0.0.1:1' });
  const itself = {};
  itself.itself = itself;
  for (const value of [itself, 1n]) {
    const message = { from: 'a@b.c', to: 'd@e.f', subject: 'S', templateId: '1', data: { value } };
    await assert.rejects(client.emails.send(message), (error) => {
      assert.ok(error instanceof postrider.PostriderError);
      assert.equal(error.code, 'invalid_argument');
      assert.match(error.message, /^The request cannot be written as JSON: /);
      return true;
    });
  }
});

test('a tolerance that is no number lets nothing pass', () => {
  const options = { toleranceSeconds: Number.NaN };
  assert.throws(() => postrider.verifyWebhook(BODY, SIGNED, SECRET, options), { code: 'timestamp_too_old' });
});

test('attachments in all kinds of bytes, and as base64', async (t) => {
  let sent;
  t.mock.method(globalThis, 'fetch', async (_, { body }) => {
    sent = JSON.parse(body);
    return Response.json({ id: '1' }, { status: 202 });
  });
  const client = new postrider.Postrider({ apiKey: 'pr_k', baseUrl: 'http://127.0.0.1' });
  const bytes = new Uint8Array([0, 255, 254]);
  const around = Buffer.from([7, 0, 255, 254, 7]);
  const view = new DataView(around.buffer, around.byteOffset + 1, 3);
  const contents = [bytes, bytes.buffer, around.subarray(1, 4), view, new Uint16Array([0xff00]), 'AP/+'];
  const attachments = contents.map((content) => ({ filename: 'a.bin', content }));
  await client.emails.send({ from: 'a@b.c', to: 'd@e.f', subject: 'S', text: 'T', attachments });
  const expected = ['AP/+', 'AP/+', 'AP/+', 'AP/+', 'AP8=', 'AP/+'];
  assert.deepEqual(
    sent.attachments,
    expected.map((content) => ({ filename: 'a.bin', content })),
  );
});

test('a message without new fields is sent in the same bytes as before', async (t) => {
  let sent;
  t.mock.method(globalThis, 'fetch', async (_, { body }) => {
    sent = body;
    return Response.json({ id: '1' }, { status: 202 });
  });
  const client = new postrider.Postrider({ apiKey: 'pr_k', baseUrl: 'http://127.0.0.1' });
  const message = { templateId: '1', from: 'a@b.c', to: 'd@e.f', html: undefined, subject: 'S', replyTo: undefined };
  await client.emails.send({ ...message, idempotencyKey: 'k', data: { replyTo: 1 } });
  assert.equal(sent, '{"from":"a@b.c","to":"d@e.f","subject":"S","data":{"replyTo":1},"template_id":"1"}');
});

test('a time is a Date, in whatever zone, or a string', async (t) => {
  const sent = [];
  t.mock.method(globalThis, 'fetch', async (_, { body }) => {
    sent.push(JSON.parse(body));
    return Response.json({ id: '1' }, { status: 202 });
  });
  const client = new postrider.Postrider({ apiKey: 'pr_k', baseUrl: 'http://127.0.0.1' });
  const mail = { from: 'a@b.c', to: 'd@e.f', subject: 'S', text: 'T' };
  await client.emails.send({ ...mail, sendAt: new Date('2028-02-29T23:30:00+01:00') });
  await client.submissions.move('1', '2028-03-01');
  await client.emails.sendBatch([{ ...mail, sendAt: undefined, idempotencyKey: undefined }, null]);
  assert.deepEqual(sent, [
    { ...mail, send_at: '2028-02-29T22:30:00.000Z' },
    { send_at: '2028-03-01' },
    { emails: [mail, null] },
  ]);
  const none = new Date('tomorrow');
  const refused = { name: 'PostriderError', code: 'invalid_argument' };
  await assert.rejects(client.emails.send({ ...mail, sendAt: none }), refused);
  await assert.rejects(client.emails.sendBatch([mail, { ...mail, sendAt: none }]), refused);
  await assert.rejects(client.submissions.move('1', none), refused);
  assert.equal(sent.length, 3, 'nothing was sent');
});

test('names in tags and metadata are the caller’s', async (t) => {
  const labels = { tags: { order_kind: 'x' }, metadata: { order_id: '1', orderId: '2' } };
  t.mock.method(globalThis, 'fetch', async () => Response.json({ send_at: null, ...labels }));
  const client = new postrider.Postrider({ apiKey: 'pr_k', baseUrl: 'http://127.0.0.1' });
  assert.deepEqual(await client.submissions.get('1'), { sendAt: null, ...labels });
});

test('the secret of a webhook is not printed, but there', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => Response.json({ id: '1', secret: 'c2VjcmV0' }));
  const { webhooks } = new postrider.Postrider({ apiKey: 'pr_k', baseUrl: 'http://127.0.0.1' });
  for (const webhook of [await webhooks.create({ url: 'https://example.com/' }), await webhooks.rotate('1')]) {
    assert.doesNotMatch(inspect({ made: [webhook] }, { depth: 9 }), /c2VjcmV0/);
    assert.deepEqual(JSON.parse(JSON.stringify(webhook)), { id: '1', secret: 'c2VjcmV0', events: null });
    assert.deepEqual({ ...webhook }, { id: '1', secret: 'c2VjcmV0', events: null });
  }
});

test('an attempt may take 30 s unless another time is given', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const aborted = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  t.mock.method(globalThis, 'fetch', async (_, { signal }) => aborted(signal));
  const client = new postrider.Postrider({ apiKey: 'pr_k', baseUrl: 'http://127.0.0.1', maxRetries: 0 });
  let error = null;
  const listing = client.domains.list().catch((caught) => {
    error = caught;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  t.mock.timers.tick(29_999);
  await turn();
  assert.equal(error, null);
  t.mock.timers.tick(1);
  await listing;
  assert.ok(error instanceof postrider.NetworkError && error.timeout);
});

test('errors are kinds of one class, named as it', () => {
  const kinds = Object.entries(postrider).filter(([name]) => name.endsWith('Error'));
  assert.equal(kinds.length, 9);
  for (const [name, kind] of kinds) {
    const error = new kind('message', { code: 'code' });
    assert.ok(error instanceof postrider.PostriderError && error instanceof Error);
    assert.equal(error.name, name);
  }
});

test('no timer is too long for Node', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const month = 30 * 24 * 3600;
  const answers = [
    new Response('{}', { status: 429, headers: { 'retry-after': String(month) } }),
    Response.json({ domains: [] }),
  ];
  t.mock.method(globalThis, 'fetch', async () => answers.shift());
  const client = new postrider.Postrider({ apiKey: 'pr_k', baseUrl: 'http://127.0.0.1' });
  let listed = null;
  const listing = client.domains.list().then((domains) => {
    listed = domains;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  let days = 0;
  // The first turns pass before the client waits: their days count for nothing.
  for (; listed === null && days < 60; days++) {
    t.mock.timers.tick(24 * 3600 * 1000);
    await turn();
  }
  await listing;
  assert.ok(days >= 30, `${days} days`);
  assert.deepEqual(listed, []);
});
