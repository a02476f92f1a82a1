// What an application sends by SMTP, through the whole daemon: it leaves as it was written, one message per recipient, and
// is told of like all other mail.
import { simpleParser } from 'mailparser';
import { createTransport, type SendMailOptions } from 'nodemailer';
import t, { type Test } from 'tap';
import { encodeQuotedPrintable } from '../../../src/protocol/mail/compose/quoted-printable.ts';
import { dsnFor } from '../../support/bounce-mail.ts';
import { submissionIdIn } from '../../support/door-client.ts';
import { findFreePort } from '../../support/free-port.ts';
import { signingRecords, verifyByMailauth } from '../../support/mail-dkim.ts';
import type { ReceivedMail, SinkOptions } from '../../support/mail-sink.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { startEndpoint } from '../../support/webhook-endpoint.ts';
import { publish, RECEIVER, registerSender, startWorld } from '../../support/world.ts';

const SERVICE_KEY = 'postrider._domainkey.bounces.mail.postrider.test';

async function startDoor(t: Test, sink: SinkOptions = {}, settings = {}) {
  const port = await findFreePort();
  const world = await startWorld(t, { sink, settings: { submission: { host: '127.0.0.1', port }, ...settings } });
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const transport = (options = {}) =>
    createTransport({ host: '127.0.0.1', port, auth: { user: 'any', pass: sender.key }, ...options });
  const hand = async (mail: SendMailOptions) => {
    const { response } = await transport().sendMail({ from: `Shop <app@${sender.domain}>`, ...mail });
    return { response, id: /queued as ([0-9a-f-]{36})$/.exec(response)?.[1] ?? '' };
  };
  return { ...world, daemon, sender, port, transport, hand };
}

const headerOf = ({ raw }: ReceivedMail) => raw.toString('latin1', 0, raw.indexOf('\r\n\r\n') + 2);
const bodyOf = ({ raw }: ReceivedMail) => raw.toString('latin1', raw.indexOf('\r\n\r\n') + 4);
const namesIn = (header: string) => [...header.matchAll(/^([!-9;-~]+):/gm)].map(([, name]) => name!);

const WRITTEN = [
  'Received: from app by host; Thu, 26 Nov 2026 10:00:00 +0000',
  'X-First: 1',
  'FROM:   "Shop, the" <app@acme.test>',
  `To: Ann <ann@${RECEIVER}>,`,
  `\tBo <bo@${RECEIVER}>`,
  'Bcc: hidden@receiver.test',
  'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
  'Message-Id: <order-4711@app.example>',
  'Date: Thu, 26 Nov 2026 11:00:00 +0100',
  'X-Postrider-Tag: kind=order',
  'X-Postrider-Metadata: {"order": "4711"}',
  'Content-Type: multipart/mixed; boundary="b 1"',
  'MIME-Version: 1.0',
  'x-last:  two  blanks',
  '',
  'preamble',
  '--b 1',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '. a dot  =E4 ',
  '.',
  '..two',
  '--b 1--',
  'epilogue',
  '',
].join('\r\n');

