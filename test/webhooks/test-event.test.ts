// A test event reaches one endpoint, signed with every secret that holds, and nothing else ever hears of it.
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import { isRefusal } from '../../src/base/refusals.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { Connections } from '../../src/webhooks/connections.ts';
import { targetPolicy } from '../../src/webhooks/target.ts';
import { TestSender } from '../../src/webhooks/test-sender.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { openStage, registered, type Stage } from './stage.ts';

function senderOf({ store, vault, dns }: Stage, allowPrivate = true): TestSender {
  const clock = { now: () => Date.now() };
  return new TestSender({
    ...{ store, vault, clock, ids: new IdSource(), connections: new Connections({ clock }) },
    ...{ policy: targetPolicy(allowPrivate), resolver: createResolver({ servers: [dns.endpoint], clock }) },
  });
}

async function sent(sender: TestSender, tenantId: string, webhookId: string) {
  const result = await sender.send(tenantId, webhookId);
  if ('busy' in result || isRefusal(result)) throw new Error(JSON.stringify(result));
  return result;
}

t.test('it is signed with both secrets, looks like an event, and is in no feed', async (t) => {
  const stage = await openStage(t, { fakeClock: false });
  const { bench, webhooks, store } = stage;
  const { tenant } = await bench.sender('acme.test');
  const [endpoint, beside] = [await startEndpoint(t), await startEndpoint(t)];
  const hook = await registered(webhooks, tenant.id, endpoint.url);
  await registered(webhooks, tenant.id, beside.url);
  const rotated = await webhooks.rotate(tenant.id, hook.id);
  if (isRefusal(rotated)) throw new Error(rotated.message);
  await stage.dispatcher();
  endpoint.answer = (response) => response.writeHead(201).end('thank you');
  const result = await sent(senderOf(stage), tenant.id, hook.id.toUpperCase());
  t.match(result, { status: 201, answer: 'thank you', accepted: true, reason: 'The endpoint answered 201.' });
  const [got] = await endpoint.until(1);
  for (const secret of [hook.secret, rotated.secret.toString('base64')]) {
    t.ok(new Webhook(secret).verify(got!.text, got!.headers));
  }
  t.match(got!.headers['webhook-signature'], /^v1,\S+ v1,\S+$/, 'the new one first');
  t.equal(result.request.body, got!.text);
  for (const [name, value] of Object.entries(result.request.headers)) t.equal(got!.headers[name], value, name);
  t.match(got!.body, { type: 'test', family: 'test', id: got!.id });
  t.strictSame(Object.keys(got!.body.data), [
    ...['message_id', 'submission_id', 'from', 'to', 'subject', 'domain', 'test'],
  ]);
  t.strictSame(await store.events.listEvents(tenant.id, { after: null, limit: 10 }), []);
  t.strictSame(
    await store.webhooks.listWebhookAttempts(tenant.id, { webhookId: hook.id, eventId: null, limit: 10 }),
    [],
  );
  t.equal(beside.received.length, 0);
});

t.test('whatever the endpoint does is said', async (t) => {
  const stage = await openStage(t, { fakeClock: false });
  const { bench, webhooks } = stage;
  const { tenant } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  const hook = await registered(webhooks, tenant.id, endpoint.url);
  endpoint.answer = (response) => response.writeHead(500).end(`<script>${'x'.repeat(9000)}`);
  const broken = await sent(senderOf(stage), tenant.id, hook.id);
  t.match(broken, { status: 500, accepted: false, reason: 'The endpoint answered 500.' });
  t.equal(broken.answer?.length, 4096);
  t.match(await sent(senderOf(stage, false), tenant.id, hook.id), {
    ...{ status: null, answer: null, accepted: false, reason: /127\.0\.0\.1 is not a public address/ },
  });
  t.equal(endpoint.received.length, 1, 'it was not called');
  await endpoint.close();
  t.match(await sent(senderOf(stage), tenant.id, hook.id), {
    ...{ status: null, accepted: false, reason: /the connection was refused/ },
  });
});

t.test('only of its own tenant, and one at a time', async (t) => {
  const stage = await openStage(t, { fakeClock: false });
  const { bench, webhooks } = stage;
  const { tenant } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  const hook = await registered(webhooks, tenant.id, endpoint.url);
  const sender = senderOf(stage);
  t.match(await sender.send((await bench.tenant()).id, hook.id), { refused: 'webhook_not_found' });
  t.match(await sender.send(tenant.id, bench.id()), { refused: 'webhook_not_found' });
  const [first, second] = await Promise.all([sender.send(tenant.id, hook.id), sender.send(tenant.id, hook.id)]);
  t.match(first, { accepted: true });
  t.match(second, { busy: /already being sent/ });
  t.match(await sender.send(tenant.id, hook.id), { accepted: true }, 'when the first is over, the next may go');
  t.equal(endpoint.received.length, 2);
});
