// A letter with everything, through the real daemon: what each recipient gets, as mailparser reads it, and what the
// tenant is told of it.
import { createHash, randomBytes } from 'node:crypto';
import { simpleParser } from 'mailparser';
import t from 'tap';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { RECEIVER, registerSender, send, startWorld } from '../support/world.ts';

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

t.test('every recipient gets a copy of the same letter', async (t) => {
  const world = await startWorld(t, { settings: { webhooks: { allow_private: ['127.0.0.0/8'] } } });
  const daemon = await world.postrider.serve();
  const sender = await registerSender(world, daemon);
  const hooks = ['--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await world.postrider.json('key', 'create', '--tenant', sender.tenantId, ...hooks);
  const endpoint = await startEndpoint(t);
  await daemon.call(String(key), 'POST /webhooks', { body: { url: endpoint.url } });

  const photo = randomBytes(1024 * 1024);
  const labels = { tags: { kind: 'invoice' }, metadata: { Käufer: '😀' } };
  const ids = await send(daemon, sender, [`Ann <ann@${RECEIVER}>`, `two@${RECEIVER}`], {
    cc: `"Ç, D" <c@${RECEIVER}>`,
    bcc: [`hidden@${RECEIVER}`],
    reply_to: ['Schalter <desk@other.test>'],
    text: '.a line that begins with a dot',
    html: '<p>Grüße <img src="cid:logo@x"></p>',
    attachments: [
      { filename: 'Rechnung für "Ö", 空の箱.pdf', content: photo.toString('base64') },
      { filename: 'logo.png', content: 'iVBORw0KGgo=', content_id: 'logo@x' },
      { filename: 'empty', content: '' },
    ],
    ...labels,
  });
  t.equal(ids.length, 4);
  await endpoint.until(4);
  t.same(
    world.sink.mails.map(({ to }) => to).sort(),
    ['ann', 'c', 'hidden', 'two'].map((name) => `${name}@${RECEIVER}`),
  );
  const headers = new Set<string>();
  for (const { raw } of world.sink.mails) {
    const mail = await simpleParser(raw);
    t.equal([mail.to].flat()[0]!.text, `"Ann" <ann@${RECEIVER}>, two@${RECEIVER}`);
    t.equal([mail.cc].flat()[0]!.text, `"Ç, D" <c@${RECEIVER}>`);
    t.equal(mail.replyTo!.text, '"Schalter" <desk@other.test>');
    t.equal(mail.text?.trim(), '.a line that begins with a dot');
    t.same(
      mail.attachments.map(({ filename, contentType, cid, content }) => [filename, contentType, cid, sha(content)]),
      [
        ['logo.png', 'image/png', 'logo@x', sha(Buffer.from('iVBORw0KGgo=', 'base64'))],
        ['Rechnung für "Ö", 空の箱.pdf', 'application/pdf', undefined, sha(photo)],
        ['empty', 'application/octet-stream', undefined, sha(Buffer.alloc(0))],
      ],
    );
    t.notMatch(raw.toString('latin1'), /hidden@/, 'nobody sees who is in bcc');
    headers.add(String(mail.messageId));
  }
  t.equal(headers.size, 4, 'each has a Message-ID of its own');
  for (const { body } of endpoint.received) t.match(body, { type: 'email.delivered', data: labels });
});
