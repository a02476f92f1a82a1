// Opens, clicks and unsubscriptions from end to end: the tenant switches them on, mails go out with
// links of their own, also those that an application writes itself, what recipients do comes back as events and on the suppression list, and old
// links work after a crash and after retention.
import { Resolver } from 'node:dns/promises';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { simpleParser } from 'mailparser';
import { createTransport, type SendMailOptions } from 'nodemailer';
import t, { type Test } from 'tap';
import type { Daemon, Json } from '../support/daemon-process.ts';
import { withDatabase } from '../support/database.ts';
import type { TestDnsServer } from '../support/dns-server.ts';
import { findDoorAddress } from '../support/door-client.ts';
import type { ReceivedMail } from '../support/mail-sink.ts';
import { askOnce, type RawAnswer } from '../support/raw-http.ts';
import { until } from '../support/until.ts';
import { messageIdOf, publish, RECEIVER, registerSender, type Sender, send, startWorld } from '../support/world.ts';

const LINKS_URL = 'https://links.postrider.test';
const SERVICE_KEY = 'postrider._domainkey.bounces.mail.postrider.test';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const GMAIL = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
const HTML = `<!doctype html>\r\n<body>
<p>Grüße <a href="https://shop.acme.test/orders?id=1&amp;x=ä">your order</a>, <a href='mailto:help@acme.test'>help</a>,
<a href=https://acme.test/unsubscribe/7>unsubscribe</a> <a data-postrider-track="off" href="https://acme.test/private">private</a>
<a href="http://shop.acme.test/">shop</a></p>
</body>
`;

