// What becomes of a message that is not taken at once: tried again, bounced, suppressed. Trouble
// on the way (a receiver or DNS that is away) never bounces anything.
import t from 'tap';
import type { Json } from '../support/daemon-process.ts';
import { type MailSink, type SinkReply, startMailSink } from '../support/mail-sink.ts';
import { addReceiver, RECEIVER, registerSender, send, startWorld } from '../support/world.ts';

t.test('greylisting: not now, then yes', async (t) => {
  const seen = new Set<string>();
  const onRcpt = (address: string): SinkReply | null => {
    if (seen.has(address)) return null;
    seen.add(address);
    return { code: 451, text: '4.7.1 Greylisted, come back later' };
  };
  const world = await startWorld(t, { sink: { onRcpt }, settings: { delivery: { retry_jitter: 0 } } });
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const [id] = await send(daemon, sender, `joe@${RECEIVER}`);
  await daemon.logged({ fact: 'delivered', message_id: id! });

  const { body } = await daemon.call(sender.key, `GET /emails/${id}`);
  t.match(body, { state: 'delivered' });
  const [deferred, delivered] = body.events as { type: string; timestamp: string; data: { delivery: Json } }[];
  t.match(deferred, {
    type: 'email.deferred',
    data: { delivery: { smtp_code: 451, enhanced_code: '4.7.1', attempt: 1 } },
  });
  t.match(delivered, { type: 'email.delivered', data: { delivery: { smtp_code: 250, attempt: 2 } } });
  const pauseMs = Date.parse(String(deferred!.data.delivery.next_attempt_at)) - Date.parse(deferred!.timestamp);
  t.equal(pauseMs, 100, 'the first step of the ladder');
  t.match(await world.postrider.json('queue', 'show', id!), {
    attempts: 2,
    attempt_list: [
      { attempt: 1, outcome: 'temporary', stage: 'rcpt', response: /Greylisted/ },
      { attempt: 2, outcome: 'delivered' },
    ],
  });
  t.equal(world.sink.mails.length, 1);
});

t.test('a mailbox that does not exist is written to once', async (t) => {
  const replies: Record<string, SinkReply> = {
    gone: { code: 550, text: '5.1.1 No such user here' },
    blocked: { code: 550, text: '5.7.1 Not from you' },
  };
  const world = await startWorld(t, { sink: { onRcpt: (address) => replies[address.split('@')[0]!] ?? null } });
  const { postrider } = world;
  const daemon = await postrider.serve();
  const sender = await registerSender(world, daemon);
  const [gone, blocked] = await send(daemon, sender, [`gone@${RECEIVER}`, `blocked@${RECEIVER}`]);
  await daemon.logged({ fact: 'bounced', message_id: gone! });
  await daemon.logged({ fact: 'bounced', message_id: blocked! });

  const bounce = async (id: string) => {
    const { body } = await daemon.call(sender.key, `GET /emails/${id}`);
    t.equal(body.state, 'bounced');
    const [event] = body.events as { type: string; data: { bounce: Json } }[];
    t.equal(event?.type, 'email.bounced');
    return event?.data.bounce;
  };
  t.match(await bounce(gone!), { type: 'hard', source: 'smtp', smtp_code: 550, suppressed: true });
  t.match(await bounce(blocked!), { type: 'block', enhanced_code: '5.7.1', suppressed: false });
  t.match(await postrider.json('suppression', 'list', '--tenant', sender.tenantId), {
    suppressions: [{ address: `gone@${RECEIVER}`, reason: 'hard_bounce', message_id: gone }],
  });

  const mail = { from: `app@${sender.domain}`, subject: 'Again', text: 'Again.' };
  const again = (to: string[]) => daemon.call(sender.key, 'POST /emails', { body: { ...mail, to } });
  t.match(await again([`Gone@${RECEIVER}`]), { status: 422, body: { error: 'all_recipients_suppressed' } });
  const both = await again([`gone@${RECEIVER}`, `joe@${RECEIVER}`]);
  t.match(both, { status: 202, body: { rejected: [{ to: `gone@${RECEIVER}`, reason: 'hard_bounce' }] } });
  const [received] = await world.sink.received(1);
  t.equal(received!.to, `joe@${RECEIVER}`);

  const other = await registerSender(world, daemon, { name: 'Other', domain: 'other.test' });
  const body = { ...mail, from: `app@${other.domain}`, to: `gone@${RECEIVER}` };
  const byOther = await daemon.call(other.key, 'POST /emails', { body });
  t.match(byOther, { status: 422, body: { error: 'all_recipients_suppressed' } }, 'the platform knows for all tenants');

  await postrider.json('suppression', 'remove', '--tenant', sender.tenantId, '--address', `gone@${RECEIVER}`);
  await postrider.json('suppression', 'remove', '--platform', '--address', `gone@${RECEIVER}`);
  t.match(await again([`gone@${RECEIVER}`]), { status: 202 }, 'until the operator knows better');
});

t.test('a domain that takes no mail bounces with the reason', async (t) => {
  const world = await startWorld(t);
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  world.dns.set('null-mx.test', 'MX', [{ exchange: '', preference: 0 }]);
  const [id] = await send(daemon, sender, 'joe@null-mx.test');
  await daemon.logged({ fact: 'bounced', message_id: id! });
  const bounce = { type: 'hard', diagnostic: /accepts no mail/ };
  const { body } = await daemon.call(sender.key, `GET /emails/${id}`);
  t.match(body, { state: 'bounced', events: [{ type: 'email.bounced', data: { bounce } }] });
});

t.test('when DNS is away, mail waits for it', async (t) => {
  const world = await startWorld(t);
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  world.dns.behave(RECEIVER, 'servfail');
  const [id] = await send(daemon, sender, `joe@${RECEIVER}`);
  t.match(await daemon.logged({ fact: 'deferred', message_id: id! }), {
    stage: 'resolve',
    reason: /DNS did not answer/,
  });
  await daemon.until(() => daemon.find({ fact: 'deferred', message_id: id! }).length >= 2, 'defer it twice');
  world.dns.behave(RECEIVER, null);
  await daemon.logged({ fact: 'delivered', message_id: id! });
  t.equal(world.sink.mails.length, 1);
});

t.test('when the receiver is away, mail waits for it', async (t) => {
  const world = await startWorld(t);
  const { port } = world.sink;
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  addReceiver(world.dns, 'late.test');
  await world.sink.close();
  const [id] = await send(daemon, sender, 'joe@late.test');
  const line = await daemon.logged({ fact: 'deferred', message_id: id! });
  t.match(line, { stage: 'connect', reason: /no mail server of the recipient accepted a connection/ });
  const back: MailSink = await startMailSink({ port });
  t.teardown(() => back.close());
  await daemon.logged({ fact: 'delivered', message_id: id! });
  t.match(await back.received(1), [{ to: 'joe@late.test' }]);
});
