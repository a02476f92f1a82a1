// A message's way as a receiver of traces sees it: a real daemon, real SMTP on both sides, a webhook, and a receiver
// that is also down, slow or unwilling. Off, nothing of it is loaded.
import path from 'node:path';
import t, { type Test } from 'tap';
import { DoorClient, findDoorAddress } from '../../support/door-client.ts';
import { findFreePort } from '../../support/free-port.ts';
import { accept, type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { startEndpoint } from '../../support/webhook-endpoint.ts';
import { RECEIVER, registerSender, send, startWorld } from '../../support/world.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

/** Writes a line for each module of the traces that is loaded. */
const LOAD_WATCH = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      if (url.includes('/observe/traces/')) process.stderr.write('loaded ' + url + '\\n');
      return next(url, context);
    },
  });
`)}`;

async function openScene(t: Test, receiver: Pick<OtlpReceiver, 'url'>, traces: Record<string, string | number> = {}) {
  const [metricsPort, door] = [await findFreePort(), await findDoorAddress()];
  const settings = {
    metrics: { port: metricsPort },
    webhooks: { allow_private: ['127.0.0.1'] },
    traces: { endpoint: receiver.url, ...traces },
    ...door,
  };
  const refusals = new Map([['later', { code: 452, text: '4.2.2 Mailbox of later@receiver.test is full' }]]);
  const onRcpt = (address: string) => refusals.get(address.split('@')[0]!) ?? null;
  const world = await startWorld(t, { settings, sink: { onRcpt, server: { hideSTARTTLS: false } } });
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return { ...world, daemon, sender, door: door.submission, metrics };
}

function of(spans: readonly ReceivedSpan[], messageId: string): ReceivedSpan[] {
  return spans.filter(({ attributes }) => attributes['postrider.message_id'] === messageId);
}

function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  if (found.length !== 1) throw new Error(`${found.length} spans ${name}: ${JSON.stringify(spans)}`);
  return found[0]!;
}

function attemptsOf(spans: readonly ReceivedSpan[], messageId: string): ReceivedSpan[] {
  return of(spans, messageId).filter(({ name }) => name === 'attempt');
}

t.test('the way of a message', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const folder = testFolder(t, { headers: '# of the collector\nAuthorization: Bearer collector-secret\n\n' });
  const scene = await openScene(t, receiver, { headers_file: path.join(folder, 'headers'), service_name: 'mail' });
  const { daemon, sender, postrider, door } = scene;
  const endpoint = await startEndpoint(t);
  const rights = ['--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await postrider.json('key', 'create', '--tenant', sender.tenantId, ...rights);
  await daemon.call(String(key), 'POST /webhooks', { body: { url: `${endpoint.url}?token=hook-secret` } });

  await t.test('by HTTP, in the trace of its caller', async (t) => {
    const headers = { traceparent: `00-${TRACE}-${SPAN}-01` };
    const body = { from: `app@${sender.domain}`, to: `ann@${RECEIVER}`, subject: 'My subject', text: 'My words.' };
    const { body: answer } = await daemon.call(sender.key, 'POST /emails', { body, headers });
    const [id] = answer.message_ids as [string];
    await receiver.until((spans) => of(spans, id).some(({ name }) => name === 'webhook'));
    await receiver.until((spans) => spans.some(({ name }) => name === 'smtp dot'));
    const mine = receiver.spans.filter(({ traceId }) => traceId === TRACE);
    const acceptance = only(mine, 'accept');
    t.match(acceptance, { parentSpanId: SPAN, kind: 2, error: null });
    t.same(acceptance.attributes, {
      'postrider.message_id': id,
      'postrider.tenant_id': sender.tenantId,
      'postrider.submission_id': answer.id,
      'postrider.recipient_domain': RECEIVER,
      'postrider.source': 'http',
      'postrider.scheduled': false,
    });
    const attempt = only(mine, 'attempt');
    for (const span of [only(mine, 'wait'), attempt, only(mine, 'webhook')]) {
      t.equal(span.parentSpanId, acceptance.spanId, span.name);
    }
    t.match(attempt.attributes, { 'postrider.outcome': 'delivered', 'smtp.code': 250, 'postrider.attempt': 1 });
    t.equal(attempt.attributes['postrider.mx_group'], `mx.${RECEIVER}`);
    t.match(only(mine, 'webhook').attributes, { 'http.response.status_code': 204, 'postrider.outcome': 'delivered' });
    const stages = mine.filter(({ parentSpanId }) => parentSpanId === attempt.spanId);
    const names = stages.map(({ name }) => name.slice('smtp '.length));
    t.same(names.slice(0, 3), ['connect', 'greeting', 'ehlo']);
    t.same(names.slice(-4), ['mail', 'rcpt', 'data', 'dot']);
    t.ok(names.includes('starttls'));
    for (const span of stages) t.ok(span.startedAt >= attempt.startedAt && span.endedAt <= attempt.endedAt, span.name);
  });

  await t.test('in a batch, and as a client of Resend sends it', async (t) => {
    const mail = { from: `app@${sender.domain}`, to: `ann@${RECEIVER}`, subject: 'My subject', text: 'My words.' };
    for (const [route, body] of Object.entries({ '/emails/batch': { emails: [mail] }, '/resend/emails': mail })) {
      const trace = route.length.toString(16).padStart(32, '1');
      const headers = { traceparent: `00-${trace}-${SPAN}-01` };
      t.match(await daemon.call(sender.key, `POST ${route}`, { body, headers }), { status: /^20/ }, route);
      await receiver.until((spans) => spans.some(({ name, traceId }) => name === 'attempt' && traceId === trace));
    }
  });

  await t.test('by SMTP, deferred, in a trace of its own', async (t) => {
    const application = await DoorClient.signIn(door, sender.key);
    const raw = Buffer.from(`From: app@${sender.domain}\r\nSubject: My subject\r\n\r\nMy words.\r\n`);
    await application.hand({ to: [`later@${RECEIVER}`], raw });
    application.close();
    const { message_id: id } = await daemon.logged({ fact: 'deferred' });
    await receiver.until((spans) => attemptsOf(spans, id!).length >= 2);
    const acceptance = only(of(receiver.spans, id!), 'accept');
    t.match(acceptance, { parentSpanId: null, attributes: { 'postrider.source': 'smtp' } });
    const [attempt, next] = attemptsOf(receiver.spans, id!);
    t.match(attempt, { traceId: acceptance.traceId, error: 'deferred at rcpt: 452 4.2.2' });
    t.equal(acceptance.traceId, id!.replaceAll('-', ''));
    const [, wait] = of(receiver.spans, id!).filter(({ name }) => name === 'wait');
    t.match(wait, { startedAt: attempt?.endedAt, endedAt: next?.startedAt }, 'it waits for the next one');
  });

  await t.test('holds to the protocol, and has nothing that is private', async (t) => {
    t.same(receiver.offences, []);
    t.match(receiver.resource, { 'service.name': 'mail', 'service.version': /^\d/ });
    t.equal(receiver.headers.authorization, 'Bearer collector-secret');
    const everything = JSON.stringify(receiver.spans);
    for (const secret of [
      'ann@',
      'later@',
      'app@',
      'My subject',
      'My words',
      '/hook',
      'secret',
      sender.key,
      '127.0.0.1',
    ])
      t.notOk(everything.includes(secret), secret);
    t.notMatch(postrider.everythingLogged, 'collector-secret');
  });

  await t.test('is counted', async (t) => {
    const exported = new RegExp(`^postrider_trace_spans_exported_total ${receiver.spans.length}$`, 'm');
    t.match(await scene.metrics(), exported);
    t.match(await scene.metrics(), /^postrider_trace_spans_dropped_total 0$/m);
  });
});

