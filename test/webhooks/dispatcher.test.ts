// Events on their way to real endpoints: signed, tried again by the table, never lost, dropped with
// their webhook. Time is moved by hand.
import { once } from 'node:events';
import type http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts';
import { isRefusal } from '../../src/base/refusals.ts';
import { makeSelfSigned } from '../../src/sandbox/self-signed.ts';
import type { Owner } from '../../src/store/owners.ts';
import { Connections } from '../../src/webhooks/connections.ts';
import { RETRY_TABLE } from '../../src/webhooks/decide-delivery.ts';
import { ownFirstSlot } from '../support/first-slot.ts';
import { patience, within } from '../support/patience.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { wrapVerbs } from '../support/wrap-verbs.ts';
import { happen, openStage, registered } from './stage.ts';

t.test('an event arrives at every webhook, and the official library takes it', async (t) => {
  const { bench, webhooks, store, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const [one, two] = [await startEndpoint(t), await startEndpoint(t)];
  const hook = await registered(webhooks, tenant.id, `${one.url}?a=1`);
  await registered(webhooks, tenant.id, two.url);
  const dispatcher = await stage.dispatcher();
  const event = bench.event('email.delivered', { subject: 'Grüße 😀', n: 1 });
  await happen(bench, domain, event);
  await Promise.all([one.until(1), two.until(1)]);
  await dispatcher.idle();
  const [got] = one.received;
  t.match(new Webhook(hook.secret).verify(got!.text, got!.headers), { id: event.id, data: event.data });
  t.equal(got!.id, event.id);
  t.equal(got!.path, '/hook?a=1');
  t.equal(got!.headers['content-type'], 'application/json');
  t.strictSame(Object.keys(got!.body), ['id', 'type', 'family', 'timestamp', 'data']);
  t.throws(() => new Webhook(hook.secret).verify(`${got!.text} `, got!.headers), 'an altered body does not verify');
  t.throws(
    () => new Webhook(hook.secret).verify(two.received[0]!.text, two.received[0]!.headers),
    'a secret of its own',
  );
  t.match(await store.webhooks.listWebhookHealth(tenant.id), [{ due: 0, failed: 0, failingSince: null }, {}]);
  t.match(await store.webhooks.listWebhookAttempts(tenant.id, { webhookId: hook.id, eventId: event.id, limit: 5 }), [
    {
      number: 1,
      status: 204,
      reason: 'The endpoint answered 204.',
      state: 'delivered',
      nextAt: null,
      eventId: event.id,
    },
  ]);
});

t.test('only webhooks that exist when it happens get an event, and none of another tenant', async (t) => {
  const { bench, webhooks, store, ...stage } = await openStage(t);
  const one = await bench.sender('acme.test');
  const other = await bench.sender('other.test');
  const endpoint = await startEndpoint(t);
  const dispatcher = await stage.dispatcher();
  await happen(bench, one.domain);
  await registered(webhooks, other.tenant.id, endpoint.url);
  await happen(bench, one.domain);
  await registered(webhooks, one.tenant.id, `${endpoint.url}/own`);
  const wanted = await happen(bench, one.domain);
  await endpoint.until(1);
  await dispatcher.idle();
  t.strictSame(
    endpoint.received.map(({ id, path }) => [id, path]),
    [[wanted, '/hook/own']],
  );
  t.match(await store.webhooks.listWebhookHealth(other.tenant.id), [{ due: 0, failed: 0 }]);
});

t.test('the retry table, then failed, then replayed from its beginning', async (t) => {
  const { bench, webhooks, store, clock, pass, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  endpoint.answer = (response) => response.writeHead(500).end('out of order');
  const { id: webhookId } = await registered(webhooks, tenant.id, endpoint.url);
  const dispatcher = await stage.dispatcher();
  const times: number[] = [];
  const id = await happen(bench, domain);
  await endpoint.until(1);
  await dispatcher.idle();
  times.push(clock.time);
  for (const stepMs of RETRY_TABLE.stepsMs) {
    await pass(dispatcher, stepMs - SECOND_MS);
    t.equal(endpoint.received.length, times.length, 'not too early');
    await pass(dispatcher, 2 * SECOND_MS);
    t.equal(endpoint.received.length, times.length + 1, `after ${stepMs} ms`);
    clock.time -= SECOND_MS;
    times.push(clock.time);
  }
  await pass(dispatcher, 100 * HOUR_MS, HOUR_MS);
  t.equal(endpoint.received.length, 10, 'no more');
  t.strictSame([...new Set(endpoint.received.map((got) => got.id))], [id], 'always the same id');
  t.equal(new Set(endpoint.received.map((got) => got.headers['webhook-timestamp'])).size, 10, 'signed anew each time');
  const attempts = await store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId: null, limit: 20 });
  t.equal(attempts.length, 10);
  t.match(attempts[0], {
    number: 10,
    status: 500,
    answer: 'out of order',
    state: 'failed',
    nextAt: null,
    reason: /last of 10/,
  });
  t.match(attempts[9], { number: 1, nextAt: Number });
  t.match(await store.webhooks.listWebhookHealth(tenant.id), [{ due: 0, failed: 1, failingSince: Number }]);

  await store.webhooks.replayDelivery(tenant.id, { webhookId, eventId: id }, clock.time);
  await endpoint.until(11);
  await dispatcher.idle();
  endpoint.answer = (response) => response.writeHead(200).end();
  await pass(dispatcher, 6 * SECOND_MS);
  t.equal(endpoint.received.length, 12, 'the table begins anew');
  t.match(await store.webhooks.listWebhookHealth(tenant.id), [{ due: 0, failed: 0, failingSince: null }]);
});