t.test('tracking and unsubscribing', async (t) => {
  const door = await findDoorAddress();
  const { dns, sink, postrider } = await startWorld(t, { settings: { service: service(), ...door } });
  let daemon = await postrider.serve();
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const sender = await registerSender({ dns, postrider }, daemon);
  const mail = { html: HTML, text: 'Plain https://shop.acme.test/' };

  // Off until the tenant wants it.
  await send(daemon, sender, `before@${RECEIVER}`, mail);
  const [plain] = await sink.received(1);
  t.notMatch(plain!.raw.toString(), /links\.postrider\.test|List-Unsubscribe/);
  const switches = ['--open-tracking', 'on', '--click-tracking', 'on', '--unsubscribe', 'on'];
  await postrider.json('tenant', 'set', sender.tenantId, ...switches);

  const [annId, bobId] = await send(daemon, sender, [`Ann@${RECEIVER}`, `bob@${RECEIVER}`], mail);
  const mails = await sink.received(3);
  const ann = await mailOf(mails, annId!);
  const bob = await mailOf(mails, bobId!);
  await checkMail(t, ann, dns);
  t.not(ann.pixel, bob.pixel, 'everybody has links of his own');
  t.not(ann.links[0], bob.links[0]);

  await t.test('opens and clicks become events', async (t) => {
    t.match(await visit(daemon, ann.pixel, { 'User-Agent': GMAIL }), { status: 200 });
    t.match(await visit(daemon, ann.links[1]!, { 'User-Agent': FIREFOX }), { status: 302 });
    const click = await visit(daemon, ann.links[0]!, { 'User-Agent': FIREFOX });
    t.equal(click.headers.get('location'), 'https://shop.acme.test/orders?id=1&x=%C3%A4');
    await visit(daemon, ann.links[0]!, { 'User-Agent': FIREFOX });
    const events = await eventsOf(daemon, sender, annId!, 4);
    const byType = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data as Json);
    const common = { message_id: annId, to: `Ann@${RECEIVER}`, from: 'app@acme.test', domain: 'acme.test' };
    t.match(byType('email.opened'), [
      { ...common, open: { first: true, ip: '127.0.0.1', user_agent: GMAIL, machine: true, machine_reason: /Gmail/ } },
    ]);
    const clicks = byType('email.clicked').map(({ click }) => click as Json);
    t.same(
      clicks
        .map(({ url, link_index, first, ip, user_agent }) => ({ url, link_index, first, ip, user_agent }))
        .toSorted(byIndex),
      [
        {
          url: 'https://shop.acme.test/orders?id=1&x=ä',
          link_index: 0,
          first: true,
          ip: '127.0.0.1',
          user_agent: FIREFOX,
        },
        { url: 'http://shop.acme.test/', link_index: 1, first: true, ip: '127.0.0.1', user_agent: FIREFOX },
      ],
    );
    t.match(clicks, [{ machine: true }, { machine: true }], 'all links at once: no person does that');
    t.same(Object.keys(clicks[0]!).toSorted(), ['first', 'ip', 'link_index', 'machine', 'url', 'user_agent']);
    const feed = await daemon.call(sender.key, 'GET /events?limit=100');
    t.equal((feed.body.events as Json[]).filter(({ family }) => family === 'open').length, 3, 'the feed has them too');
  });

  await t.test('each host knows its own', async (t) => {
    const elsewhere = await visit(daemon, ann.links[1]!, { Host: 'mail.postrider.test' });
    t.equal(elsewhere.status, 302, 'a mail may name a host that was for links before');
    t.equal((await visit(daemon, '/healthz')).status, 404);
    t.equal((await visit(daemon, '/emails', { Authorization: `Bearer ${sender.key}` })).status, 404);
    t.equal((await daemon.call(null, 'GET /healthz')).status, 200);
  });

  await t.test('mail handed in by SMTP', async (t) => {
    const hand = async (subject: string, more: SendMailOptions = {}) => {
      const transport = createTransport({ ...door.submission, auth: { user: 'any', pass: sender.key } });
      await transport.sendMail({ from: 'app@acme.test', to: `Ann@${RECEIVER}`, subject, ...mail, ...more });
      const found = () => sink.mails.find(({ raw }) => raw.includes(`Subject: ${subject}\r\n`));
      return (await until(`the mail ${subject}`, found)).raw;
    };
    const raw = await hand('Door');
    const id = /^X-Postrider-Message-ID: (\S+)\r$/m.exec(raw.toString())![1]!;
    const handed = await linkedMail(raw);
    await checkMail(t, handed, dns);
    await visit(daemon, handed.pixel, { 'User-Agent': FIREFOX });
    await visit(daemon, handed.links[1]!, { 'User-Agent': FIREFOX });
    const events = await eventsOf(daemon, sender, id, 3);
    t.same(new Set(events.map(({ type }) => type)), new Set(['email.delivered', 'email.opened', 'email.clicked']));

    const some = bodyOf(await hand('Some', { headers: { 'X-Postrider-Tracking': 'clicks' } }));
    t.same([/\/c\//.test(some), /\/o\//.test(some)], [true, false], 'what the mail itself asks for');
    const none = String(await hand('None', { headers: { 'X-Postrider-Tracking': 'off' } }));
    t.notMatch(none, /links\.postrider\.test\/[co]\//);
    const own = String(await hand('Own', { headers: { 'List-Unsubscribe': '<https://acme.test/out>' } }));
    t.same(own.match(/^List-Unsubscribe.*$/gim), ['List-Unsubscribe: <https://acme.test/out>']);
    const attached = String(await hand('File', { html: '', attachments: [{ filename: 'a.html', content: HTML }] }));
    t.notMatch(attached, LINKS_URL.concat('/c/'), 'a file is none of ours');
    t.match(attached, Buffer.from(HTML).toString('base64').slice(0, 70));
  });

  await t.test('one click unsubscribes, whatever became of daemon and message', async (t) => {
    const url = ann.unsubscribe;
    t.match((await visit(daemon, url)).text, `Ann@${RECEIVER}`);
    await daemon.kill();
    forget(postrider.databaseFile);
    daemon = await postrider.serve();
    t.equal((await visit(daemon, bob.links[0]!)).status, 302, 'links outlive their message');
    t.equal((await visit(daemon, bob.pixel)).status, 200);
    t.match((await visit(daemon, url)).text, 'this sender');
    // Their own wish replaces a hard bounce, which can be undone.
    const bounced = ['--address', `ann@${RECEIVER}`, '--reason', 'hard_bounce'];
    await postrider.json('suppression', 'add', '--tenant', sender.tenantId, ...bounced);
    for (const round of ['once', 'again']) {
      const done = await oneClick(daemon, url);
      t.match([done.status, done.text], [200, /You are unsubscribed/], round);
    }
    const body = { from: 'app@acme.test', subject: 'x', text: 'x' };
    const some = await daemon.call(sender.key, 'POST /emails', {
      body: { ...body, to: [`ann@${RECEIVER}`, `bob@${RECEIVER}`] },
    });
    t.match(some, { status: 202, body: { rejected: [{ to: `ann@${RECEIVER}`, reason: 'unsubscribe' }] } });
    const listed = (await postrider.json('suppression', 'list', '--tenant', sender.tenantId)).suppressions as Json[];
    t.match(listed, [{ address: `ann@${RECEIVER}`, reason: 'unsubscribe', message_id: annId }]);
    t.equal(daemon.find({ fact: 'unsubscribed', message_id: annId! }).length, 1, 'told once');
  });

  await t.test("a tenant's own pair replaces ours", async (t) => {
    const headers = { 'List-Unsubscribe': '<https://acme.test/out?u=1>' };
    const html = '<a href="https://acme.test/out?u=1">Genug</a>';
    const [id] = await send(daemon, sender, `carl@${RECEIVER}`, { headers, html });
    const found = () => sink.mails.find((mail) => messageIdOf(mail.raw) === id);
    const { raw } = await until('the mail', found);
    t.same(raw.toString().match(/^List-Unsubscribe.*$/gim), ['List-Unsubscribe: <https://acme.test/out?u=1>']);
    t.notMatch(bodyOf(raw), '/c/', 'and its link stays');
    t.match(bodyOf(raw), '/o/');
  });
});

/** Without the header: signatures may have any letters. */
function bodyOf(raw: Buffer): string {
  return raw.subarray(raw.indexOf('\r\n\r\n')).toString();
}

function service() {
  return { base_url: 'https://mail.postrider.test', links_url: LINKS_URL };
}

interface LinkedMail {
  raw: Buffer;
  html: string;
  pixel: string;
  /** Paths on the host of links. */
  links: string[];
  unsubscribe: string;
}

function mailOf(mails: ReceivedMail[], messageId: string): Promise<LinkedMail> {
  return linkedMail(mails.find((mail) => messageIdOf(mail.raw) === messageId)!.raw);
}

async function linkedMail(raw: Buffer): Promise<LinkedMail> {
  const { html } = await simpleParser(raw, { skipImageLinks: true, skipHtmlToText: true });
  const paths = (kind: string) =>
    [...String(html).matchAll(new RegExp(`${LINKS_URL}(/${kind}/[\\w-]+)`, 'g'))].map((match) => match[1]!);
  const unfolded = raw.toString().replace(/\r\n[ \t]/g, ' ');
  const unsubscribe =
    /^List-Unsubscribe: <https:\/\/links\.postrider\.test(\/u\/[\w-]+)>, <mailto:u[a-z2-7]{43}@bounces\.mail\.postrider\.test\?subject=unsubscribe>\r$/m.exec(
      unfolded,
    );
  return { raw, html: String(html), pixel: paths('o')[0]!, links: paths('c'), unsubscribe: unsubscribe![1]! };
}

async function checkMail(t: Test, { raw, html, pixel, links }: LinkedMail, dns: TestDnsServer): Promise<void> {
  t.equal(links.length, 2);
  const restored = html
    .replace(/<img [^>]*\/o\/[^>]*>/, '')
    .replace(`${LINKS_URL}${links[0]}`, 'https://shop.acme.test/orders?id=1&amp;x=ä')
    .replace(`${LINKS_URL}${links[1]}`, 'http://shop.acme.test/');
  t.equal(
    restored.replaceAll('\r\n', '\n').trimEnd(),
    HTML.replaceAll('\r\n', '\n').trimEnd(),
    'nothing else has changed',
  );
  t.match(html, new RegExp(`${pixel}"[^>]*></body>`), 'the pixel stands before the end of the body');
  t.match(raw.toString(), /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  t.match((await simpleParser(raw)).text, 'Plain https://shop.acme.test/', 'the text part is never touched');
  const resolver = new Resolver();
  resolver.setServers([dns.endpoint]);
  const lookUp = (name: string, type: string) => resolver.resolve(name, type);
  const { results } = await dkimVerify(raw, { resolver: lookUp as never });
  for (const { signingDomain, status, signingHeaders } of results) {
    t.equal(status.result, 'pass', String(signingDomain));
    const covered = String(signingHeaders?.keys)
      .toLowerCase()
      .split(/[:;]\s*/);
    t.ok(
      covered.includes('list-unsubscribe') && covered.includes('list-unsubscribe-post'),
      `${signingDomain} covers the pair`,
    );
  }
  t.equal(results.length, 2);
}

function visit(daemon: Daemon, path: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const lines = Object.entries({ Host: 'links.postrider.test', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return askOnce(daemon.httpPort, `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/** As a mailbox provider does it: RFC 8058 section 8.1. */
function oneClick(daemon: Daemon, path: string): Promise<RawAnswer> {
  const body = 'List-Unsubscribe=One-Click';
  const type = 'Content-Type: application/x-www-form-urlencoded';
  const head = `POST ${path} HTTP/1.1\r\nHost: links.postrider.test\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return askOnce(daemon.httpPort, head + body);
}

function eventsOf(daemon: Daemon, sender: Sender, messageId: string, count: number): Promise<Json[]> {
  return until(`${count} events`, async () => {
    const { body } = await daemon.call(sender.key, `GET /emails/${messageId}`);
    const events = body.events as Json[];
    return events.length >= count ? events : null;
  });
}

/** What retention will do. */
function forget(file: string): void {
  withDatabase(file, (db) => {
    for (const table of ['events', 'attempts', 'messages', 'submissions', 'contents']) db.exec(`DELETE FROM ${table}`);
  });
}

function byIndex(one: Json, other: Json): number {
  return Number(one.link_index) - Number(other.link_index);
}
