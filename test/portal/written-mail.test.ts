// A mail that was handed in by SMTP, in the portal: its page says how it came, with the Message-ID that its application finds
// it by, shows all its recipients, and its source is what was written.
import { createTransport } from 'nodemailer';
import t from 'tap';
import { findFreePort } from '../support/free-port.ts';
import { startPortal } from '../support/portal.ts';
import { send } from '../support/world.ts';

const NAME = 'order-4711&lt;"@app.example';
const MAX_RECIPIENTS = 100;

t.test('the page of a message that was handed in by SMTP', async (t) => {
  const port = await findFreePort();
  const {
    daemon,
    sender,
    visitor: signIn,
  } = await startPortal(t, {
    settings: { submission: { host: '127.0.0.1', port } },
  });
  const visitor = await signIn();
  const door = createTransport({ host: '127.0.0.1', port, auth: { user: 'any', pass: sender.key } });
  const to = Array.from({ length: MAX_RECIPIENTS }, (_, index) => `r${index}@receiver.test`);
  const from = `app@${sender.domain}`;
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const fields = [`From: ${from}`, `Message-ID: <${NAME}>`, `X-Postrider-Send-At: ${at}`];
  const raw = [...fields, '', 'Hello', ''].join('\r\n');
  const { response } = await door.sendMail({ envelope: { from, to }, raw });
  const { body } = await daemon.call(sender.key, `GET /submissions/${response.slice(-36)}`);
  const [first] = body.messages as { id: string }[];

  const page = await visitor.get(`/portal/messages/${first!.id}`);
  t.equal(page.status, 200);
  t.match(page.text, /Handed in by SMTP/);
  t.ok(page.text.includes(`Message-ID header ${NAME}`), 'as text');
  t.ok(page.text.includes(`Message ID ${first!.id}`), 'beside our own');
  const others = page.links.filter(({ href }) => /^\/portal\/messages\/[0-9a-f-]{36}$/.test(href));
  t.same(others.map(({ text }) => text).sort(), to.slice(1).sort(), 'all other recipients of the mail');

  const [plain] = await send(daemon, sender, 'plain@receiver.test');
  const { text } = await visitor.get(`/portal/messages/${plain}`);
  t.notMatch(text, /Handed in by|Message-ID header/, 'mail over HTTP says nothing');
});

const MARKUP = '"><script>xss-probe</script>';

t.test('what was written', async (t) => {
  const port = await findFreePort();
  const {
    daemon,
    sender,
    visitor: signIn,
  } = await startPortal(t, {
    settings: { submission: { host: '127.0.0.1', port } },
  });
  const visitor = await signIn();
  const hand = async (body: string) => {
    const transport = createTransport({ host: '127.0.0.1', port, auth: { user: 'any', pass: sender.key } });
    const raw = `From: app@acme.test\r\nTo: ann@receiver.test\r\nSubject: Written\r\nX-Probe: ${MARKUP}\r\n\r\n${body}`;
    const envelope = { from: 'app@acme.test', to: 'ann@receiver.test' };
    const { response } = await transport.sendMail({ envelope, raw });
    const id = /queued as (\S+)$/.exec(response)?.[1];
    const { body: submission } = await daemon.call(sender.key, `GET /submissions/${id}`);
    const [message] = submission.messages as { id: string }[];
    const messageId = message!.id;
    await daemon.logged({ message_id: messageId, fact: 'delivered' });
    return `/portal/messages/${messageId}`;
  };
  const small = await hand(`Hello ${MARKUP}\r\n. a dot\r\n`);
  const page = await visitor.get(small);
  t.equal(page.status, 200);
  t.match(page.text, /handed this mail in by SMTP \(\d+ B\)/);
  const shown = await visitor.get(`${small}/source`);
  t.match(shown.text, 'As it was handed in, below the headers that Postrider adds.');
  t.ok(shown.text.includes(`Hello ${MARKUP} . a dot`));
  for (const { source } of [page, shown]) t.notMatch(source, /<script>xss-probe/);
  const download = await visitor.raw('GET', `${small}/source?download=on`);
  t.match(await download.text(), /^X-Postrider-Message-ID: [0-9a-f-]{36}\r\n.*\r\n\r\nHello .*\r\n\. a dot\r\n$/s);

  const large = await hand('0123456789\r\n'.repeat(30_000));
  t.match((await visitor.get(large)).text, /handed this mail in by SMTP \(35\d K/);
  const tooLarge = await visitor.get(`${large}/source`);
  t.match(tooLarge.text, 'The message is too large to show its source here.');
  t.notMatch(tooLarge.text, 'Its page shows');
});