t.test('an event that happens while others are claimed is sent at once', async (t) => {
  const { bench, webhooks, store, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  await registered(webhooks, tenant.id, endpoint.url);
  let during: string | null = null;
  // As with the writer's thread: the notice of an event, committed with the claim, arrives before the claim's answer.
  const claiming = wrapVerbs(store, (name, verb) => async (...args) => {
    const answer = await verb(...args);
    if (name === 'webhooks.claimDeliveries') during ??= await happen(bench, domain);
    return answer;
  });
  const dispatcher = await stage.dispatcher({ store: claiming });
  const before = await happen(bench, domain);
  await dispatcher.idle();
  t.strictSame(
    endpoint.received.map(({ id }) => id),
    [before, during],
    'without a tick, and without the look once a minute',
  );
});

t.test('Retry-After', async (t) => {
  const { bench, webhooks, clock, pass, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  endpoint.answer = (response) => response.writeHead(429, { 'retry-after': '3600' }).end();
  await registered(webhooks, tenant.id, endpoint.url);
  const dispatcher = await stage.dispatcher();
  await happen(bench, domain);
  await endpoint.until(1);
  await dispatcher.idle();
  await pass(dispatcher, HOUR_MS - SECOND_MS, 10 * MINUTE_MS);
  t.equal(endpoint.received.length, 1);
  endpoint.answer = (response) =>
    response.writeHead(503, { 'retry-after': new Date(clock.time + 999 * HOUR_MS).toUTCString() }).end();
  await pass(dispatcher, 2 * SECOND_MS);
  t.equal(endpoint.received.length, 2);
  await pass(dispatcher, 23 * HOUR_MS, HOUR_MS);
  t.equal(endpoint.received.length, 2, 'a date is understood, too');
  await pass(dispatcher, HOUR_MS + SECOND_MS, MINUTE_MS);
  t.equal(endpoint.received.length, 3, 'but a day is the most');
});

t.test('what counts as an answer', async (t) => {
  const { bench, webhooks, store, clock, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const elsewhere = await startEndpoint(t);
  const endpoint = await startEndpoint(t);
  const { id: webhookId } = await registered(webhooks, tenant.id, endpoint.url);
  const dispatcher = await stage.dispatcher({ timeoutMs: patience(300) });
  const attempt = async (answer: typeof endpoint.answer) => {
    endpoint.answer = answer;
    const eventId = await happen(bench, domain, { ...bench.event('email.delivered'), at: clock.time });
    await endpoint.until(endpoint.received.length + (endpoint.received.some(({ id }) => id === eventId) ? 0 : 1));
    await dispatcher.idle();
    const [found] = await store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId, limit: 1 });
    return found;
  };
  t.match(await attempt((response) => response.writeHead(302, { location: elsewhere.url }).end()), {
    status: 302,
    state: 'due',
    reason: /Redirects are not followed/,
  });
  t.equal(elsewhere.received.length, 0, 'nobody went there');
  t.match(await attempt((response) => response.writeHead(200).end('x'.repeat(100_000))), {
    status: 200,
    state: 'delivered',
    answer: 'x'.repeat(4096),
  });
  const drip = (response: http.ServerResponse) => {
    response.writeHead(202).write('begun');
  };
  t.match(await attempt(drip), { status: 202, state: 'delivered' }, 'the status has come in time');
  t.match(await attempt(() => {}), { status: null, state: 'due', reason: /did not answer within [\d.]+ s/ });
  const hangUp = (response: http.ServerResponse) => void response.socket!.destroy();
  t.match(await attempt(hangUp), { status: null, state: 'due', reason: /closed without a response/ });
  t.match(await attempt((response) => response.writeHead(204).end()), { status: 204, state: 'delivered' });
});

t.test('connections are kept, and one that was closed meanwhile costs nothing', async (t) => {
  const { bench, webhooks, store, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  await registered(webhooks, tenant.id, endpoint.url);
  const dispatcher = await stage.dispatcher();
  for (let n = 1; n <= 5; n++) {
    await happen(bench, domain);
    await endpoint.until(n);
    await dispatcher.idle();
  }
  t.equal(endpoint.connections, 1);
  let hungUp = false;
  endpoint.answer = (response) => {
    if (hungUp) response.writeHead(204).end();
    else response.socket!.destroy();
    hungUp = true;
  };
  await happen(bench, domain);
  await endpoint.until(7);
  await dispatcher.idle();
  t.match(await store.webhooks.listWebhookHealth(tenant.id), [{ due: 0, failingSince: null }]);
});

t.test(
  'a call of a slot that is handed over goes to its end, and what is due there is for the next owner',
  async (t) => {
    const { bench, webhooks, store, ...stage } = await openStage(t);
    const { tenant, domain } = await bench.sender('acme.test');
    const endpoint = await startEndpoint(t);
    const held: http.ServerResponse[] = [];
    endpoint.answer = (response) => void held.push(response);
    const { id: webhookId } = await registered(webhooks, tenant.id, endpoint.url);
    const ownership = await ownFirstSlot(store);
    const [{ slot }] = ownership.all as [Owner];
    const inVain = Promise.withResolvers<unknown>();
    const claiming = wrapVerbs(store, (name, verb) => async (...args) => {
      const answer = await verb(...args);
      if (name === 'webhooks.claimDeliveries' && ownership.slots.length === 0) inVain.resolve(answer);
      return answer;
    });
    const dispatcher = await stage.dispatcher({ ownership, store: claiming });
    await happen(bench, domain);
    await endpoint.until(1);
    ownership.leave([slot]);
    const next = await happen(bench, domain);
    t.match(await within(5000, 'a claim in the slot', inVain.promise), [{ endpoint: null, deliveries: [] }]);
    t.equal(await store.owners.isSlotIdle(slot), false, 'one call is on its way');
    held[0]!.writeHead(204).end();
    await dispatcher.idle();
    await dispatcher.close(0);
    t.equal(await store.owners.isSlotIdle(slot), true);
    t.match(await store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId: null, limit: 5 }), [
      { state: 'delivered' },
    ]);

    endpoint.answer = (response) => void response.writeHead(204).end();
    await stage.dispatcher();
    await endpoint.until(2);
    t.equal(endpoint.received[1]!.id, next);
  },
);