t.test('the mail leaves as it was written, to each recipient', async (t) => {
  const { daemon, sender, sink, transport, dns } = await startDoor(t);
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const envelope = { from: 'bounces@elsewhere.example', to: [`ann@${RECEIVER}`, `bo@${RECEIVER}`] };
  const { response } = await transport().sendMail({ envelope, raw: WRITTEN });
  const id = /^250 2\.0\.0 Ok: queued as ([0-9a-f-]{36})$/.exec(response)?.[1];
  t.ok(id, response);
  const mails = await sink.received(2);
  t.same(mails.map(({ to }) => to).sort(), envelope.to);
  const [headerWritten, bodyWritten] = WRITTEN.split('\r\n\r\n', 1).concat(
    WRITTEN.slice(WRITTEN.indexOf('\r\n\r\n') + 4),
  );
  const gone = /^(Bcc|X-Postrider-\w+):.*\r\n/gm;
  const records = await signingRecords(dns, mails[0]!.raw);
  for (const mail of mails) {
    t.match(mail.from, /^b[a-z2-7]+@bounces\.mail\.postrider\.test$/);
    t.equal(bodyOf(mail), bodyWritten, 'every octet of the body');
    const header = headerOf(mail);
    t.ok(header.endsWith(`${headerWritten!}\r\n`.replace(gone, '')), 'the fields in their order, ours in front');
    const added = namesIn(header).slice(0, -namesIn(`${headerWritten}\r\n`.replace(gone, '')).length);
    t.same(
      new Set(added),
      new Set(['DKIM-Signature', 'X-Postrider-Message-ID', 'CFBL-Address', 'CFBL-Feedback-ID', 'Feedback-ID']),
    );
    t.same(await verifyByMailauth(mail.raw, records), ['pass', 'pass']);
  }

  const submission = await daemon.call(sender.key, `GET /submissions/${id}`);
  t.match(submission, { status: 200, body: { subject: 'Grüße', from: 'app@acme.test', tags: { kind: 'order' } } });
  const [message] = submission.body.messages as { id: string; to: string }[];
  t.match(headerOf(mails.find(({ to }) => to === message!.to)!), `X-Postrider-Message-ID: ${message!.id}\r\n`);
  await daemon.logged({ fact: 'delivered', message_id: message!.id });
  const shown = await daemon.call(sender.key, `GET /emails/${message!.id}`);
  const labels = { header_message_id: 'order-4711@app.example', tags: { kind: 'order' }, metadata: { order: '4711' } };
  t.match(shown.body, {
    source: 'smtp',
    state: 'delivered',
    ...labels,
    events: [{ type: 'email.delivered', data: labels }],
  });
});

t.test('what is refused, with a reply that says what to do', async (t) => {
  const { daemon, sender, sink, transport, hand, postrider } = await startDoor(t);
  const refusal = async (sending: Promise<unknown>) => {
    const error = await sending.then(
      () => ({ response: 'accepted' }),
      (error: { response?: string }) => error,
    );
    return error.response ?? String(error);
  };
  const to = `ann@${RECEIVER}`;
  const raw = (header: string, body = 'Hello.\r\n') => `From: app@acme.test\r\nTo: ${to}\r\n${header}\r\n${body}`;
  const sendRaw = (text: string) => refusal(transport().sendMail({ envelope: { from: 'a@b.example', to }, raw: text }));

  const wrongKey = transport({ auth: { user: 'any', pass: `${sender.key}x` } });
  t.match(await refusal(wrongKey.sendMail({ from: 'app@acme.test', to, text: 'x' })), /^535 5\.7\.8 /);
  t.match(
    await refusal(hand({ from: 'app@other.test', to, text: 'x' })),
    /^550 5\.7\.1 .*other\.test is not a verified/,
  );
  t.match(await sendRaw(raw('From: app@acme.test\r\n')), /^550 5\.6\.0 From: .*twice/);
  t.match(await sendRaw(raw('X-Postrider-Tag: no value\r\n')), /^550 5\.6\.0 X-Postrider-Tag: /);
  t.match(await sendRaw(raw('X-Postrider-Tags: a=b\r\n')), /^550 5\.6\.0 X-Postrider-Tags: .*X-Postrider-Tag\?/);
  const foreign = await sendRaw(raw('X-Postrider-Tag: gr\u00f6\u00dfe=1\r\n'));
  const noAddress = await refusal(
    transport().sendMail({ envelope: { from: 'a@b.example', to: 'gr\u00f6\u00dfe@\u00e4' }, raw: raw('') }),
  );
  t.match(noAddress, /^553 5\.1\.3 [ -~]+$/, 'at RCPT, too');
  t.match(foreign, /^550 5\.6\.0 X-Postrider-Tag: "gr\?\?e" must be ASCII letters/, 'in ASCII itself');
  t.match(await sendRaw(raw('X-Postrider-Send-At: tomorrow\r\n')), /^550 5\.6\.0 X-Postrider-Send-At: /);
  const longLine = `one\r\n${'x'.repeat(999)}\r\n`;
  const signed = ['MIME-Version: 1.0', 'Content-Type: multipart/signed; boundary=s', ''].join('\r\n');
  t.match(
    await sendRaw(raw(signed, `--s\r\n\r\n${longLine}--s--\r\n`)),
    /^550 5\.6\.0 Line 9 is longer than 998 octets, and its part is signed/,
  );
  // In pieces that have been stored when the line comes.
  const large = raw('', `${'y'.repeat(70)}\r\n`.repeat(40_000) + longLine);
  t.match(await sendRaw(large), /^550 5\.6\.0 Line 40005 is longer than 998 octets, in a part of more than 2 MiB/);

  await postrider.json('suppression', 'add', '--tenant', sender.tenantId, '--address', 'gone@receiver.test');
  t.match(await refusal(hand({ to: 'gone@receiver.test', text: 'x' })), /^550 5\.1\.1 .*suppress/);

  const { id } = await hand({ to, subject: 'The only one', text: 'x' });
  await daemon.logged({ fact: 'delivered' });
  t.equal(sink.mails.length, 1);
  const { body } = await daemon.call(sender.key, 'GET /emails');
  t.match(body, { emails: [{ submission_id: id, subject: 'The only one' }], has_more: false });
});

