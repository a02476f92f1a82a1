// Mail that DNS shows no way for, with the real daemon: its tenant hears of it at once, a second look decides,
// also after a kill, and what DNS alone has put on a list can be undone.
import t from 'tap';
import type { Daemon, Json } from '../support/daemon-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { patience } from '../support/patience.ts';
import { until } from '../support/until.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { addReceiver, registerSender, send, startWorld, stateOf } from '../support/world.ts';

/** Long enough for what has to come before, on any machine. */
const after = (ms: number) => `${Math.ceil(patience(ms) / 1000)}s`;

t.test('one look into DNS is no proof', async (t) => {
  const { dns, postrider } = await startWorld(t, {
    settings: {
      dns: { second_look_after: after(2000) },
      delivery: { no_route_lifetime: after(3000), source_addresses: ['127.0.0.1 out.postrider.test'] },
      webhooks: { allow_private: ['127.0.0.0/8'] },
    },
  });
  dns.addZone('test');
  dns.set('only-text.test', 'TXT', ['no mail here']);
  dns.set('six.test', 'MX', [{ exchange: 'mx.six.test', preference: 10 }]);
  dns.set('mx.six.test', 'AAAA', ['2001:db8::25']);
  const first = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, first);
  const scopes = ['--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await postrider.json('key', 'create', '--tenant', sender.tenantId, ...scopes);
  const endpoint = await startEndpoint(t);
  const hooked = await first.call(String(key), 'POST /webhooks', { body: { url: endpoint.url } });
  t.equal(hooked.status, 201);
  const told = (type: string) =>
    endpoint.received.filter(({ body }) => body.type === type).map(({ body }) => body.data as Json);

  const [gone, bare, six] = await send(first, sender, ['joe@gone.test', 'joe@only-text.test', 'joe@six.test']);
  await until('each delay is told', () => told('email.deferred').length === 3);
  t.match(
    told('email.deferred').find(({ message_id: id }) => id === gone),
    {
      delivery: {
        response: /^the domain does not seem to exist; checked again at 20/,
        next_attempt_at: String,
        attempt: 1,
      },
    },
  );
  t.match(
    told('email.deferred').find(({ message_id: id }) => id === six),
    {
      delivery: { response: /no mail server of mx\.six\.test has an IPv4 address, and ours are IPv4/, attempt: 1 },
    },
  );
  // A call that the kill cuts off would be made again, much later.
  const isTold = async () => ((await postrider.json('webhook', 'list')).webhooks as Json[])[0]!.due === 0;
  await until('the events to be known as delivered', isTold);
  await first.kill();

  const second = await postrider.serve();
  // The end may have come before the kill.
  const end = async (facts: Json) => first.find(facts)[0] ?? (await second.logged(facts));
  const bounced = await end({ fact: 'bounced', message_id: gone! });
  t.match(bounced, { bounce: 'hard', reason: /gone\.test does not exist, according to the DNS servers at/ });
  t.ok(Number(bounced.attempt) >= 2, 'not at the first look');
  for (const id of [bare, six]) {
    t.match(await end({ fact: 'failed', message_id: id! }), { reason: /given up after/ });
    t.equal(await stateOf(second, sender, id!), 'failed');
  }
  await endpoint.until(6);
  t.match(told('email.bounced'), [{ message_id: gone, bounce: { type: 'hard', suppressed: true } }]);
  t.same(
    told('email.failed')
      .map(({ message_id: id }) => id)
      .sort(),
    [bare, six].sort(),
  );
  t.same(
    told('email.deferred')
      .map(({ message_id: id }) => id)
      .sort(),
    [gone, bare, six].sort(),
    'each once',
  );

  const own = await postrider.json('suppression', 'list', '--tenant', sender.tenantId);
  t.match(own.suppressions, [{ address: 'joe@gone.test', reason: 'hard_bounce', rule: 'route-5.1.2' }]);
  t.same(await postrider.json('suppression', 'list', '--platform'), { suppressions: [], next: null });
  const undo = ['suppression', 'remove', '--since', '2026-01-01T00:00:00Z', '--rule', 'route-*'];
  t.match(await postrider.json(...undo), { platform: 0, tenants: 1 });
  const [again] = await send(second, sender, 'joe@gone.test');
  t.match(await second.logged({ fact: 'deferred', message_id: again! }), { attempt: 1 }, 'and it begins anew');
});

t.test('much mail without a route at once is held until an operator decides', async (t) => {
  const metricsPort = await findFreePort();
  const { dns, postrider, sink } = await startWorld(t, {
    settings: {
      dns: { second_look_after: after(1000) },
      suppression: { spike_hard_bounces: 5 },
      limits: { review_hard_bounce_rate: 1 },
      metrics: { port: metricsPort },
    },
  });
  dns.addZone('test');
  const first = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, first);
  const to = Array.from({ length: 8 }, (_, index) => `joe@gone${index}.test`);
  const ids = await send(first, sender, to);
  const isHeld = (line: Json) =>
    /held until an operator decides: mail without a route has spiked/.test(String(line.reason));
  const held = (daemon: Daemon) =>
    new Set(daemon.find({ fact: 'deferred' }).flatMap((line) => (isHeld(line) ? [line.message_id] : [])));
  await first.until(() => held(first).size === ids.length, 'hold all of them');
  t.same(first.find({ fact: 'bounced' }), [], 'the time of the second look has come, and nothing has bounced');
  t.match(await first.logged({ mx_group: 'no-route' }), {
    level: 'warn',
    reason: /5 of the last 5 messages had no route in DNS/,
    undo: /postrider suppression remove --since 20\S+ --rule 'route-\*'/,
    accept: "postrider suppression trust --group 'no-route'",
  });
  const { events } = (await first.call(sender.key, `GET /emails/${ids[0]}`)).body as { events: Json[] };
  t.same(
    events.map(({ type }) => type),
    ['email.deferred'],
    'its tenant is told once',
  );
  t.match(await postrider.json('suppression', 'doubts'), { doubts: [{ mx_group: 'no-route' }] });
  t.match(
    (await postrider.runHere('suppression', 'doubts')).stdout,
    /all mail without a route in DNS; it is held[\s\S]*postrider doctor/,
  );
  t.match((await postrider.runHere('queue', 'show', ids[1]!)).stdout, /held until an operator decides/);
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  t.match(metrics, /^postrider_no_route_held 1$/m);
  await first.kill();

  addReceiver(dns, 'gone0.test');
  const second = await postrider.serve();
  await second.logged({ fact: 'delivered', message_id: ids[0]! });
  t.equal(sink.mails.length, 1, 'what has a route again goes by itself');
  await second.until(() => held(second).size === ids.length - 1, 'hold the others after a restart');
  t.match(await postrider.json('suppression', 'trust', '--group', 'no-route'), { mx_group: 'no-route' });
  await second.until(() => second.find({ fact: 'bounced' }).length === ids.length - 1, 'judge the others');
  t.same(await postrider.json('suppression', 'list', '--platform'), { suppressions: [], next: null });
  const again = await postrider.runHere('suppression', 'trust', '--group', 'no-route');
  t.match(again, { code: 1, stderr: /mail without a route is not held/ });
});
