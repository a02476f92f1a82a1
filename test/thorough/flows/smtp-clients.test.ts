// What applications send by SMTP arrives at the receiving server as they wrote it: over the real daemon, with programs
// that they send with.
import { randomBytes } from 'node:crypto';
import { simpleParser } from 'mailparser';
import t from 'tap';
import { plain } from '../../submission/door/door-kit.ts';
import { findFreePort } from '../../support/free-port.ts';
import type { ReceivedMail } from '../../support/mail-sink.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { SMTP_PROGRAMS } from '../../support/smtp-programs.ts';
import { testFolder } from '../../support/test-folder.ts';
import { RECEIVER, registerSender, startWorld } from '../../support/world.ts';

const TO = [`jo@${RECEIVER}`, `ann@${RECEIVER}`];
const CONTENT = {
  to: TO,
  subject: 'Grüße, your order №5',
  text: 'Hello Jo,\n.\n..\nthank you! ☃\n',
  attachment: { filename: 'order.bin', content: randomBytes(20_000) },
};
const ANSWER = /Ok: queued as ([0-9a-f-]{36})/;

t.test('programs send through the door', async (t) => {
  const port = await findFreePort();
  const settings = { submission: { host: '127.0.0.1', port } };
  const { dns, sink, postrider } = await startWorld(t, { settings });
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  const from = `app@${sender.domain}`;
  const login = { host: '127.0.0.1', port, user: 'apikey', key: sender.key };
  let count = 0;
  const arrived = async (mails: number): Promise<ReceivedMail[]> => {
    const all = await sink.received(count + mails);
    const latest = all.slice(count);
    count = all.length;
    return latest;
  };

  for (const { name, missing, send } of SMTP_PROGRAMS) {
    await t.test(name, { skip: missing }, async (t) => {
      const { ok, said } = await send(login, { from, ...CONTENT }, testFolder(t, {}));
      t.ok(ok, said);
      const mails = await arrived(TO.length);
      t.same(mails.map(({ to }) => to).sort(), [...TO].sort(), 'a message for each recipient');
      t.equal(new Set(mails.map(({ from: path }) => path)).size, TO.length, 'with return paths of their own');
      for (const { raw } of mails) {
        const mail = await simpleParser(raw);
        t.equal(mail.subject, CONTENT.subject);
        t.equal(mail.text?.replaceAll('\r\n', '\n').trimEnd(), CONTENT.text.trimEnd());
        t.same(mail.attachments[0]?.content, CONTENT.attachment.content);
        t.equal((mail.headers.get('dkim-signature') as unknown[] | undefined)?.length, 2);
      }
      const wrong = await send(login, { from: 'app@elsewhere.test', ...CONTENT }, testFolder(t, {}));
      t.notOk(wrong.ok, 'a sender at a domain of someone else');
      t.match(wrong.said, /550|5\.7\.1/);
      const noKey = await send({ ...login, key: 'pr_wrong' }, { from, ...CONTENT }, testFolder(t, {}));
      t.notOk(noKey.ok, 'a wrong key');
      t.match(noKey.said, /535|denied|failed/i);
    });
  }

  await t.test('the octets stay as they were written', async (t) => {
    const client = await SmtpClient.hello(port);
    await client.ask(plain(sender.key));
    const head = [
      'Received: from app by web; Thu, 26 Nov 2026 01:00:00 +0000',
      `from:  "App"  <${from}>`,
      'X-Odd :  spaces  stay',
      'Subject: folded',
      '\tsubject',
      'Bcc: hidden@receiver.test',
      'Message-ID: <own@app.test>',
      'X-Postrider-Tag: kind=order',
    ];
    const body = 'Tab\there  \r\n.dot\r\n\r\n\r\nlast';
    const reply = await client.send({ from: '', to: TO[0]!, data: `${head.join('\r\n')}\r\n\r\n${body}` });
    const [, submissionId] = ANSWER.exec(reply) ?? [];
    t.ok(submissionId, reply);
    const [mail] = await arrived(1);
    const raw = mail!.raw.toString('latin1');
    const kept = head.filter((line) => !/^(Bcc|X-Postrider-)/.test(line)).join('\r\n');
    t.match(raw, kept, 'header fields in their order');
    t.ok(raw.endsWith(`\r\n\r\n${body}\r\n`), 'and the body');
    t.notMatch(raw, 'hidden@receiver.test');
    t.notMatch(raw, 'X-Postrider-Tag');
    t.match(raw, /^X-Postrider-Message-ID: [0-9a-f-]{36}\r$/m);

    t.match(await client.send({ from: '', to: TO[0]!, data: 'Subject: no sender\r\n\r\n' }), /^550 5\.6\.0 .*From/);
    const foreign = 'From: a@elsewhere.test\r\n\r\n';
    t.match(await client.send({ from: '', to: TO[0]!, data: foreign }), /^550 5\.7\.1/);
    const keyed = `From: ${from}\r\nX-Postrider-Idempotency-Key: once\r\n\r\nHello.`;
    const first = await client.send({ from: '', to: TO[0]!, data: keyed });
    t.match(first, ANSWER);
    t.equal(await client.send({ from: '', to: TO[0]!, data: keyed }), first, 'repeated: the first answer');
    await arrived(1);
    client.close();
  });

  await t.test('Unicode addresses and pipelining', async (t) => {
    const client = await SmtpClient.hello(port);
    await client.ask(plain(sender.key));
    const data = `From: ${from}\r\nSubject: one after the other\r\n\r\nHello.\r\n.\r\n`;
    for (let number = 0; number < 3; number++) {
      client.write(`MAIL FROM:<${from}> SMTPUTF8\r\nRCPT TO:<jö${number}@${RECEIVER}>\r\nDATA\r\n`);
      for (const expected of ['250', '250', '354']) t.match(await client.reply(), new RegExp(`^${expected}`));
      client.write(data);
      t.match(await client.reply(), ANSWER);
    }
    const mails = await arrived(3);
    t.same(
      mails.map(({ to }) => to).sort(),
      [0, 1, 2].map((number) => `jö${number}@${RECEIVER}`),
    );
    client.close();
  });
  t.same(await daemon.stop(), { code: 0, signal: null });
});