t.test('lines that are too long are encoded, all else is as it was written', async (t) => {
  const { daemon, sender, sink, dns, transport } = await startDoor(t);
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const send = (lines: readonly string[]) => {
    const raw = Buffer.from(`${lines.join('\r\n')}\r\n`);
    return transport().sendMail({ envelope: { from: 'a@b.example', to: `ann@${RECEIVER}` }, raw });
  };
  const header = (...fields: string[]) => [`From: app@${sender.domain}`, `To: ann@${RECEIVER}`, ...fields];
  const html = `<p>${'All prices in €. '.repeat(300)}</p>`;
  const parts = (...fields: string[]) => [
    ...header('Subject: Parts', 'Content-Type: multipart/mixed; boundary=b', '', '--b', 'Content-Type: text/html'),
    ...fields,
  ];
  const others = ['--b', 'X-Odd:  two', '', ' as it was ', '--b--', 'epilogue'];
  await send([...parts('Content-Transfer-Encoding: 8bit', ''), html, ...others]);
  await send([...header('Subject: One', 'Content-Type: text/html; charset=utf-8', ''), html]);
  const mails = await sink.received(2);
  const records = await signingRecords(dns, mails[0]!.raw);
  const bySubject = (subject: string) => mails.find((mail) => headerOf(mail).includes(`Subject: ${subject}\r\n`))!;
  const encoded = encodeQuotedPrintable(Buffer.from(html)).toString('latin1');
  const lines = [
    '--b',
    'Content-Type: text/html',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    encoded,
    ...others,
  ];
  t.equal(bodyOf(bySubject('Parts')), `${lines.join('\r\n')}\r\n`);
  t.match(headerOf(bySubject('One')), 'Content-Transfer-Encoding: quoted-printable\r\n');
  t.equal(bodyOf(bySubject('One')), `${encoded}\r\n`);
  for (const { raw } of mails) t.same(await verifyByMailauth(raw, records), ['pass', 'pass']);
});

