// The delivery engine from outside: what is accepted arrives, and what happens on the way is told.
import t from 'tap';
import { startDeliveryHarness } from '../support/delivery-harness.ts';
import { startMailSink } from '../support/mail-sink.ts';

t.test('a message arrives, with its return path, and its life is told', async (t) => {
  const sink = await startMailSink();
  const harness = await startDeliveryHarness({ port: sink.port });
  t.teardown(() => harness.close());
  t.teardown(() => sink.close());
  harness.dns.set('rcpt.test', 'MX', [{ exchange: 'mx.rcpt.test', preference: 10 }]);
  harness.dns.set('mx.rcpt.test', 'A', ['127.0.0.1']);

  const [id] = await harness.send(['ann@rcpt.test'], { html: '<p>Hello</p>' });
  const message = await harness.until(id!, ({ state }) => state === 'delivered');
  const [mail] = sink.mails;

  t.equal(mail!.to, 'ann@rcpt.test');
  t.match(mail!.from, /^b[a-z2-7]+.*@bounces\.postrider\.test$/);
  t.match(mail!.raw.toString(), new RegExp(`Message-ID: <${id}@sender\\.test>`, 'i'));
  t.equal(message.attempts, 1);
  t.match(message.attemptList, [
    { outcome: 'delivered', peer: { mx: 'mx.rcpt.test', remoteIp: '127.0.0.1', smtpCode: 250 } },
  ]);
  const events = await harness.store.events.eventsOfMessage(harness.tenantId, id!);
  t.match(events, [
    { type: 'email.delivered', data: { message_id: id, to: 'ann@rcpt.test', delivery: { attempt: 1 } } },
  ]);
});
