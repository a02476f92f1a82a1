// What a call may have beyond text and recipients, in the portal: copies, tags, metadata, tracking and attachments on the page of
// a message, the download of attachments, and the source with them.
import { createHash, randomBytes } from 'node:crypto';
import { simpleParser } from 'mailparser';
import t from 'tap';
import { withDatabase } from '../support/database.ts';
import type { Page } from '../support/page-reader.ts';
import { startPortal } from '../support/portal.ts';
import { addReceiver, registerSender, send } from '../support/world.ts';

const PROBE = '"><script>xss-probe';
const MARKUP = `${PROBE}</script><xss-probe onxss=1>`;
const PDF = Buffer.from('%PDF-1.7 Größe\r\n\0\xff', 'latin1');
const LOGO = Buffer.from('\x89PNG\r\n', 'latin1');
const FILES = [
  { filename: `Rechnung Größe ${PROBE}.pdf`, content: PDF.toString('base64') },
  { filename: 'logo.png', content: LOGO.toString('base64'), content_id: 'logo@1' },
  { filename: 'page.html', content: Buffer.from('<script>alert(1)</script>').toString('base64') },
  { filename: 'nothing', content: '' },
];

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A mailbox with a name in quotes (RFC 5322 section 3.2.4). */
const named = (name: string, address: string) => `"${name.replaceAll('"', '\\"')}" <${address}>`;

/** Hrefs of the downloads on a page, by the text of the link. */
function downloads(page: Page): Record<string, string> {
  const found = page.links.filter(({ href }) => href.includes('/attachments/'));
  return Object.fromEntries(found.map(({ href, text }) => [text, href]));
}

