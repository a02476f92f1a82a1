// Somebody who gets mail of the service itself complains about it, again and again: resets, invitations and
// notices go on, to that address as well. Two complaints stopped them all before.
import t from 'tap';
import { composeArf } from '../../src/protocol/mail/reports/arf.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { RECEIVER, startWorld } from '../support/world.ts';

const BOUNCES = 'bounces.mail.postrider.test';
const OPERATOR = `ops@${RECEIVER}`;

t.test('complaints about mail of the service stop nothing', async (t) => {
  const { postrider, sink } = await startWorld(t, { settings: { service: { operator_address: OPERATOR } } });
  const daemon = await postrider.serve();
  const smtpPort = Number((await daemon.logged({ msg: 'ready' })).smtp_port);
  const bring = async (to: string, from: string, data: Buffer | string) => {
    const client = await SmtpClient.hello(smtpPort);
    const reply = await client.send({ from, to, data: Buffer.from(data) });
    client.close();
    return daemon.logged({ fact: 'inbound', inbound_id: /kept as (\S+)$/.exec(reply)![1]! });
  };
  const text = 'From: Jo <jo@people.test>\r\nSubject: Hello\r\n\r\nPlease call me.\r\n';
  const letter = async (count: number) => {
    t.match(await bring(`postmaster@${BOUNCES}`, 'jo@people.test', text), { effect: 'forwarded' });
    return (await sink.received(count))[count - 1]!;
  };
  for (let count = 1; count <= 3; count++) {
    const { raw } = await letter(count);
    const complaint = composeArf({
      feedbackType: count === 3 ? 'opt-out' : 'abuse',
      from: 'complaints@provider.test',
      to: `fbl@${BOUNCES}`,
      originalMessage: raw,
      sourceIp: '192.0.2.1',
      arrivalDate: new Date('2026-11-20T10:00:00Z'),
      reportedDomain: BOUNCES,
      originalRcptTo: OPERATOR,
      reportingMta: 'mx.provider.test',
      date: new Date('2026-11-20T11:00:00Z'),
    });
    const done = await bring(`fbl@${BOUNCES}`, '', complaint);
    t.match(done, { kind: 'complaint', effect: 'complained', reason: /no address is suppressed/ });
  }
  t.equal((await letter(4)).to, OPERATOR, 'the next one arrives');
  const { tenants } = await postrider.json('tenant', 'list');
  t.match(tenants, [{ name: /mail of the service itself/, status: 'active' }]);
  const { suppressions } = await postrider.json('suppression', 'list', '--tenant', (tenants as [{ id: string }])[0].id);
  t.same(suppressions, []);
});

t.test('what others have said of an address keeps no mail of the service from it', async (t) => {
  const { postrider, sink } = await startWorld(t, { settings: { service: { operator_address: OPERATOR } } });
  const daemon = await postrider.serve();
  await postrider.json('suppression', 'add', '--platform', '--address', OPERATOR);
  const client = await SmtpClient.hello(Number((await daemon.logged({ msg: 'ready' })).smtp_port));
  const data = Buffer.from('From: Jo <jo@people.test>\r\nSubject: Hello\r\n\r\nPlease call me.\r\n');
  await client.send({ from: 'jo@people.test', to: `postmaster@${BOUNCES}`, data });
  client.close();
  t.match(await sink.received(1), [{ to: OPERATOR }]);
});
