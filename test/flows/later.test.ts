// Mail for later survives the daemon: killed right behind the 202, it is still scheduled, and goes when it is moved.
import t from 'tap';
import { findFreePort } from '../support/free-port.ts';
import { messageIdOf, registerSender, send, startWorld } from '../support/world.ts';

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

t.test('a kill loses neither the message nor its time', async (t) => {
  const port = await findFreePort();
  const { postrider, dns, sink } = await startWorld(t, { settings: { metrics: { port } } });
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  const later = inHours(2);
  const [kept, canceled] = await send(daemon, sender, ['kept@receiver.test', 'canceled@receiver.test'], {
    send_at: later,
  });
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  t.match(metrics, /^postrider_queue_messages 2$/m);
  t.match(metrics, /^postrider_queue_oldest_seconds 0$/m, 'it does not wait yet');
  await daemon.kill();

  const next = await postrider.serve();
  const { submission_id: id } = (await next.call(sender.key, `GET /emails/${kept}`)).body;
  t.match((await next.call(sender.key, `GET /submissions/${id}`)).body, {
    ...{ send_at: later, messages: [{ state: 'scheduled' }, { state: 'scheduled' }] },
  });
  t.match(await postrider.runHere('queue', 'cancel', canceled!, '--reason', 'a test'), { code: 0 });
  const moved = await next.call(sender.key, `PATCH /submissions/${id}`, { body: { send_at: inHours(0) } });
  t.equal(moved.status, 200);
  await next.logged({ message_id: kept!, fact: 'delivered' });
  const goesAt = Math.floor(Date.parse(moved.body.send_at as string) / 1000) * 1000;
  const [mail] = sink.mails.filter(({ raw }) => messageIdOf(raw) === kept);
  t.equal(Date.parse(/^Date: (.+)\r$/m.exec(String(mail!.raw))![1]!), goesAt, 'the date is that of the new time');
  t.match((await next.call(sender.key, `GET /emails/${canceled}`)).body, { state: 'canceled' });
});
