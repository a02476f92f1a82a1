// Texts that strangers write reach mails of the service and pages: names of keys, addresses in reports, names of
// organizations in DMARC reports, mail to roles. None makes a header field, an element of a page, or a line of ours.
// A real daemon, real SMTP; pages of everything else are in test/portal/every-page.test.ts.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { composeDsn } from '../../src/protocol/mail/reports/dsn.ts';
import { fieldValue, namesOf } from '../contract/raw-mail.ts';
import { HOSTILE } from '../portal/hostile-world.ts';
import { dmarcMail, dmarcXml } from '../support/dmarc-mail.ts';
import type { Page } from '../support/page-reader.ts';
import { type PortalWorld, startPortal } from '../support/portal.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { RECEIVER, send } from '../support/world.ts';

const BOUNCES = 'bounces.mail.postrider.test';
const OPERATOR = `ops@${RECEIVER}`;
const INJECTED = /^x-injected|^bcc/;

t.test("strangers' texts", async (t) => {
  const world = await startPortal(t, { settings: { service: { operator_address: OPERATOR } } });
  await t.test('names in the notices to owners', (t) => names(t, world));
  await t.test('the address that a copy was forwarded to', (t) => forwardedTo(t, world));
  await t.test('the organization of a DMARC report', (t) => organization(t, world));
  await t.test('mail to a role, with NUL, and line breaks in encoded words', (t) => roleMail(t, world));
});

/** Brings a mail and waits until the daemon has acted on it. */
async function bring({ daemon }: PortalWorld, to: string, data: Buffer | string, from = '') {
  const client = await SmtpClient.hello(Number((await daemon.logged({ msg: 'ready' })).smtp_port));
  const reply = await client.send({ from, to, data: Buffer.from(data) });
  client.close();
  const id = /^250 .* kept as (\S+)$/.exec(reply)?.[1];
  if (id === undefined) throw new Error(`not taken: ${reply}`);
  return daemon.logged({ fact: 'inbound', inbound_id: id });
}

async function mailTo({ sink }: PortalWorld, to: string): Promise<Buffer> {
  for (let count = 1; ; count++) {
    const mail = (await sink.received(count)).find((one) => one.to === to);
    if (mail) return sink.mails.splice(sink.mails.indexOf(mail), 1)[0]!.raw;
  }
}

/** One plain text, and the fields that mail of the service has. */
function isPlain(t: Test, raw: Buffer, subject: string | RegExp): string {
  t.match(fieldValue(raw, 'Content-Type'), /^text\/plain\b/);
  t.match(fieldValue(raw, 'Subject'), subject);
  t.same(
    namesOf(raw).filter((name) => INJECTED.test(name)),
    [],
  );
  const body = raw.subarray(raw.indexOf('\r\n\r\n') + 4).toString();
  return /^quoted-printable$/i.test(fieldValue(raw, 'Content-Transfer-Encoding') ?? '') ? unquoted(body) : body;
}

function unquoted(body: string): string {
  const octets = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(octets, 'latin1').toString();
}

function hasNoMarkup(t: Test, page: Page): void {
  t.equal(page.status, 200);
  const found = page.texts((name, attributes) => name === 'xss-probe' || 'onxss' in attributes);
  t.same(found, [], page.path);
}

async function names(t: Test, world: PortalWorld) {
  const { postrider, sender, addUser } = world;
  const owner = await addUser('owner', `owner@${RECEIVER}`);
  const create = (name: string) => [
    'key',
    'create',
    '--tenant',
    sender.tenantId,
    '--name',
    name,
    '--scopes',
    'webhooks:write',
  ];
  for (const name of ['x\r\nBcc: a@b.test', 'x\nX-Injected: 1', 'x\0y']) {
    t.match(await postrider.runHere(...create(name)), { code: 2 }, JSON.stringify(name));
  }
  const { key } = await postrider.json(...create(HOSTILE));
  const text = isPlain(t, await mailTo(world, owner.email), 'An API key was created');
  t.ok(text.includes(`\r\n${HOSTILE}\r\n`), 'on a line of its own');
  const body = { url: 'https://xn--hk-eka.example.com/?a="><xss-probe>', description: HOSTILE };
  t.match(await world.daemon.call(String(key), 'POST /webhooks', { body }), { status: 201 });
  const webhook = isPlain(t, await mailTo(world, owner.email), 'A webhook was added');
  t.match(webhook, '\r\nxn--hk-eka.example.com\r\n', 'the host, as DNS has it, and nothing else of the URL');
}