t.test('for a server without 8BITMIME, mail is encoded, unless it is signed', async (t) => {
  const { daemon, sender, sink, dns, transport } = await startDoor(t, { server: { hide8BITMIME: true } });
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const to = `ann@${RECEIVER}`;
  const send = async (...lines: string[]) => {
    const header = [`From: app@${sender.domain}`, `To: ${to}`, 'MIME-Version: 1.0'];
    const raw = Buffer.from([...header, ...lines, ''].join('\r\n'));
    const { response } = await transport().sendMail({ envelope: { from: 'a@b.example', to }, raw });
    const { body } = await daemon.call(sender.key, `GET /submissions/${submissionIdIn(response)}`);
    return (body.messages as { id: string }[])[0]!.id;
  };
  const text = [
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Gr\u00fc\u00dfe an alle im Haus.',
  ];
  const eight = ['Content-Type: multipart/mixed; boundary=b', 'Content-Transfer-Encoding: 8bit'];
  const large = Array.from({ length: 20_000 }, (_, number) => `Line ${number}: prices in \u20ac.`);
  await send(...eight, '', '--b', ...text, '--b', ...text.slice(0, 3), ...large, '--b--');
  const [mail] = await sink.received(1);
  t.match(mail!.raw.toString('latin1'), /^[\0-\x7f]*$/);
  t.match(headerOf(mail!), 'Content-Transfer-Encoding: 7bit');
  const parsed = await simpleParser(mail!.raw);
  t.equal(parsed.text?.trimEnd(), [text[3]!, ...large].join('\n'));
  t.same(await verifyByMailauth(mail!.raw, await signingRecords(dns, mail!.raw)), ['pass', 'pass']);

  const signed = ['Content-Type: multipart/signed; boundary=b', '', '--b', ...text, '--b--'];
  const bounced = await daemon.logged({ fact: 'bounced', message_id: await send(...signed) });
  t.match(bounced.reason, /does not offer 8BITMIME, and a part of the message that needs it is signed/);
  const { body } = await daemon.call(sender.key, 'GET /events?limit=10');
  t.match(body, {
    events: [{ type: 'email.delivered' }, { type: 'email.bounced', data: { bounce: { enhanced_code: '5.6.3' } } }],
  });
});

t.test('one key is one submission; a time is a schedule; what is large is whole', async (t) => {
  const { daemon, sender, sink, hand } = await startDoor(t);
  const to = `ann@${RECEIVER}`;
  const headers = { 'X-Postrider-Idempotency-Key': 'order-1' };
  const first = await hand({ to, subject: 'Once', text: 'x', headers });
  t.equal((await hand({ to, subject: 'Twice', text: 'x', headers })).response, first.response, 'the first answer');

  const content = Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) >> 3));
  await hand({ to, subject: 'Large', attachments: [{ filename: 'large.bin', content }] });
  const mails = await sink.received(2);
  const subjects = mails.map((mail) => /^Subject: (.*)\r$/m.exec(headerOf(mail))?.[1]).sort();
  t.same(subjects, ['Large', 'Once']);
  const large = bodyOf(mails.find(({ raw }) => raw.length > content.length)!);
  t.ok(large.replaceAll('\r\n', '').includes(content.toString('base64')), 'every byte of the attachment');

  const at = new Date(Date.now() + 3_600_000).toISOString();
  const later = await hand({ to, subject: 'Later', text: 'x', headers: { 'X-Postrider-Send-At': at } });
  const { body } = await daemon.call(sender.key, `GET /submissions/${later.id}`);
  t.match(body, { send_at: at, messages: [{ state: 'scheduled' }] });
});

t.test('a repeated key gets the first answer, and a recipient that bounced meanwhile is refused', async (t) => {
  const { daemon, sender, sink, transport, hand, postrider } = await startDoor(t);
  const headers = { 'X-Postrider-Idempotency-Key': 'order-2' };
  const to = [`ann@${RECEIVER}`, `gone@${RECEIVER}`];
  const first = await hand({ to, text: 'x', headers });
  await sink.received(2);
  await postrider.json('suppression', 'add', '--tenant', sender.tenantId, '--address', to[1]!);
  const again = await transport().sendMail({ from: `app@${sender.domain}`, to, text: 'x', headers });
  t.match(again, { response: first.response, accepted: [to[0]], rejected: [to[1]] });
  t.match(again.rejectedErrors, [{ response: /^550 5\.1\.1 The address is suppressed/ }]);
  await t.rejects(hand({ to: to[1]!, text: 'x', headers }), /550 5\.1\.1 The address is suppressed/);
  const { body } = await daemon.call(sender.key, 'GET /emails');
  t.equal((body as { emails: unknown[] }).emails.length, 2, 'nothing was sent twice');
});