t.test('a deleted webhook gets nothing more, also while it is called', async (t) => {
  const { bench, webhooks, store, clock, pass, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const [endpoint, beside] = [await startEndpoint(t), await startEndpoint(t)];
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  endpoint.answer = (response) => void response.socket!.once('close', () => resolve());
  const hook = await registered(webhooks, tenant.id, endpoint.url);
  await registered(webhooks, tenant.id, beside.url);
  const dispatcher = await stage.dispatcher({ timeoutMs: HOUR_MS });
  for (let n = 0; n < 10; n++) await happen(bench, domain);
  await endpoint.until(1);
  t.equal(await webhooks.remove(tenant.id, hook.id), null);
  await within(10_000, 'the call is ended, not waited for', closed);
  const before = endpoint.received.length;
  t.ok(before < 10, 'not all of them were under way');
  await beside.until(10);
  await pass(dispatcher, 5 * HOUR_MS, HOUR_MS);
  t.equal(endpoint.received.length, before);
  t.strictSame(
    await store.webhooks.listWebhookAttempts(tenant.id, { webhookId: hook.id, eventId: null, limit: 5 }),
    [],
  );
  t.equal(
    await store.webhooks.replayDelivery(tenant.id, { webhookId: hook.id, eventId: bench.id() }, clock.time),
    'no_webhook',
  );
  let erased = 0;
  for (let n = 1; n > 0; erased += n) n = await store.webhooks.forgetDeletedWebhooks(3);
  t.equal(erased, 11, 'its deliveries, and the note of it');
  t.equal((await store.webhooks.listWebhookHealth(tenant.id))[0]!.due, 0);
});

t.test('the result of a call that was under way at the deletion changes nothing', async (t) => {
  const { bench, webhooks, store, clock } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const hook = await registered(webhooks, tenant.id, 'http://x.test/');
  await happen(bench, domain);
  const claims = [{ webhookId: hook.id, limit: 10 }];
  const [claimed] = await store.webhooks.claimDeliveries(claims, {
    owners: [await bench.owner()],
    now: clock.time,
    leaseUntil: [clock.time + MINUTE_MS],
  });
  const result = {
    delivery: claimed!.deliveries[0]!,
    end: { to: 'failed' as const },
    ...{ startedAt: clock.time, elapsedMs: 1, status: 500, reason: 'x', answer: null },
  };
  await webhooks.remove(tenant.id, hook.id);
  await store.webhooks.recordDeliveries([result], clock.time);
  let erased = 0;
  for (let n = 1; n > 0; erased += n) n = await store.webhooks.forgetDeletedWebhooks(100);
  t.equal(erased, 2, 'one delivery and the note: no attempt was added');
});

t.test('what was under way when a daemon vanished goes out again, with the same id', async (t) => {
  const { bench, webhooks, clock, store, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  await registered(webhooks, tenant.id, endpoint.url);
  const id = await happen(bench, domain);
  const [{ id: webhookId } = { id: '' }] = await store.webhooks.listWebhooks(tenant.id);
  const terms = { owners: [await bench.owner()], now: clock.time, leaseUntil: [clock.time + HOUR_MS] };
  const [first] = await store.webhooks.claimDeliveries([{ webhookId, limit: 10 }], terms);
  t.match(first!.deliveries, [{ attempt: 1, step: 1, event: { id } }]);
  t.match(
    await store.webhooks.claimDeliveries([{ webhookId, limit: 10 }], terms),
    [{ deliveries: [] }],
    'it is leased',
  );
  const dispatcher = await stage.dispatcher();
  await endpoint.until(1);
  await dispatcher.idle();
  t.equal(endpoint.received[0]!.id, id);
  const late = { end: { to: 'failed' as const }, startedAt: 0, elapsedMs: 1, status: 500, reason: '', answer: null };
  await store.webhooks.recordDeliveries([{ delivery: first!.deliveries[0]!, ...late }], clock.time);
  t.match(await store.webhooks.listWebhookHealth(tenant.id), [{ due: 0, failed: 0 }], 'a late result changes nothing');
});

t.test('a dispatcher that is closed gives back what it has not finished', async (t) => {
  const { bench, webhooks, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  endpoint.answer = () => {};
  await registered(webhooks, tenant.id, endpoint.url);
  const first = await stage.dispatcher();
  const ids = [await happen(bench, domain), await happen(bench, domain), await happen(bench, domain)];
  await endpoint.until(2);
  await first.close(0);
  endpoint.answer = (response) => response.writeHead(200).end();
  const second = await stage.dispatcher();
  await endpoint.until(5);
  await second.idle();
  t.strictSame([...new Set(endpoint.received.map(({ id }) => id))].sort(), ids.sort());
});

t.test('owners are told once after an hour of failure, and again only after a success', async (t) => {
  const { bench, webhooks, clock, pass, told, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  for (const role of ['owner', 'viewer'] as const) {
    const user = {
      id: bench.id(),
      tenantId: tenant.id,
      email: `${role}@acme.test`,
      role,
      passwordHash: '',
      createdAt: 0,
    };
    await stage.store.accounts.createUser(user);
  }
  const endpoint = await startEndpoint(t);
  endpoint.answer = (response) => response.writeHead(500).end();
  const hook = await registered(webhooks, tenant.id, endpoint.url);
  const dispatcher = await stage.dispatcher();
  const begin = clock.time;
  await happen(bench, domain, { ...bench.event('email.delivered'), at: clock.time });
  await endpoint.until(1);
  await dispatcher.idle();
  await pass(dispatcher, 59 * MINUTE_MS, MINUTE_MS);
  t.equal(told.length, 0);
  await pass(dispatcher, 2 * MINUTE_MS, MINUTE_MS);
  t.equal(told.length, 1, 'although nobody was called just then');
  await pass(dispatcher, 20 * HOUR_MS, HOUR_MS);
  t.strictSame(told[0]!.to, ['owner@acme.test']);
  t.match(told[0]!.text, `${endpoint.url}\nhas accepted no event since ${new Date(begin).toISOString()}`);
  t.equal(told[0]!.key, `webhook-failing:${hook.id}:${begin}`);
  t.equal(told.length, 1);
  t.not(await webhooks.get(tenant.id, hook.id), null, 'it is never switched off');
});

t.test('a replaced secret signs beside the new one for a day', async (t) => {
  const { bench, webhooks, clock, ...stage } = await openStage(t);
  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  const old = await registered(webhooks, tenant.id, endpoint.url);
  const dispatcher = await stage.dispatcher();
  const rotated = await webhooks.rotate(tenant.id, old.id);
  if (isRefusal(rotated)) throw new Error(rotated.message);
  t.match(await webhooks.rotate(bench.id(), old.id), { refused: 'webhook_not_found' });
  const fresh = rotated.secret.toString('base64');
  const next = async () => {
    await happen(bench, domain, { ...bench.event('email.delivered'), at: clock.time });
    const all = await endpoint.until(endpoint.received.length + 1);
    await dispatcher.idle();
    return all.at(-1)!;
  };
  const both = await next();
  for (const secret of [old.secret, fresh]) t.ok(new Webhook(secret).verify(both.text, both.headers));
  t.equal(both.headers['webhook-signature']!.split(' ').length, 2);
  clock.time = rotated.previousUntil;
  const one = await next();
  t.equal(one.headers['webhook-signature']!.split(' ').length, 1);
});

t.test('certificates are verified with the name', async (t) => {
  const { bench, webhooks, store, dns, ...stage } = await openStage(t);
  const { key, cert } = makeSelfSigned('hooks.acme.test', Date.now());
  let calls = 0;
  const server = https.createServer({ key, cert }, (_request, response) => {
    calls++;
    response.writeHead(200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  dns.set('hooks.acme.test', 'A', ['127.0.0.1']);
  dns.set('else.acme.test', 'A', ['127.0.0.1']);
  const { tenant, domain } = await bench.sender('acme.test');
  const good = await registered(webhooks, tenant.id, `https://hooks.acme.test:${port}/`);
  const wrong = await registered(webhooks, tenant.id, `https://else.acme.test:${port}/`);
  const clock = { now: () => Date.now() };
  const dispatcher = await stage.dispatcher({ connections: new Connections({ clock, ca: cert }) });
  const id = await happen(bench, domain);
  await dispatcher.idle();
  const attemptsOf = (webhookId: string) =>
    store.webhooks.listWebhookAttempts(tenant.id, { webhookId, eventId: id, limit: 1 });
  t.match(await attemptsOf(good.id), [{ status: 200, state: 'delivered' }]);
  t.match(await attemptsOf(wrong.id), [{ status: null, state: 'due', reason: /ERR_TLS_CERT_ALTNAME_INVALID/ }]);
  t.equal(calls, 1);
  await dispatcher.close(0);
  const strict = await stage.dispatcher();
  await happen(bench, domain);
  await strict.idle();
  t.match(await store.webhooks.listWebhookAttempts(tenant.id, { webhookId: good.id, eventId: null, limit: 1 }), [
    { reason: /DEPTH_ZERO_SELF_SIGNED_CERT/ },
  ]);
  t.equal(calls, 1);
});
