// What comes back by mail takes effect on the message that its return path or token proves, and on
// nothing else: bounces, notices of delay, complaints, forgeries of all three. A real daemon, real SMTP.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { composeArf } from '../../../src/protocol/mail/reports/arf.ts';
import { composeDsn } from '../../../src/protocol/mail/reports/dsn.ts';
import { postfixBounceOf } from '../../support/bounce-mail.ts';
import type { Daemon, Installation, Json } from '../../support/daemon-process.ts';
import { dmarcMail, dmarcXml } from '../../support/dmarc-mail.ts';
import { findFreePort } from '../../support/free-port.ts';
import type { ReceivedMail } from '../../support/mail-sink.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import {
  addReceiver,
  publish,
  RECEIVER,
  registerSender,
  type Sender,
  send,
  startWorld,
  stateOf,
  type World,
} from '../../support/world.ts';

const BOUNCES = 'bounces.mail.postrider.test';
const SERVICE_KEY = 'postrider._domainkey.bounces.mail.postrider.test';
const HUMAN =
  'From: Jo <jo@people.test>\r\nSubject: Hello there\r\nMessage-ID: <1@people.test>\r\n\r\nPlease call me.\r\n';

interface Stage extends World {
  daemon: Daemon;
  sender: Sender;
  smtpPort: number;
}