t.test('every event has the Message-ID of the application', async (t) => {
  const settings = { webhooks: { allow_private: ['127.0.0.0/8'] } };
  const { daemon, sender, sink, transport, postrider } = await startDoor(t, {}, settings);
  const hook = await startEndpoint(t);
  const ofHooks = ['--tenant', sender.tenantId, '--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await postrider.json('key', 'create', ...ofHooks);
  await daemon.call(String(key), 'POST /webhooks', { body: { url: hook.url } });
  const names = { delivered: 'delivered-1@app.example', canceled: 'canceled-1@app.example' };
  const sendAs = async (messageId: string, to: string, headers = {}) => {
    const mail = { from: `app@${sender.domain}`, to, subject: 'Order', text: 'x', headers };
    const { response } = await transport().sendMail({ ...mail, messageId: `<${messageId}>` });
    const { body } = await daemon.call(sender.key, `GET /submissions/${response.slice(-36)}`);
    t.match(body, { source: 'smtp', header_message_id: messageId });
    return { id: body.id as string, messageId: (body.messages as { id: string }[])[0]!.id };
  };

  const first = await sendAs(names.delivered, `ann@${RECEIVER}`);
  await daemon.logged({ fact: 'delivered', message_id: first.messageId });
  const [mail] = await sink.received(1);
  const client = await SmtpClient.hello(Number((await daemon.logged({ msg: 'ready' })).smtp_port));
  await client.send({ from: '', to: mail!.from, data: dsnFor(mail!) });
  client.close();
  await daemon.logged({ fact: 'bounced', message_id: first.messageId });

  const at = new Date(Date.now() + 3_600_000).toISOString();
  const later = await sendAs(names.canceled, `bo@${RECEIVER}`, { 'X-Postrider-Send-At': at });
  const canceled = await daemon.call(sender.key, `POST /submissions/${later.id}/cancel`);
  t.same(canceled.body, { canceled: [later.messageId], too_late: [] });

  const expected = [
    { type: 'email.delivered', data: { header_message_id: names.delivered } },
    { type: 'email.bounced', data: { header_message_id: names.delivered, bounce: { source: 'dsn' } } },
    { type: 'email.canceled', data: { header_message_id: names.canceled, cancellation: { by: 'sender' } } },
  ];
  const { body } = await daemon.call(sender.key, 'GET /events');
  t.match(body, { events: expected, has_more: false });
  await hook.until(3);
  const told = hook.received.map(({ text }) => JSON.parse(text) as { type: string });
  const byType = (a: { type: string }, b: { type: string }) => a.type.localeCompare(b.type);
  t.match(told.sort(byType), expected.toSorted(byType), 'webhooks as well');
  const listed = (await daemon.call(sender.key, 'GET /emails')).body.emails as object[];
  t.match(listed, [{ header_message_id: names.canceled }, { header_message_id: names.delivered }]);
});

t.test('what was answered 250 survives the death of the daemon', async (t) => {
  let isUp = false;
  const { daemon, sink, hand, postrider } = await startDoor(t, {
    onRcpt: () => (isUp ? null : { code: 450, text: '4.2.0 not yet' }),
  });
  const text = 'It is on disk.\r\n'.repeat(50_000);
  await hand({ to: `ann@${RECEIVER}`, subject: 'Kept', text });
  await daemon.kill();
  isUp = true;
  const again = await postrider.serve();
  const [mail] = await sink.received(1);
  t.match(headerOf(mail!), 'Subject: Kept\r\n');
  t.equal(bodyOf(mail!).match(/It is on disk\./g)?.length, 50_000);
  await again.stop();
});
