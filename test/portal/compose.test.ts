// Sending from the portal: one page with all that a call may have, checked as a call is, and sent once however often the
// form is.
import { simpleParser } from 'mailparser';
import t from 'tap';
import { type PortalVisitor, startPortal } from '../support/portal.ts';
import { send } from '../support/world.ts';

const NEW = '/portal/messages/new';
const PROBE = '"><script>xss-probe</script>';

type Files = Record<string, { name: string; content: string }>;

t.test('compose', async (t) => {
  // One a minute: no machine is so slow that the second one finds room.
  const tiers = [1, 10_000] as unknown as string[];
  const world = await startPortal(t, { settings: { limits: { requests_per_minute: tiers } } });
  const { daemon, sender, sink } = world;
  const visitor = await world.visitor(await world.addUser('member'));

  /** As a browser sends the form. */
  async function post(fields: Record<string, string>, files: Files = {}, from: PortalVisitor = visitor) {
    const body = new FormData();
    for (const [name, value] of (await visitor.get(NEW)).form(NEW).fields) body.set(name, value);
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    for (const [name, { name: file, content }] of Object.entries(files)) body.set(name, new Blob([content]), file);
    const answer = await from.raw('POST', NEW, { body });
    const to = answer.headers.get('location');
    return { status: answer.status, to, source: await answer.text() };
  }
  const idIn = (path: string | null) => path!.split('/').at(-1)!;

  await t.test('the shortest: from a verified domain, to one address', async (t) => {
    const page = await visitor.get(NEW);
    t.equal(page.form(NEW).fields.get('from'), `hello@${sender.domain}`);
    const { status, to } = await post({ to: 'ann@receiver.test', subject: 'Hello Ann', text: '  By hand.' });
    t.equal(status, 303);
    const shown = await visitor.get(to!);
    t.match(shown.text, 'One message accepted.');
    t.match(shown.text, /API key none/);
    await daemon.logged({ message_id: idIn(to), fact: 'delivered' });
    const mail = await simpleParser(sink.mails.at(-1)!.raw);
    t.match(mail, { subject: 'Hello Ann', text: '  By hand.\n' });
  });

  await t.test('all that a call may have', async (t) => {
    const fields = {
      ...{ from: `"Shop, Ltd." <shop@${sender.domain}>`, to: '"Doe; Jo" <jo@receiver.test>; bo@receiver.test' },
      ...{ cc: 'cc@receiver.test', bcc: 'bcc@receiver.test', reply_to: 'office@acme.test' },
      ...{ subject: 'Everything', html: '<p>Hi</p>', text: 'Hi' },
      ...{ tags: 'kind: invoice\r\nseason: spring', metadata: 'order: 47: 11', opens: 'off', clicks: 'on' },
    };
    const { to } = await post(fields, { file1: { name: 'Größe.txt', content: 'Inhalt' } });
    const id = idIn(to);
    await daemon.logged({ message_id: id, fact: 'delivered' });
    const { body } = await daemon.call(sender.key, `GET /emails/${id}`);
    t.match(body, { tags: { kind: 'invoice', season: 'spring' }, metadata: { order: '47: 11' } });
    const submission = await daemon.call(sender.key, `GET /submissions/${body.submission_id}`);
    const messages = submission.body.messages as { kind: string; to: string }[];
    t.same(
      messages.map(({ kind, to }) => [kind, to.split('@')[0]]),
      [
        ['to', 'jo'],
        ['to', 'bo'],
        ['cc', 'cc'],
        ['bcc', 'bcc'],
      ],
    );
    const raw = sink.mails.find(({ to }) => to === 'jo@receiver.test')!.raw;
    const mail = await simpleParser(raw);
    t.match(mail.from?.value, [{ name: 'Shop, Ltd.' }]);
    t.match(mail.replyTo?.value, [{ address: 'office@acme.test' }]);
    t.match(mail.attachments, [{ filename: 'Größe.txt', content: Buffer.from('Inhalt') }]);
    const page = await visitor.get(to!);
    t.match(page.text, /opens off, clicks on/);
  });

  await t.test('later, and from a template', async (t) => {
    const template = {
      name: 'Order',
      html: '<p>{{ order }}</p>',
      text: 'Order {{ order }}',
      subject: 'No. {{ order }}',
    };
    const rights = ['--name', 't', '--scopes', 'templates:write'];
    const { key } = await world.postrider.json('key', 'create', '--tenant', sender.tenantId, ...rights);
    const made = await daemon.call(String(key), 'POST /templates', { body: template });
    const soon = new Date(Date.now() + 7_200_000).toISOString();
    const fields = { template_id: String(made.body.id), data: '{"order": 4711}', send_at: soon.slice(0, 16) };
    const { to } = await post({ to: 'ann@receiver.test', ...fields });
    const shown = await visitor.get(to!);
    t.match(shown.text, `Scheduled for ${soon.slice(0, 16).replace('T', ' ')} UTC`);
    t.match(shown.text, 'No. 4711');
  });

  await t.test('what is wrong is said, and nothing that was written is lost', async (t) => {
    const good = { to: 'ann@receiver.test', subject: `Hello ${PROBE}`, text: `Text ${PROBE}` };
    const wrong: [fields: Record<string, string>, problem: RegExp][] = [
      [{ to: 'nobody' }, /to\[0\]: /],
      [{ from: 'me@elsewhere.test' }, /elsewhere\.test is not a verified domain/],
      [{ subject: '' }, /subject: this field is required/],
      [{ subject: 'x'.repeat(999) }, /subject: must have at most 998/],
      [{ text: '' }, /at least one of html and text/],
      [{ tags: 'no value' }, /tags: write each on a line of its own/],
      [{ tags: 'a b: c' }, /tags: .* must be ASCII letters/],
      [{ send_at: '2020-01-01T00:00' }, /send_at: is more than 5 minutes in the past/],
      [{ template_id: '018f0000-0000-7000-8000-000000000000', data: '{' }, /data: must be JSON/],
      [{ template_id: '018f0000-0000-7000-8000-000000000000' }, /template/i],
      [{ cc: 'x@receiver.test,'.repeat(60) }, /at most 50 entries in all/],
    ];
    for (const [change, problem] of wrong) {
      const { status, source } = await post({ ...good, ...change });
      t.equal(status, 422, JSON.stringify(change).slice(0, 60));
      t.match(source, problem);
      t.notMatch(source, '<script>xss-probe');
    }
    const { source } = await post({ ...good, cc: 'nobody', metadata: 'order: 1' });
    for (const kept of ['value="nobody"', 'order: 1', 'Hello &quot;&gt;&lt;script', 'Choose files again']) {
      t.ok(source.includes(kept), kept);
    }
  });

  await t.test('who is suppressed is named', async (t) => {
    const rights = ['--tenant', sender.tenantId, '--address', 'gone@receiver.test'];
    await world.postrider.json('suppression', 'add', ...rights, '--reason', 'manual');
    const { to } = await post({ to: 'gone@receiver.test, ann@receiver.test', subject: 'S', text: 'T' });
    t.match((await visitor.get(to!)).text, 'One message accepted. gone@receiver.test gets none (manual).');
    const { status, source } = await post({ to: 'gone@receiver.test', subject: 'S', text: 'T' });
    t.equal(status, 422);
    t.match(source, /every recipient is suppressed \(manual\), so nothing was queued/);
  });

  await t.test('the same form twice is one message', async (t) => {
    const once = (await visitor.get(NEW)).form(NEW).fields.get('once')!;
    const fields = { once, to: 'twice@receiver.test', subject: 'Twice', text: 'T' };
    const answers = [await post(fields), await post(fields)];
    t.equal(answers[0]!.to, answers[1]!.to);
    t.match((await visitor.get(answers[1]!.to!)).text, 'This form had been sent before, so nothing new was sent.');
    await daemon.logged({ message_id: idIn(answers[0]!.to), fact: 'delivered' });
    t.equal(sink.mails.filter(({ to }) => to === 'twice@receiver.test').length, 1);
  });

  await t.test('no more within a minute than a key of the account could send', async (t) => {
    await world.postrider.json('tenant', 'set', sender.tenantId, '--tier', '1k');
    const body = { to: 'often@receiver.test', subject: 'S', text: 'T' };
    t.equal((await post(body)).status, 303);
    const { status, source } = await post(body);
    t.equal(status, 429);
    t.match(source, /Too many messages within a minute\. Retry in \d+ s\./);
    await world.postrider.json('tenant', 'set', sender.tenantId, '--tier', 'uncapped');
  });

  await t.test('viewers, and accounts that may not send', async (t) => {
    const viewer = await world.visitor(await world.addUser('viewer'));
    t.equal((await viewer.get(NEW)).status, 403);
    t.notMatch((await viewer.get('/portal/messages')).source, NEW);
    t.equal((await post({ to: 'a@receiver.test' }, {}, viewer)).status, 403);
    await world.postrider.json('tenant', 'set', sender.tenantId, '--status', 'suspended');
    t.match((await visitor.get(NEW)).text, 'Your account isn’t active, so it can’t send.');
    await t.rejects(send(daemon, sender, 'a@receiver.test'), 'as by a call');
  });
});