async function stage(t: Test, settings = {}): Promise<Stage> {
  const world = await startWorld(t, { settings });
  const daemon = await world.postrider.serve();
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(world.dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
  const sender = await registerSender(world, daemon);
  return { ...world, daemon, sender, smtpPort: await smtpPortOf(daemon) };
}

async function smtpPortOf(daemon: Daemon): Promise<number> {
  return Number((await daemon.logged({ msg: 'ready' })).smtp_port);
}

/** Sends one mail and gives it as it arrived, once the daemon knows that. */
async function deliver({ daemon, sender, sink }: Stage, to: string): Promise<{ id: string; mail: ReceivedMail }> {
  const before = sink.mails.length;
  const [id] = await send(daemon, sender, to);
  await daemon.logged({ fact: 'delivered', message_id: id! });
  return { id: id!, mail: (await sink.received(before + 1)).find(({ raw }) => raw.includes(id!))! };
}

interface Report {
  recipient?: string;
  status?: string;
  diagnostic?: string;
  action?: 'failed' | 'delayed';
}

function dsnFor({ from, to, raw }: ReceivedMail, report: Report = {}): Buffer {
  return composeDsn({
    reportingMta: 'relay.receiver.test',
    from: 'mailer-daemon@relay.receiver.test',
    to: from,
    finalRecipient: report.recipient ?? to,
    action: report.action ?? 'failed',
    status: report.status ?? '5.1.1',
    diagnostic: report.diagnostic ?? '550 5.1.1 No such user here',
    remoteMta: 'mx.inner.test',
    originalHeaders: headerOf(raw),
    date: new Date('2026-11-20T10:00:00Z'),
  });
}

function headerOf(raw: Buffer): Buffer {
  return raw.subarray(0, raw.indexOf('\r\n\r\n') + 2);
}

function complaintAbout(raw: Buffer, change: { feedbackType?: string } = {}): Buffer {
  return composeArf({
    feedbackType: change.feedbackType ?? 'abuse',
    from: 'complaints@provider.test',
    to: `fbl@${BOUNCES}`,
    originalMessage: raw,
    sourceIp: '192.0.2.1',
    arrivalDate: new Date('2026-11-20T10:00:00Z'),
    reportedDomain: 'acme.test',
    originalRcptTo: 'redacted@provider.test',
    reportingMta: 'mx.provider.test',
    date: new Date('2026-11-20T11:00:00Z'),
  });
}

/** Brings a mail and waits until the daemon has acted on it: what it did, and why. */
async function bring({ daemon, smtpPort }: Stage, to: string, data: Buffer | string, from = ''): Promise<Json> {
  const client = await SmtpClient.hello(smtpPort);
  const reply = await client.send({ from, to, data: Buffer.from(data) });
  client.close();
  const id = /kept as (\S+)$/.exec(reply)?.[1];
  if (id === undefined) throw new Error(`not taken: ${reply}`);
  return daemon.logged({ fact: 'inbound', inbound_id: id });
}

async function eventsOf({ daemon, sender }: Stage, id: string): Promise<{ type: string; data: Json }[]> {
  return (await daemon.call(sender.key, `GET /emails/${id}`)).body.events as { type: string; data: Json }[];
}

async function suppressed(postrider: Installation, ...scope: string[]): Promise<Json[]> {
  const { suppressions } = await postrider.json('suppression', 'list', ...scope);
  return suppressions as Json[];
}

t.test('what comes back', async (t) => {
  const all = await stage(t);
  const { daemon, sender, postrider } = all;
  const ofTenant = () => suppressed(postrider, '--tenant', sender.tenantId);
  const ofPlatform = () => suppressed(postrider, '--platform');
  const addresses = (list: Json[]) => list.map(({ address }) => address);

  await t.test('a bounce that comes later', async (t) => {
    const { id, mail } = await deliver(all, `gone@${RECEIVER}`);
    const done = await bring(all, mail.from, dsnFor(mail));
    t.match(done, { kind: 'report', effect: 'bounced', message_id: id });
    t.equal(await stateOf(daemon, sender, id), 'bounced', 'after it was delivered');
    const events = await eventsOf(all, id);
    t.same(
      events.map(({ type }) => type),
      ['email.delivered', 'email.bounced'],
    );
    t.match(events[1]!.data, {
      message_id: id,
      to: `gone@${RECEIVER}`,
      bounce: {
        type: 'hard',
        source: 'dsn',
        smtp_code: 550,
        enhanced_code: '5.1.1',
        diagnostic: '550 5.1.1 No such user here',
        mx: 'mx.inner.test',
        reporting_mta: 'relay.receiver.test',
        attempt: 1,
        suppressed: true,
      },
    });
    t.match(await ofTenant(), [{ address: `gone@${RECEIVER}`, reason: 'hard_bounce', message_id: id }]);
    t.same(await ofPlatform(), [], 'one report is not enough to stop the mail of all tenants');
    const again = await daemon.call(sender.key, 'POST /emails', {
      body: { from: `a@${sender.domain}`, to: `gone@${RECEIVER}`, subject: 'x', text: 'x' },
    });
    t.equal(again.status, 422, 'nobody writes there again');

    t.match(await bring(all, mail.from, dsnFor(mail)), { effect: 'none', reason: 'the message is bounced already' });
    t.equal((await eventsOf(all, id)).length, 2, 'the same report again changes nothing');
  });

  await t.test('a report about a forwarded copy suppresses nobody', async (t) => {
    const lists = [await ofTenant(), await ofPlatform()];
    const { id, mail } = await deliver(all, `lists@${RECEIVER}`);
    const home = 'jo@home.test';
    const elsewhere = dsnFor(mail, { recipient: home })
      .toString('latin1')
      .replace(/^Final-Recipient:/m, 'Original-Recipient: rfc822;office@home.test\r\nFinal-Recipient:');
    t.match(await bring(all, mail.from, elsewhere), {
      effect: 'bounced',
      message_id: id,
      reason: /forwarded to jo@home/,
    });
    const [, bounced] = await eventsOf(all, id);
    t.match(bounced!.data, { bounce: { type: 'soft', suppressed: false, forwarded_to: home } });
    t.same([await ofTenant(), await ofPlatform()], lists);
  });

  await t.test('a tenant who mails himself and sends a DSN naming a stranger blocks nobody', async (t) => {
    const before = [addresses(await ofTenant()), addresses(await ofPlatform())];
    const { id, mail } = await deliver(all, `myself@${RECEIVER}`);
    const victim = 'victim@elsewhere.test';
    addReceiver(all.dns, 'elsewhere.test');
    const forged = dsnFor(mail, { recipient: victim });
    t.match(await bring(all, mail.from, forged), { effect: 'bounced', message_id: id });
    t.same(addresses(await ofTenant()), [...before[0]!, `myself@${RECEIVER}`].sort());
    t.same(addresses(await ofPlatform()), before[1]!);
    const shown = (await postrider.json('inbound', 'list', '--message', id)).mails as Json[];
    t.match(shown, [{ finding: { recipients: [{ address: victim }] } }], 'whom it named is shown');
    const sent = await daemon.call(sender.key, 'POST /emails', {
      body: { from: `a@${sender.domain}`, to: victim, subject: 'x', text: 'x' },
    });
    t.equal(sent.status, 202, 'the stranger can still be written to');
  });

  await t.test('policy and reputation refusals never suppress', async (t) => {
    const lists = [await ofTenant(), await ofPlatform()];
    for (const [status, diagnostic, type] of [
      ['5.7.1', '550 5.7.1 Message refused because of the poor reputation of the sending address', 'block'],
      ['5.7.26', '550 5.7.26 Unauthenticated email is not accepted due to the DMARC policy of the domain', 'block'],
      ['5.2.2', '552 5.2.2 Mailbox full', 'soft'],
      ['5.3.4', '552 5.3.4 Message too large', 'soft'],
      ['4.4.7', '450 4.4.7 Message delayed too long, giving up', 'soft'],
    ] as const) {
      const { id, mail } = await deliver(all, `policy@${RECEIVER}`);
      await bring(all, mail.from, dsnFor(mail, { status, diagnostic }));
      const last = (await eventsOf(all, id)).at(-1)!;
      t.match(last, { type: 'email.bounced', data: { bounce: { type, suppressed: false } } }, diagnostic);
    }
    t.same([await ofTenant(), await ofPlatform()], lists);
  });

  await t.test('a notice of delay', async (t) => {
    const { id, mail } = await deliver(all, `slow@${RECEIVER}`);
    const notice = dsnFor(mail, { action: 'delayed', status: '4.4.1', diagnostic: '421 4.4.1 Connection timed out' });
    t.match(await bring(all, mail.from, notice), { effect: 'deferred' });
    t.match(await bring(all, mail.from, notice), { effect: 'none', reason: 'the same notice of delay came before' });
    t.equal(await stateOf(daemon, sender, id), 'delivered', 'it is out of our hands all the same');
    const events = await eventsOf(all, id);
    t.same(
      events.map(({ type }) => type),
      ['email.delivered', 'email.deferred'],
    );
    t.match(events[1]!.data.delivery, { smtp_code: 421, enhanced_code: '4.4.1', next_attempt_at: null });
  });

  await t.test('what programs answer for people counts for nothing', async (t) => {
    const { id, mail } = await deliver(all, `away@${RECEIVER}`);
    const away = `From: ${mail.to}\r\nTo: ${mail.from}\r\nSubject: Out of office: Hello\r\nAuto-Submitted: auto-replied\r\n\r\nI am away; 550 5.1.1 user unknown.\r\n`;
    t.match(await bring(all, mail.from, away), { kind: 'auto_reply', effect: 'none' });
    t.equal(await stateOf(daemon, sender, id), 'delivered');
    t.equal((await eventsOf(all, id)).length, 1);
  });

  await t.test('what comes to a return path without a sender is never human mail', async (t) => {
    const { id, mail } = await deliver(all, `odd@${RECEIVER}`);
    const strange = 'From: gate@relay.test\r\nSubject: Zprava 77\r\n\r\nVase zprava: stav 77.\r\n';
    const before = await ofTenant();
    const written = await bring(all, mail.from, strange, 'jo@people.test');
    t.match(written, { kind: 'human', effect: 'kept' }, 'somebody who has an address may be a person');
    const reason = /^a report of unknown cause: .*nothing in it was recognised/;
    const done = await bring(all, mail.from, strange);
    t.match(done, { kind: 'report', effect: 'bounced', message_id: id, reason });
    t.match((await eventsOf(all, id)).at(-1), {
      type: 'email.bounced',
      data: { to: `odd@${RECEIVER}`, bounce: { type: 'soft', diagnostic: 'Zprava 77', suppressed: false } },
    });
    const shown = await postrider.json('inbound', 'show', String(done.inbound_id));
    t.match(shown, { finding: { from: 'gate@relay.test', subject: 'Zprava 77', recipients: [{ kind: 'soft' }] } });
    t.same(await ofTenant(), before, 'nobody is suppressed');

    const other = await deliver(all, `jo.doe+shop@${RECEIVER}`);
    const answer = `From: Jo <Jo.Doe@${RECEIVER}>\r\nSubject: Danke\r\n\r\nWir melden uns.\r\n`;
    const replied = await bring(all, other.mail.from, answer);
    t.match(replied, {
      kind: 'auto_reply',
      effect: 'none',
      message_id: other.id,
      reason: /from the message's recipient/,
    });
    t.equal(await stateOf(daemon, sender, other.id), 'delivered');
    const { finding } = await postrider.json('inbound', 'show', String(replied.inbound_id));
    t.match(finding, { recipient: `jo.doe+shop@${RECEIVER}` });
  });

  await t.test('a complaint', async (t) => {
    const { id, mail } = await deliver(all, `angry@${RECEIVER}`);
    t.match(await bring(all, `fbl@${BOUNCES}`, complaintAbout(mail.raw)), { effect: 'complained', message_id: id });
    t.match((await eventsOf(all, id)).at(-1), {
      type: 'email.complained',
      data: {
        complaint: {
          feedback_type: 'abuse',
          source: 'arf',
          reported_domain: 'acme.test',
          arrival_date: '2026-11-20T10:00:00.000Z',
          suppressed: true,
        },
      },
    });
    t.match(await ofTenant(), [{ address: `angry@${RECEIVER}`, reason: 'complaint', message_id: id }]);
    t.notOk(addresses(await ofPlatform()).includes(`angry@${RECEIVER}`), "other tenants' mail is not his business");
    t.match(await bring(all, `fbl@${BOUNCES}`, complaintAbout(mail.raw)), { effect: 'none' });
    t.equal((await eventsOf(all, id)).length, 2, 'the same one again changes nothing');
  });

  await t.test('a complaint whose original was altered counts for nothing', async (t) => {
    const { id, mail } = await deliver(all, `signed@${RECEIVER}`);
    const header = headerOf(mail.raw).toString('latin1');
    const body = mail.raw.subarray(header.length);
    for (const [how, altered] of Object.entries({
      'without its token': header.replace(/^CFBL-Feedback-ID: .*\r\n(?:[ \t].*\r\n)*/m, ''),
      'with another token': header.replace(/^(CFBL-Feedback-ID: )\S+/m, `$1${id}:aaaaaaaaaaaaaaaaa`),
    })) {
      t.not(altered, header);
      const original = Buffer.concat([Buffer.from(altered, 'latin1'), body]);
      t.match(
        await bring(all, `fbl@${BOUNCES}`, complaintAbout(original)),
        { effect: 'none' },
        `${how}: it was signed`,
      );
    }
    t.notOk(addresses(await ofTenant()).includes(`signed@${RECEIVER}`));
  });

  await t.test('forged complaints suppress nobody, and are kept with the reason', async (t) => {
    const { id, mail } = await deliver(all, `quiet@${RECEIVER}`);
    const forged = Buffer.from(
      [
        `From: app@acme.test`,
        `To: quiet@${RECEIVER}`,
        `Message-ID: <${id}@acme.test>`,
        `CFBL-Feedback-ID: ${id}:aaaaaaaaaaaaaaaaa`,
        `Return-Path: <b${'a'.repeat(43)}@${BOUNCES}>`,
        'Subject: Hello',
        '',
        'Hello.',
      ].join('\r\n'),
    );
    const done = await bring(all, `fbl@${BOUNCES}`, complaintAbout(forged));
    t.match(done, { kind: 'complaint', effect: 'none', reason: /nothing in it proves/ });
    const shown = await postrider.json('inbound', 'show', String(done.inbound_id));
    t.match(shown, { effect: 'none', reason: /no address is suppressed/, finding: { proof: null } });
    t.notOk(addresses(await ofTenant()).includes(`quiet@${RECEIVER}`));
    t.equal((await eventsOf(all, id)).length, 1);
    t.match(await bring(all, `fbl@${BOUNCES}`, complaintAbout(mail.raw, { feedbackType: 'not-spam' })), {
      effect: 'none',
      reason: /not spam/,
    });
  });

  await t.test('a report that came to no return path proves nothing', async (t) => {
    const { id, mail } = await deliver(all, `safe@${RECEIVER}`);
    t.match(await bring(all, `postmaster@${BOUNCES}`, dsnFor(mail)), { kind: 'report', effect: 'none' });
    t.equal(await stateOf(daemon, sender, id), 'delivered');
  });

  await t.test('a mail to the unsubscribe address', async (t) => {
    await postrider.json('tenant', 'set', sender.tenantId, '--unsubscribe', 'on');
    const { id, mail } = await deliver(all, `enough@${RECEIVER}`);
    const address = /<mailto:([^?>]+)/.exec(mail.raw.toString('latin1').replace(/\r\n[ \t]/g, ''))![1]!;
    const done = await bring(
      all,
      address,
      'From: enough@receiver.test\r\nSubject: unsubscribe\r\n\r\n',
      'enough@receiver.test',
    );
    t.match(done, { kind: 'unsubscribe', effect: 'unsubscribed', message_id: id });
    t.match(daemon.find({ fact: 'unsubscribed', message_id: id }), [{ recipient: `enough@${RECEIVER}` }]);
    t.match(
      (await ofTenant()).find((entry) => entry.address === `enough@${RECEIVER}`),
      { reason: 'unsubscribe' },
    );
  });

  await t.test('DMARC reports are stored per domain and day', async (t) => {
    const own = gzipSync(dmarcXml({ records: [{ count: 3 }, { count: 4 }, { headerFrom: 'stranger.test' }] }));
    t.match(await bring(all, `dmarc@${BOUNCES}`, dmarcMail(own), 'a@big.test'), { kind: 'dmarc', effect: 'stored' });
    t.match(await bring(all, `dmarc@${BOUNCES}`, dmarcMail(own), 'a@big.test'), { kind: 'dmarc', effect: 'none' });
    const strange = gzipSync(dmarcXml({ domain: 'stranger.test', records: [{ headerFrom: 'stranger.test' }] }));
    const done = await bring(all, `dmarc@${BOUNCES}`, dmarcMail(strange), 'a@big.test');
    t.match(done, { effect: 'none', reason: /no tenant sends from/ });
    const bomb = await bring(
      all,
      `dmarc@${BOUNCES}`,
      dmarcMail(gzipSync(Buffer.alloc(30 * 1024 * 1024))),
      'a@big.test',
    );
    t.match(bomb, { kind: 'dmarc', effect: 'kept', reason: /more than 25 MiB/ });
  });

  await t.test('people who write to roles are kept', async (t) => {
    const done = await bring(all, `postmaster@${BOUNCES}`, HUMAN, 'jo@people.test');
    t.match(done, { kind: 'human', effect: 'kept' });
    const { mails } = await postrider.json('inbound', 'list', '--kind', 'human');
    t.match(mails, [{ id: done.inbound_id, mail_from: 'jo@people.test', finding: { subject: 'Hello there' } }]);
    const { stdout } = await postrider.runHere('inbound', 'show', String(done.inbound_id), '--raw');
    t.match(stdout, 'Please call me.');
  });
});

t.test('people who write to roles are passed on to the operator, and never in circles', async (t) => {
  const all = await stage(t, { service: { operator_address: `operator@${RECEIVER}` } });
  const { sink } = all;
  const done = await bring(all, `abuse@${BOUNCES}`, HUMAN, 'jo@people.test');
  t.match(done, { kind: 'human', effect: 'forwarded' });
  const [passedOn] = await sink.received(1);
  t.equal(passedOn!.to, `operator@${RECEIVER}`);
  const raw = passedOn!.raw.toString();
  for (const part of ['Subject: [abuse] Hello there', 'Reply-To: jo@people.test', 'Auto-Submitted: auto-generated']) {
    t.match(raw, part);
  }
  t.match(raw, 'Please call me.');
  t.match(await bring(all, `postmaster@${BOUNCES}`, passedOn!.raw, 'jo@people.test'), { effect: /kept|none/ });
  t.match(await bring(all, `postmaster@${BOUNCES}`, HUMAN), { effect: 'kept', reason: /sender is empty/ });
  t.equal(sink.mails.length, 1, 'none of these was passed on');
});

t.test('a bounce that returns a large message takes effect, and its end is not kept', async (t) => {
  const metricsPort = await findFreePort();
  const all = await stage(t, { metrics: { port: metricsPort } });
  const { daemon, sender, postrider, smtpPort } = all;
  for (const isAnnounced of [true, false]) {
    const { id, mail } = await deliver(all, `jo${isAnnounced ? 1 : 2}@${RECEIVER}`);
    const bounce = postfixBounceOf(mail, 12 * 1024 * 1024);
    const client = await SmtpClient.hello(smtpPort);
    t.match(await client.ask(`MAIL FROM:<>${isAnnounced ? ` SIZE=${bounce.length}` : ''}`), /^250/);
    t.match(await client.ask(`RCPT TO:<${mail.from}> ORCPT=rfc822;${mail.from}`), /^250/);
    await client.ask('DATA');
    client.write(bounce);
    client.write('.\r\n');
    const reply = await client.reply();
    t.match(reply, /^250 2\.0\.0 Ok: kept as \S+$/);
    client.close();
    const kept = await daemon.logged({ fact: 'inbound', inbound_id: reply.split(' ').at(-1)! });
    t.match(kept, { kind: 'report', effect: 'bounced', message_id: id });
    t.equal(await stateOf(daemon, sender, id), 'bounced');
    const cut = await daemon.logged({ fact: 'inbound_cut', inbound_id: kept.inbound_id as string });
    t.match(cut, { size_octets: bounce.length });
    t.match(await postrider.json('inbound', 'show', String(kept.inbound_id)), { size_octets: cut.kept_octets });
    t.ok((cut.kept_octets as number) <= 16 * 1024 * 1024, '`smtp.max_mail_mib`');
  }
  const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  t.match(page, /^postrider_inbound_mails_total\{outcome="cut"\} 2$/m);
});