t.test('mail does not wait for a receiver that is away', async (t) => {
  const port = await findFreePort();
  const { daemon, sender } = await openScene(t, { url: `http://127.0.0.1:${port}` });
  const [id] = await send(daemon, sender, `ann@${RECEIVER}`);
  await daemon.logged({ fact: 'delivered', message_id: id! });
  const receiver = await startOtlpReceiver(t, port);
  await receiver.until((spans) => of(spans, id!).some(({ name }) => name === 'attempt'));
  t.equal(only(of(receiver.spans, id!), 'accept').error, null, 'what it missed comes when it is back');
});

t.test('the end sends what is left', async (t) => {
  await t.test('to a receiver that takes it', async (t) => {
    const receiver = await startOtlpReceiver(t);
    let isClosed = true;
    receiver.answer = (response) => {
      if (!isClosed) return accept(response);
      response.writeHead(503, { 'Retry-After': '100' }).end();
      return false;
    };
    const { daemon, sender } = await openScene(t, receiver);
    const [id] = await send(daemon, sender, `ann@${RECEIVER}`);
    await daemon.logged({ fact: 'delivered', message_id: id! });
    await until('a first request', () => receiver.requests.length > 0);
    isClosed = false;
    daemon.signal('SIGTERM');
    t.same(await daemon.ended, { code: 0, signal: null });
    t.ok(of(receiver.spans, id!).some(({ name }) => name === 'attempt'));
  });

  await t.test('and does not wait for one that says nothing', async (t) => {
    const receiver = await startOtlpReceiver(t);
    receiver.answer = () => false;
    const { daemon, sender } = await openScene(t, receiver);
    await send(daemon, sender, `ann@${RECEIVER}`);
    await until('a first request', () => receiver.requests.length > 0);
    daemon.signal('SIGTERM');
    t.same(await daemon.ended, { code: 0, signal: null });
    const [line] = daemon.find({ fact: 'traces_dropped' });
    t.ok(Number(line?.spans) >= 1, String(line?.msg));
  });
});

t.test('off, nothing of it is loaded or shown', async (t) => {
  const launch = { nodeArguments: ['--import', LOAD_WATCH] };
  const receiver = await startOtlpReceiver(t);
  for (const endpoint of [null, receiver.url]) {
    const port = await findFreePort();
    const settings = { metrics: { port }, ...(endpoint !== null && { traces: { endpoint } }) };
    const world = await startWorld(t, { settings, launch });
    const daemon = await world.postrider.serve();
    const sender = await registerSender(world, daemon);
    const [id] = await send(daemon, sender, `ann@${RECEIVER}`);
    await daemon.logged({ fact: 'delivered', message_id: id! });
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const isOn = endpoint !== null;
    t.equal(/postrider_trace_/.test(page), isOn);
    t.equal(/loaded \S+exporter\.ts/.test(daemon.output), isOn, isOn ? 'note: the watch sees it' : 'not loaded');
    t.equal(/loaded /.test(daemon.output), isOn);
  }
});