t.test('letters', async (t) => {
  const world = await startPortal(t);
  const { daemon, sender, sink, postrider } = world;
  addReceiver(world.dns, 'second.test');
  const visitor = await world.visitor();
  const html = '<p><img src="cid:logo@1"> Hello</p>';
  const [ann, bo, bcc] = await send(daemon, sender, named(`Ann ${PROBE}`, 'ann@receiver.test'), {
    ...{
      cc: [`Bo <bo@second.test>`],
      bcc: 'archive@receiver.test',
      reply_to: named(`Office ${PROBE}`, 'office@acme.test'),
    },
    ...{ html, attachments: FILES, tags: { kind: 'invoice' }, metadata: { [MARKUP]: MARKUP } },
    tracking: { opens: false, clicks: true },
  });
  const [plain] = await send(daemon, sender, 'plain@receiver.test', { html: '<p>Hello</p>' });
  for (const id of [ann, bo, bcc, plain]) await daemon.logged({ message_id: id!, fact: 'delivered' });
  const path = `/portal/messages/${ann}`;

  await t.test('the page shows the copy, the lists, the labels, tracking and attachments', async (t) => {
    const page = await visitor.get(path);
    t.equal(page.status, 200);
    t.ok(page.text.includes(`Visible To Ann ${PROBE} ann@receiver.test`));
    t.match(page.text, /Copy To Visible To/);
    t.match(page.text, /Visible Cc Bo bo@second.test/);
    t.ok(page.text.includes(`Reply-To Office ${PROBE} office@acme.test`));
    t.notMatch(page.text, /Visible .*archive@receiver.test.* Message ID/, 'who is in bcc is in no list');
    t.match(page.text, /Tracking opens off, clicks on \(set by the call\)/);
    t.match(page.text, /Tag kind invoice/);
    t.ok(page.text.includes(`Metadata ${MARKUP} ${MARKUP}`));
    t.match(page.text, /logo.png image\/png 6 B inline, cid:logo@1/);
    t.ok(page.text.includes(`Größe ${PROBE}.pdf application/pdf ${PDF.length} B attachment`));
    t.match(page.text, /nothing application\/octet-stream 0 B attachment/);
    t.match((await visitor.get(`/portal/messages/${bo}`)).text, /Copy Cc/);
    t.match((await visitor.get(`/portal/messages/${bcc}`)).text, /Copy Bcc/);
  });

  await t.test('the list shows the tags, and finds by them', async (t) => {
    const [other] = await send(daemon, sender, 'other@receiver.test', {
      tags: { kind: 'receipt', campaign: 'spring' },
    });
    await daemon.logged({ message_id: other!, fact: 'delivered' });
    const listed = async (query: string) => {
      const { links } = await visitor.get(`/portal/messages${query}`);
      return links.filter(({ href }) => /\/messages\/[0-9a-f-]{36}$/.test(href)).map(({ text }) => text);
    };
    const { links } = await visitor.get('/portal/messages');
    const tag = links.find(({ text }) => text === 'kind:receipt')!;
    t.equal(tag.href, '/portal/messages?tag=kind%3Areceipt');
    t.same(await listed('?tag=kind%3Areceipt'), ['other@receiver.test']);
    t.same(await listed('?tag=campaign%3Aspring&state=failed'), []);
    t.same(await listed('?tag=kind%3Ainvoice'), ['archive@receiver.test', 'bo@second.test', 'ann@receiver.test']);
    const wrong = await visitor.get(`/portal/messages?${new URLSearchParams({ tag: PROBE })}`);
    t.match(wrong, { status: 422, text: /Enter name and value of a tag, like campaign:spring/ });
    t.notMatch(wrong.source, /<script>xss/);
  });

  await t.test('nothing of it becomes markup', async (t) => {
    for (const at of [path, `${path}/source`]) {
      const page = await visitor.get(at);
      t.notMatch(page.source, /<xss-probe|<script>/);
      t.same(
        page.texts((name, attributes) => name === 'xss-probe' || 'onxss' in attributes),
        [],
      );
    }
  });

  await t.test('a plain message shows none of these parts', async (t) => {
    const { text } = await visitor.get(`/portal/messages/${plain}`);
    t.match(text, /Message ID/);
    t.notMatch(text, /Copy (?:To|Cc|Bcc)|Visible|Reply-To|Tracking opens|Tags and metadata|Attachments/);
  });

  await t.test('each attachment is downloaded as it was sent, and no browser shows it', async (t) => {
    const hrefs = downloads(await visitor.get(path));
    t.equal(Object.keys(hrefs).length, FILES.length);
    for (const { filename, content } of FILES) {
      const answer = await visitor.raw('GET', hrefs[filename]!);
      t.equal(answer.status, 200, filename);
      t.equal(digest(Buffer.from(await answer.arrayBuffer())), digest(Buffer.from(content, 'base64')));
      t.equal(answer.headers.get('content-type'), 'application/octet-stream');
      t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      t.match(answer.headers.get('content-security-policy'), /^sandbox; default-src 'none'/);
      t.match(answer.headers.get('cache-control'), /no-store/);
      t.match(answer.headers.get('content-disposition'), /^attachment; filename="/);
    }
    const answer = await visitor.raw('GET', hrefs[FILES[0]!.filename]!);
    await answer.body?.cancel();
    t.equal(
      answer.headers.get('content-disposition'),
      `attachment; filename="Rechnung Gr__e _><script>xss-probe.pdf"; filename*=UTF-8''Rechnung%20Gr%C3%B6%C3%9Fe%20%22%3E%3Cscript%3Exss-probe.pdf`,
    );
  });

  await t.test('a large one, too; its source is too large to show', async (t) => {
    const content = randomBytes(3_800_000);
    const attachments = [{ filename: 'large.bin', content: content.toString('base64') }];
    const [large] = await send(daemon, sender, 'large@receiver.test', { attachments });
    const answer = await visitor.raw('GET', `/portal/messages/${large}/attachments/0`);
    t.equal(digest(Buffer.from(await answer.arrayBuffer())), digest(content));
    t.match((await visitor.get(`/portal/messages/${large}`)).text, /large.bin application\/octet-stream 3.6 MiB/);
    const source = await visitor.get(`/portal/messages/${large}/source`);
    t.equal(source.status, 200);
    t.match(source.text, /The message is too large to show its source here/);
  });

  await t.test('unknown positions are not there', async (t) => {
    for (const position of ['4', '-1', '00', '1.0', '1e0', 'x', '100', '%30%00', '9'.repeat(400)]) {
      const page = await visitor.get(`${path}/attachments/${position}`);
      t.equal(page.status, 404, position);
    }
    t.equal((await visitor.get(`/portal/messages/no-id/attachments/0`)).status, 404);
    t.equal((await visitor.get(`/portal/messages/${plain}/attachments/0`)).status, 404);
  });

  await t.test("another tenant's people and guests get none", async (t) => {
    const other = await registerSender(world, daemon, { name: 'Other', domain: 'other.test' });
    const arguments_ = ['--tenant', other.tenantId, '--role', 'owner', '--email', 'boss@other.test'];
    const { password } = await postrider.json('user', 'create', ...arguments_);
    const stranger = await world.visitor({ email: 'boss@other.test', password: String(password) });
    t.equal((await stranger.get(`${path}/attachments/0`)).status, 404);
    t.equal((await world.guest().get(`${path}/attachments/0`)).path.split('?')[0], '/portal/sign-in');
    const viewer = await world.visitor(await world.addUser('viewer'));
    t.equal((await viewer.get(`${path}/attachments/0`)).status, 200, 'whoever sees the message does');
  });

  await t.test('the source has the attachments and lists that were sent', async (t) => {
    const answer = await visitor.raw('GET', `${path}/source?download=on`);
    const source = Buffer.from(await answer.arrayBuffer());
    const sent = sink.mails.find(({ to }) => to === 'ann@receiver.test')!.raw;
    const bodyOf = (raw: Buffer) => raw.subarray(raw.indexOf('\r\n\r\n')).toString('latin1');
    t.equal(bodyOf(source), bodyOf(sent));
    const mail = await simpleParser(source);
    t.match(mail.headers.get('cc'), { text: /bo@second.test/ });
    t.match(mail.headers.get('reply-to'), { text: /office@acme.test/ });
    const read = mail.attachments.map(({ filename, content }) => [filename, digest(content)]);
    const given = FILES.map(({ filename, content }) => [filename, digest(Buffer.from(content, 'base64'))]);
    t.same(new Map(read as [string, string][]), new Map(given as [string, string][]));
    t.match((await visitor.get(`${path}/source`)).text, /Content-Disposition: attachment/);
  });

  await t.test('where the content has been erased, a sentence says so', async (t) => {
    withDatabase(postrider.databaseFile, (db) => db.exec('DELETE FROM attachments; DELETE FROM contents'));
    const page = await visitor.get(path);
    t.match(page.text, /The content has been erased/);
    t.same(downloads(page), {});
    t.match(page.text, /Tag kind invoice/, 'labels belong to the record');
    t.match((await visitor.get(`/portal/messages/${bcc}`)).text, /Copy Bcc/);
    const gone = await visitor.get(`${path}/attachments/0`);
    t.equal(gone.status, 404);
    t.match(gone.text, /Attachment not found, or the content of its message has been erased/);
  });
});
