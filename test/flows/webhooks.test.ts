// Events leave the real daemon: signed, again after a kill, replayed by the operator, dropped with
// their webhook; and whoever reads the feed while many write skips none.
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import type { Daemon, Json } from '../support/daemon-process.ts';
import { until } from '../support/until.ts';
import { type Received, startEndpoint } from '../support/webhook-endpoint.ts';
import { RECEIVER, registerSender, type Sender, send, startWorld, type World } from '../support/world.ts';

async function startHooked(
  t: Parameters<typeof startWorld>[0],
): Promise<{ world: World; daemon: Daemon; sender: Sender; hooks: string }> {
  const world = await startWorld(t, { settings: { webhooks: { allow_private: ['127.0.0.0/8'] } } });
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const scopes = ['--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await world.postrider.json('key', 'create', '--tenant', sender.tenantId, ...scopes);
  return { world, daemon, sender, hooks: String(key) };
}

t.test('a delivered mail is told, over a kill of the daemon, and can be replayed', async (t) => {
  const { world, daemon, sender, hooks } = await startHooked(t);
  const { postrider } = world;
  const endpoint = await startEndpoint(t);
  const hook = (await daemon.call(hooks, 'POST /webhooks', { body: { url: endpoint.url } })).body;
  const secret = String(hook.secret);
  const [first] = await send(daemon, sender, `ann@${RECEIVER}`, { subject: 'Grüße' });
  const [told] = await endpoint.until(1);
  t.match(verified(secret, told!), {
    type: 'email.delivered',
    family: 'delivery',
    data: { message_id: first, subject: 'Grüße' },
  });
  const feed = (await daemon.call(sender.key, 'GET /events')).body.events as Json[];
  t.strictSame(told!.body, feed[0], 'as the feed shows it');

  endpoint.answer = () => {}; // and it hangs
  const [second] = await send(daemon, sender, `bob@${RECEIVER}`);
  await endpoint.until(2);
  await daemon.kill();
  const rotated = await postrider.json('webhook', 'rotate', String(hook.id));
  const fresh = String(rotated.secret);
  endpoint.answer = (response) => response.writeHead(500).end('not <b>now</b>');
  const next = await postrider.serve();
  const [, cutOff, again] = await endpoint.until(3);
  t.equal(again!.id, cutOff!.id, 'the same id');
  t.equal(again!.body.data.message_id, second);

  const id = String(hook.id);
  const attempts = await until('an attempt that is stored', async () => {
    const found = (await postrider.json('webhook', 'attempts', id, '--event', again!.id)).attempts as Json[];
    return found.length > 0 ? found : null;
  });
  t.match(attempts, [
    { status: 500, answer: 'not <b>now</b>', state: 'due', next_attempt_at: String, elapsed_ms: Number },
  ]);
  t.match(await postrider.json('webhook', 'list'), { webhooks: [{ id, due: 1, failed: 0, failing_since: String }] });
  endpoint.answer = (response) => response.writeHead(204).end();
  t.match(await postrider.json('webhook', 'replay', id, '--event', again!.id), { replayed: 1 });
  const replayed = (await endpoint.until(4))[3]!;
  t.equal(replayed.id, again!.id);
  for (const either of [secret, fresh]) verified(either, replayed);
  t.match(
    await postrider.json('webhook', 'replay', id, '--event', told!.id),
    { replayed: 1 },
    'one that had arrived, too',
  );
  t.equal((await endpoint.until(5))[4]!.id, told!.id);
  t.match(await postrider.json('webhook', 'replay', id, '--failed-since', '2026-01-01T00:00:00Z'), { replayed: 0 });
  t.match(await postrider.runHere('webhook', 'replay', id), {
    code: 2,
    stderr: /exactly one of --event and --failed-since/,
  });
  t.match(await postrider.runHere('webhook', 'rotate', first!), { code: 1, stderr: /there is no webhook/ });
  t.match(await postrider.runHere('webhook', 'attempts', first!), { code: 1, stderr: /there is no webhook/ });
  t.match(await postrider.runHere('webhook', 'replay', id, '--event', first!), {
    code: 1,
    stderr: /its tenant has no event/,
  });
  t.match((await postrider.runHere('webhook', 'attempts', id)).stdout, /STATUS[\s\S]*204[\s\S]*500 .*not <b>now<\/b>/);

  t.equal((await next.call(hooks, `DELETE /webhooks/${id}`)).status, 204);
  await send(next, sender, `carl@${RECEIVER}`);
  await world.sink.received(3);
  await next.stop();
  t.equal(endpoint.received.length, 5, 'nothing after the deletion');
  for (const either of [secret, fresh]) t.notOk(postrider.everythingLogged.includes(either), 'no secret is in the log');
  const { keys } = await postrider.json('key', 'list', '--tenant', sender.tenantId);
  t.match(keys, [{ last_used_at: String }, { last_used_at: String }], 'uses of keys are written at the end');
});

t.test('targets inside are refused at the call', async (t) => {
  const world = await startWorld(t);
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const scopes = ['--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await world.postrider.json('key', 'create', '--tenant', sender.tenantId, ...scopes);
  const endpoint = await startEndpoint(t);
  world.dns.set('inside.test', 'A', ['127.0.0.1']);
  const url = `http://inside.test:${endpoint.port}/`;
  const hook = (await daemon.call(String(key), 'POST /webhooks', { body: { url } })).body;
  await send(daemon, sender, `ann@${RECEIVER}`);
  const line = await daemon.logged({ fact: 'webhook_retry', webhook_id: String(hook.id) });
  t.match(line.reason, /^Not called: inside\.test resolves to 127\.0\.0\.1 .*webhooks\.allow_private/);
  t.equal(endpoint.received.length, 0);
});

const WRITERS = 8;
const PER_WRITER = 12;

t.test('whoever follows the cursor of the feed while many write gets every event once, in one order', async (t) => {
  const { world, daemon, sender, hooks } = await startHooked(t);
  const endpoint = await startEndpoint(t);
  await daemon.call(hooks, 'POST /webhooks', { body: { url: endpoint.url } });
  const wanted = WRITERS * PER_WRITER;
  const sent: string[] = [];
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < PER_WRITER; n++) sent.push(...(await send(daemon, sender, `w${writer}-${n}@${RECEIVER}`)));
    }),
  );
  const readers = await Promise.all([follow(daemon, sender, wanted, 1), follow(daemon, sender, wanted, 7), writing]);
  const whole = ((await daemon.call(sender.key, 'GET /events?limit=1000')).body.events as Json[]).map(({ id }) => id);
  t.strictSame(readers[0], whole, 'read one by one');
  t.strictSame(readers[1], whole, 'read by sevens');
  t.equal(new Set(whole).size, wanted);
  await endpoint.until(wanted);
  t.strictSame(endpoint.received.map(({ id }) => id).sort(), [...whole].sort(), 'and the webhook got each');
  t.strictSame(endpoint.received.map(({ body }) => body.data.message_id).sort(), sent.sort());
  await world.sink.received(wanted);
});

async function follow(daemon: Daemon, sender: Sender, wanted: number, limit: number): Promise<string[]> {
  const ids: string[] = [];
  await until(`${wanted} events`, async () => {
    for (let more = true; more; ) {
      const after = ids.length > 0 ? `&after=${ids.at(-1)}` : '';
      const { body } = await daemon.call(sender.key, `GET /events?limit=${limit}${after}`);
      ids.push(...(body.events as Json[]).map(({ id }) => String(id)));
      more = body.has_more === true;
    }
    return ids.length >= wanted ? ids : null;
  });
  return ids;
}

function verified(secret: string, { text, headers }: Received): unknown {
  return new Webhook(secret).verify(text, headers);
}