async function forwardedTo(t: Test, world: PortalWorld) {
  const { daemon, sender } = world;
  const [id] = await send(daemon, sender, `jo@${RECEIVER}`);
  await daemon.logged({ fact: 'delivered', message_id: id! });
  await world.sink.received(1);
  const sent = world.sink.mails.find(({ raw }) => raw.includes(id!))!;
  const elsewhere = '"><xss-probe>"@home.test';
  const report = composeDsn({
    ...{ reportingMta: 'relay.receiver.test', from: 'mailer-daemon@relay.receiver.test', to: sent.from },
    ...{ finalRecipient: 'jo@home.test', action: 'failed', status: '5.1.1', diagnostic: `550 5.1.1 ${HOSTILE}` },
    originalHeaders: sent.raw.subarray(0, sent.raw.indexOf('\r\n\r\n') + 2),
    date: new Date('2026-11-20T10:00:00Z'),
  });
  const named = report
    .toString('latin1')
    .replace(
      /^Final-Recipient:.*$/m,
      `Original-Recipient: rfc822;${elsewhere}\r\nFinal-Recipient: rfc822;${elsewhere}`,
    );
  t.match(await bring(world, sent.from, named), { effect: 'bounced', message_id: id! });
  const { events } = (await daemon.call(sender.key, `GET /emails/${id}`)).body as {
    events: { type: string; data: { bounce: object } }[];
  };
  const { bounce } = events.find(({ type }) => type === 'email.bounced')!.data;
  t.match(bounce, { type: 'soft', suppressed: false, forwarded_to: /xss-probe/ }, 'as it is in data');
  const page = await (await world.visitor()).get(`/portal/messages/${id}`);
  hasNoMarkup(t, page);
  t.match(page.text, '<xss-probe>', 'it is shown as text');
}

async function organization(t: Test, world: PortalWorld) {
  const orgName = `<![CDATA[${HOSTILE}]]>`;
  const data = dmarcMail(gzipSync(dmarcXml({ orgName, records: [{ count: 3 }] })));
  t.match(await bring(world, `dmarc@${BOUNCES}`, data, 'a@big.test'), { effect: 'stored' });
  const owner = await world.visitor();
  const pages = [await owner.get('/portal/dmarc')];
  for (const { href } of pages[0]!.links.filter(({ href }) => href.startsWith('/portal/dmarc')))
    pages.push(await owner.get(href));
  for (const page of pages) hasNoMarkup(t, page);
  t.ok(
    pages.some(({ text }) => text.includes('<xss-probe>')),
    'it is shown as text',
  );
}

async function roleMail(t: Test, world: PortalWorld) {
  const encoded = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
  const data = [
    `From: ${encoded('Jo\r\nBcc: a@b.test')} <jo@people.test>`,
    `Subject: ${encoded('Hello\r\nX-Injected: 1\r\n\r\nFrom: the operator')}`,
    'X-Odd: one\0two',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Before\0after.',
    '',
  ].join('\r\n');
  // NUL ends no line and no mail, for anybody: a report that has one is worth more than the refusal.
  const done = await bring(world, `postmaster@${BOUNCES}`, data, 'jo@people.test');
  t.match(done, { effect: 'forwarded' });
  const raw = await mailTo(world, OPERATOR);
  t.notOk(raw.includes(0), 'no NUL goes on');
  t.notMatch(raw.subarray(raw.indexOf('\r\n\r\n')).toString(), /=00/, 'nor does one that is encoded');
  const text = isPlain(t, raw, /^\[postmaster\] Hello X-Injected: 1/);
  t.match(text, 'Before\ufffdafter.');
  t.notMatch(text, /^(?:X-Injected|Bcc): /m, 'what is quoted of the header stays on its lines');
  t.equal(text.match(/^From: /gm)?.length, 1);
}
