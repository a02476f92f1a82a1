// The pages of messages: the list with its filters, one message with its course, its HTML and its source,
// and that nobody sees another tenant's.
import t from 'tap';
import type { Daemon } from '../support/daemon-process.ts';
import type { Page } from '../support/page-reader.ts';
import { type PortalVisitor, startPortal } from '../support/portal.ts';
import { until } from '../support/until.ts';
import { addReceiver, registerSender, type Sender, send } from '../support/world.ts';

const MARKUP = `"><xss-probe onxss=1></xss-probe></title></textarea></pre>`;
const REFUSAL = 'no such user <xss-probe></xss-probe>';
const FAR_PAST = '2020-01-01T00:00';
const FAR_FUTURE = '2090-01-01T00:00';

function search(visitor: PortalVisitor, fields: Record<string, string>): Promise<Page> {
  return visitor.get(`/portal/messages?${new URLSearchParams(fields)}`);
}

/** The recipients in the order of the list. */
function listed(page: Page): string[] {
  return page.links.filter(({ href }) => /^\/portal\/messages\/[0-9a-f-]{36}$/.test(href)).map(({ text }) => text);
}

async function finished(daemon: Daemon, ids: readonly string[], fact: string): Promise<void> {
  for (const id of ids) await daemon.until(() => daemon.find({ fact, message_id: id }).length > 0, `${fact} ${id}`);
}

async function strangers(world: Parameters<typeof registerSender>[0], daemon: Daemon): Promise<Sender> {
  return registerSender(world, daemon, { name: 'Other', domain: 'other.test' });
}

t.test('messages', async (t) => {
  const world = await startPortal(t, {
    settings: { delivery: { retry_steps: ['1h'] } },
    sink: {
      onRcpt: (address) => {
        if (address.startsWith('gone')) return { code: 550, text: `5.1.1 ${REFUSAL}` };
        return address.startsWith('later') ? { code: 451, text: '4.7.1 try again <b>later</b>' } : null;
      },
    },
  });
  const { daemon, sender, postrider } = world;
  addReceiver(world.dns, 'second.test');
  const visitor = await world.visitor();
  // A page looks for a part of a second, which may be over before a busy machine has looked at all.
  const first = await until('the list to be read to its end', async () => {
    const { text } = await visitor.get('/portal/messages');
    return !text.includes('Continue searching') && text;
  });
  t.match(first, /No messages yet/);

  const html = `<p>Hello <b>Joe</b></p><img src="https://tracker.test/p.gif"><LINK rel="preconnect" href="https://x.test">${MARKUP}`;
  const mail = { subject: `Order ${MARKUP}`, html, text: `Dear Joe, ${MARKUP}`, headers: { 'X-Order': `7 ${MARKUP}` } };
  const names = [`"Joe <xss-probe>" <joe@receiver.test>`, 'ann@second.test'];
  const [joe, ann] = await send(daemon, sender, names, mail);
  const [gone] = await send(daemon, sender, 'gone@receiver.test');
  const [later] = await send(daemon, sender, 'later@receiver.test', { subject: 'Later' });
  await finished(daemon, [joe!, ann!], 'delivered');
  await finished(daemon, [gone!], 'bounced');
  await finished(daemon, [later!], 'deferred');

  await t.test('the list shows the newest first, with state, reason and subject', async (t) => {
    const page = await visitor.get('/portal/messages');
    t.equal(page.status, 200);
    t.same(listed(page), ['later@receiver.test', 'gone@receiver.test', 'ann@second.test', 'joe@receiver.test']);
    t.match(page.text, /deferred .*try again <b>later<\/b>/);
    t.match(page.text, /bounced/);
    t.notMatch(page.source, /<xss-probe|<b>later/);
  });

  await t.test('each filter, alone and with others', async (t) => {
    const found = async (fields: Record<string, string>) => listed(await search(visitor, fields));
    t.same(await found({ search: 'JOE@receiver.test' }), ['joe@receiver.test']);
    t.same(await found({ search: ' second.test ' }), ['ann@second.test']);
    t.same(await found({ search: '@second.test' }), ['ann@second.test']);
    t.same(await found({ search: 'laTer' }), ['later@receiver.test'], 'part of a subject');
    t.same(await found({ search: '"order "' }), ['ann@second.test', 'joe@receiver.test'], 'in quotes');
    t.same(await found({ search: joe!.slice(-17) }), ['joe@receiver.test'], 'part of an ID');
    t.same(await found({ search: MARKUP }), ['ann@second.test', 'joe@receiver.test']);
    t.same(await found({ search: 'nothing like it' }), []);
    t.same(await found({ state: 'bounced' }), ['gone@receiver.test']);
    t.equal((await found({ sender: 'acme.test' })).length, 4);
    t.same(await found({ sender: 'nobody.test' }), []);
    t.equal((await found({ key: sender.keyId })).length, 4);
    t.same(await found({ from: FAR_PAST, until: '2020-01-02T00:00' }), []);
    const all = { search: 'joe@receiver.test', state: 'delivered', sender: 'acme.test', key: sender.keyId };
    t.same(await found({ ...all, from: FAR_PAST, until: FAR_FUTURE }), ['joe@receiver.test']);
    t.same(await found({ ...all, state: 'bounced' }), []);
    const page = await search(visitor, all);
    t.same(
      Object.fromEntries(page.form('Search').fields),
      { ...all, tag: '', from: '', until: '' },
      'the form keeps what was asked',
    );
  });

  await t.test('what cannot be asked is said at its field', async (t) => {
    for (const [fields, words] of [
      [{ from: 'yesterday' }, /Enter the time like/],
      [{ key: MARKUP }, /Unknown key/],
    ] as const) {
      const page = await search(visitor, fields);
      t.equal(page.status, 422);
      t.match(page.text, words);
      t.notMatch(page.source, /<xss-probe/);
    }
    t.equal((await visitor.get('/portal/messages?after=!!&after=zz')).status, 200, 'a cursor that is none');
  });

  await t.test('a search for a suppressed address says so', async (t) => {
    const page = await search(visitor, { search: 'gone@receiver.test' });
    t.match(page.text, /gone@receiver.test has been on your suppression list since .* \(hard_bounce\)/);
  });

  await t.test('a message that was delivered: its course, its facts, its content', async (t) => {
    const page = await visitor.get(`/portal/messages/${joe}`);
    t.equal(page.status, 200);
    t.match(page.text, /Accepted/);
    t.match(page.text, /Attempt 1: accepted by the receiving server/);
    t.match(page.text, /Server: mx.receiver.test \(127.0.0.1\)/);
    t.match(page.text, /TLS: none/);
    t.match(page.text, /250 OK/);
    t.match(page.text, new RegExp(joe!));
    t.match(page.text, /X-Order/);
    t.match(page.text, /API key app/);
    t.same(
      listed(page).filter((text) => text.includes('@')),
      ['ann@second.test'],
      'the other recipient of the call',
    );
    t.notMatch(page.source, /<xss-probe/);
    t.notMatch(page.source, /data-poll/, 'nothing more is to come');
    t.ok(page.source.length < 100_000);
  });

  await t.test('one that bounced, with what the server said', async (t) => {
    const page = await visitor.get(`/portal/messages/${gone}`);
    t.match(page.text, /The message bounced: the mailbox or its domain doesn’t exist/);
    t.ok(page.text.includes(REFUSAL), 'as it came');
    t.notMatch(page.source, /<xss-probe/);
    t.match(page.text, /Attempt 1: failed permanently/);
    t.notMatch(page.text, /Bounced \d/, 'the attempt tells it, and not the event once more');
  });

  await t.test('one that waits says why, until when, and looks again by itself', async (t) => {
    const page = await visitor.get(`/portal/messages/${later}`);
    t.match(page.text, /Why it is waiting/);
    t.match(page.text, /Next attempt:/);
    t.match(page.text, /Postrider retries automatically/);
    t.match(page.text, /Stage: recipient \(RCPT\)/);
    t.match(page.source, new RegExp(`id="course" data-poll="/portal/messages/${later}"`));
    await postrider.json('tenant', 'set', sender.tenantId, '--status', 'suspended');
    t.match((await visitor.get(`/portal/messages/${later}`)).text, /Your account isn’t active/);
    await postrider.json('tenant', 'set', sender.tenantId, '--status', 'active');
  });

  await t.test("that an operator keeps it back is said without the operator's own note", async (t) => {
    await postrider.json('queue', 'pause', later!, '--reason', 'their lawyer called');
    const page = await visitor.get(`/portal/messages/${later}`);
    t.match(page.text, 'The operator of this service has paused this message.');
    t.notMatch(page.text, /lawyer/);
    await postrider.json('queue', 'resume', later!, '--reason', 'done');
  });

  await t.test('the HTML may do nothing, and hints to connect are gone', async (t) => {
    const answer = await visitor.raw('GET', `/portal/messages/${joe}/html`);
    const body = await answer.text();
    const policy = answer.headers.get('content-security-policy') ?? '';
    t.match(policy, /(^|; )sandbox allow-same-origin;/, 'which is nothing without scripts');
    t.match(policy, /default-src 'none'/);
    t.match(policy, /img-src data:(;|$)/, 'no images from elsewhere');
    t.notMatch(policy, /script-src|allow-scripts/);
    t.equal(answer.headers.get('referrer-policy'), 'no-referrer');
    t.notMatch(body, /<link/i);
    t.match(body, /<b>Joe<\/b>/, 'otherwise as it was sent');
    const withImages = await visitor.raw('GET', `/portal/messages/${joe}/html?images=on`);
    await withImages.body?.cancel();
    t.match(withImages.headers.get('content-security-policy'), /img-src data: https: http:;/);
    const textOnly = await visitor.raw('GET', `/portal/messages/${gone}/html`);
    t.match(textOnly.headers.get('content-type'), /^text\/plain/);
    t.match(await textOnly.text(), /Message not found/);
  });

  await t.test('the source is what was sent, without signatures and with tokens that are worth nothing', async (t) => {
    const page = await visitor.get(`/portal/messages/${joe}/source`);
    t.match(page.text, new RegExp(`Message-ID: <${joe}@`));
    t.match(page.text, /CFBL-Feedback-ID/);
    t.notMatch(page.source, /<xss-probe/);
    const download = await visitor.raw('GET', `/portal/messages/${joe}/source?download=on`);
    t.equal(download.headers.get('content-type'), 'message/rfc822');
    t.match(download.headers.get('content-disposition'), /^attachment/);
    const source = Buffer.from(await download.arrayBuffer()).toString('latin1');
    const sent = world.sink.mails.find(({ to }) => to === 'joe@receiver.test')!.raw.toString('latin1');
    const ends = (text: string) => text.slice(text.indexOf('\r\n\r\n'));
    t.equal(ends(source), ends(sent), 'the body is the same');
    t.notMatch(source, /DKIM-Signature/i);
    const token = (text: string) => /CFBL-Feedback-ID: (\S+)/i.exec(text)?.[1];
    t.ok(token(sent) && token(source));
    t.not(token(source), token(sent));
  });

  await t.test("another tenant's people find none of it", async (t) => {
    const other = await strangers(world, daemon);
    const arguments_ = ['--tenant', other.tenantId, '--role', 'owner', '--email', 'boss@other.test'];
    const { password } = await postrider.json('user', 'create', ...arguments_);
    const stranger = await world.visitor({ email: 'boss@other.test', password: String(password) });
    t.same(listed(await search(stranger, { search: 'joe@receiver.test' })), []);
    t.same(listed(await search(stranger, { key: sender.keyId })), []);
    t.equal((await stranger.get(`/portal/messages/${joe}`)).status, 404);
    t.equal((await stranger.get(`/portal/messages/${joe}/source`)).status, 404);
    t.equal((await stranger.get(`/portal/messages/no-id`)).status, 404);
    t.match((await stranger.get(`/portal/messages/${joe}/html`)).source, /Message not found/);
    const guest = world.guest();
    t.equal((await guest.get(`/portal/messages/${joe}/html`)).path.split('?')[0], '/portal/sign-in');
  });

  await t.test('pages follow each other', async (t) => {
    for (let call = 0; call < 2; call++) {
      const to = Array.from({ length: 30 }, (_, index) => `p${call}-${index}@second.test`);
      await send(daemon, sender, to);
    }
    const first = await search(visitor, { search: 'second.test' });
    t.equal(listed(first).length, 50);
    const next = first.links.find(({ text }) => text === 'Older')!.href;
    const second = await visitor.get(next);
    t.equal(listed(second).length, 11);
    t.equal(new Set([...listed(first), ...listed(second)]).size, 61);
    t.notOk(second.links.some(({ text }) => text === 'Older'));
    t.ok(second.links.some(({ text }) => text === 'Newest'));
  });
});
