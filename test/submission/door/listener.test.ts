// The SMTP door as its clients meet it: over real sockets, byte by byte.
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { createTransport } from 'nodemailer';
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/base/clock.ts';
import { FIRST_PAIR, SECOND_PAIR, type TestOnlyPair } from '../../http/test-only-certificates.ts';
import { noOwnAddress, OWN_ADDRESS } from '../../support/own-address.ts';
import { patience } from '../../support/patience.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { LIMITS, openDoor, plain, readAll, signedIn } from './door-kit.ts';

const FROM = 'app@shop.test';
const TO = 'jo@receiver.test';
const MAIL = 'From: app@shop.test\r\nSubject: hello\r\n\r\nHello.';

t.test('what it offers, and what it does not', async (t) => {
  const { port } = await openDoor(t);
  const { client, greeting } = await SmtpClient.open(port);
  t.match(greeting, /^220 mail\.postrider\.test ESMTP/);
  const hello = await client.ask('EHLO client.test');
  for (const word of ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'SIZE 100000', 'AUTH PLAIN LOGIN', 'ENHANCEDSTATUSCODES']) {
    t.match(hello, word);
  }
  t.notMatch(hello, /STARTTLS|XCLIENT|DSN|CHUNKING|CRAM|XOAUTH2/);
  t.match(await client.ask('WIZ'), /^500 5\.5\.2/);
  t.match(await client.ask(`MAIL FROM:<${FROM}>`), /^530 5\.7\.0 Sign in first: AUTH with .*API key/);
  t.match(await client.ask('AUTH CRAM-MD5'), /^504 5\.5\.4/);
  client.close();
});

t.test('a mail arrives as it was written', async (t) => {
  const door = await openDoor(t);
  const client = await signedIn(door);
  const data = 'Subject: J\xf6\r\n\r\n..dots\r\n.\r\n\r\n';
  const reply = await client.send({ from: FROM, to: TO, data: Buffer.from(data.replace(/^\./gm, '..'), 'latin1') });
  t.equal(reply, '250 2.0.0 Ok: queued as 0');
  const [mail] = door.taken;
  t.match(mail, {
    sender: { tenantId: door.tenant.id, boundDomain: null },
    recipients: [{ address: TO, name: null, domain: 'receiver.test', suppressionKey: TO }],
    remoteIp: '127.0.0.1',
    tls: null,
  });
  t.equal(mail!.content.toString('latin1'), `${data}\r\n`);
  t.same(door.uses, [mail!.sender.id, mail!.sender.id], 'AUTH and the mail are uses of the key');

  client.write(`MAIL FROM:<${FROM}> SIZE=20 BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=a\r\n`);
  client.write(`RCPT TO:<${TO}> NOTIFY=SUCCESS,DELAY ORCPT=rfc822;${TO}\r\nDATA\r\n`);
  const replies = [await client.reply(), await client.reply(), await client.reply()];
  t.match(replies, [/^250 2\.1\.0/, /^250 2\.1\.5/, /^354/], 'pipelined, with parameters that are ignored');
  client.write(`${MAIL}\r\n.\r\nQUIT\r\n`);
  t.match(await client.reply(), /^250 2\.0\.0/);
  t.match(await client.reply(), /^221/);
});

t.test('who may sign in', async (t) => {
  const door = await openDoor(t);
  const { api, tenant } = door;
  const refused = async (password: string, user?: string) => {
    const client = await SmtpClient.hello(door.port);
    const reply = await client.ask(plain(password, user));
    client.close();
    return reply;
  };
  for (const user of ['apikey', 'jo@shop.test', 'jö']) t.match(await refused(tenant.key, user), /^235 2\.7\.0/, user);
  t.match(await refused(`${tenant.key.slice(0, -1)}_`), /^535 5\.7\.8 The API key is unknown or revoked/);
  t.match(await refused('secret'), /^535 5\.7\.8/);
  t.match(await refused(await api.addKey(tenant.id, ['domains:write'])), /^535 5\.7\.8 .*emails:send/);
  const idle = await api.addTenant({ status: 'suspended' });
  t.match(await refused(idle.key), /^454 4\.7\.0 The operator has suspended sending/);

  const client = await SmtpClient.hello(door.port);
  t.match(await client.ask('AUTH LOGIN'), /^334 VXNlcm5hbWU6/);
  t.match(await client.ask(Buffer.from('any').toString('base64')), /^334 UGFzc3dvcmQ6/);
  t.match(await client.ask(Buffer.from(tenant.key).toString('base64')), /^235 2\.7\.0/);
  t.match(await client.ask(plain(tenant.key)), /^503/, 'once is enough');
  client.close();
  t.same(door.counted, {
    ...{ 'connection accepted': 8, 'login accepted': 4 },
    ...{ 'login wrong_key': 2, 'login no_scope': 1, 'login inactive': 1 },
  });
});

t.test('AUTH LOGIN takes any user name, as AUTH PLAIN does', async (t) => {
  const door = await openDoor(t);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const login = async (lines: readonly string[]) => {
    const client = await SmtpClient.hello(door.port);
    const replies = [];
    for (const line of lines) replies.push(await client.ask(line));
    client.close();
    return replies.map((reply) => reply.slice(0, 9));
  };
  const key = base64(door.tenant.key);
  const [user, password, signedIn] = ['334 VXNlc', '334 UGFzc', '235 2.7.0'];
  for (const name of ['', '=', base64('j\u00f6'), base64('a\0b'), 'no base64!']) {
    t.same(await login(['AUTH LOGIN', name, key]), [user, password, signedIn], `"${name}"`);
  }
  for (const name of ['=', base64('a\0b')]) {
    t.same(await login([`auth login ${name}`, key]), [password, signedIn], `"${name}" in the command`);
  }
  t.same(await login(['AUTH LOGIN', '', base64('pr_wrong')]), [user, password, '535 5.7.8']);
  const given = [user, '501 5.5.4', user, password, '501 5.5.4'];
  t.same(await login(['AUTH LOGIN', '*', 'AUTH LOGIN', '', '*']), given, 'given up');
  t.match(await login(['AUTH LOGIN a b', 'AUTH PLAIN', base64(`\0\0${door.tenant.key}`)]), [/^501/, /^334/, /^235/]);
});

t.test('wrong keys are throttled by network, and lock out nobody who was there before', async (t) => {
  const door = await openDoor(t);
  (await signedIn(door)).close();
  const wrong = async () => {
    const client = await SmtpClient.hello(door.port);
    const reply = await client.ask(plain('pr_wrong'));
    client.close();
    return reply;
  };
  for (let count = 0; count < 40; count++) t.match(await wrong(), /^535/);
  t.match(await wrong(), /^421 4\.7\.0 Too many wrong API keys from your network; connect again in \d+ s/);
  (await signedIn(door)).close();
  const other = await door.api.addTenant();
  await t.rejects(signedIn(door, other.key), /421 4\.7\.0/, 'a key that has not been seen there waits');
  t.match(door.counted, { 'login accepted': 2, 'login wrong_key': 40, 'login throttled': 2 });
});

t.test('logins that failed by our fault are not held against the network', async (t) => {
  let isDown = true;
  const door = await openDoor(t, {
    storeOver: (store) => ({
      ...store,
      keys: {
        ...store.keys,
        async findApiKeyBySecret(...which) {
          if (isDown) throw new Error('the database is down');
          return store.keys.findApiKeyBySecret(...which);
        },
      },
    }),
  });
  for (let count = 0; count < 50; count++) {
    const client = await SmtpClient.hello(door.port);
    t.match(await client.ask(plain(door.tenant.key)), /^454 4\.7\.0/);
    client.close();
  }
  isDown = false;
  (await signedIn(door)).close();
  t.match(door.counted, { 'login fault': 50, 'login accepted': 1 });
});

t.test('a key that may no longer send, in an open session', async (t) => {
  let reason: string | null = null;
  const door = await openDoor(t, { perMinute: 2, refusal: () => reason });
  const { api, tenant } = door;
  const client = await signedIn(door);
  const mail = async () => {
    await client.ask('RSET');
    return client.ask(`MAIL FROM:<${FROM}>`);
  };
  t.match(await mail(), /^250/);
  reason = 'the disk is full';
  t.match(await mail(), /^451 4\.3\.2 .*the disk is full/);
  reason = null;
  t.match(await mail(), /^451 4\.7\.1 .*try again in \d+ s/);
  await api.store.tenants.updateTenant(tenant.id, { status: 'in_review', statusReason: 'too many complaints' });
  t.match(await mail(), /^454 4\.7\.0 .*too many complaints/);
  await api.store.tenants.updateTenant(tenant.id, { status: 'active', statusReason: null });
  const [key] = await api.store.keys.listApiKeys(tenant.id);
  await api.store.keys.revokeApiKey(tenant.id, key!.id, Date.now());
  t.match(await mail(), /^421 4\.7\.0 The API key was revoked/);
  await client.ended();
  t.same(door.counted, {
    ...{ 'connection accepted': 1, 'login accepted': 1 },
    ...{ 'mail intake_closed': 1, 'mail over_rate': 1, 'mail inactive': 1, 'mail key_revoked': 1 },
  });
});

t.test('recipients', async (t) => {
  const door = await openDoor(t, { staysUsable: (address) => address.startsWith('magic@') });
  const { suppressions } = door.api.store;
  const entry = { messageId: null, createdAt: Date.now() };
  for (const [address, reason] of [
    ['gone@receiver.test', 'hard_bounce'],
    ['angry@receiver.test', 'complaint'],
    ['magic@receiver.test', 'hard_bounce'],
    ['left@receiver.test', 'unsubscribe'],
  ] as const) {
    await suppressions.addSuppression(door.tenant.id, { ...entry, address, reason });
  }
  const listed = { ...entry, mxGroup: null, rule: 'smtp 5.1.1' };
  await suppressions.addPlatformSuppression({
    ...listed,
    address: 'nobody@receiver.test',
    expiresAt: Date.now() + 1e6,
  });
  await suppressions.addPlatformSuppression({ ...listed, address: 'former@receiver.test', expiresAt: 1 });
  await suppressions.addPlatformSuppression({
    ...listed,
    address: 'jo@receiver.test.net',
    expiresAt: Date.now() + 1e6,
  });

  const client = await signedIn(door);
  const rcpt = (address: string) => client.ask(`RCPT TO:<${address}>`);
  t.match(await rcpt(TO), /^503/, 'MAIL comes first');
  await client.ask(`MAIL FROM:<${FROM}>`);
  t.match(await rcpt('Gone@Receiver.test'), /^550 5\.1\.1 .*\(hard_bounce\): it bounced/);
  t.match(await rcpt('angry@receiver.test'), /^550 5\.1\.1 .*\(complaint\)/);
  t.match(await rcpt('left@receiver.test'), /^550 5\.1\.1 .*\(unsubscribe\)/);
  const ofPlatform =
    /^550 5\.1\.1 .*\(hard_bounce\): it is on the service-wide list .* until \d{4}-\d\d-\d\d\. .*operator/;
  t.match(await rcpt('nobody@receiver.test'), ofPlatform);
  t.match(await rcpt('jo@localhost'), /^553 5\.1\.3/);
  t.match(await rcpt('jo@[192.0.2.1]'), /^553 5\.1\.3/);
  t.match(await rcpt('jo'), /^553 5\.1\.3 The address has no @/);
  t.match(await rcpt(''), /^501/);
  t.match(await rcpt(' jo@receiver.test'), /^553 5\.1\.3 There is white space around the address/);
  t.match(await rcpt('jo@b_d.test'), /^553 5\.1\.3 The domain has a character/);
  t.match(await rcpt('"a b@receiver.test'), /^501/);
  t.match(await rcpt('"a\tb"@receiver.test'), /^553 5\.1\.3 The address contains a control character/);
  t.match(await client.ask(`RCPT TO:${TO}`), /^501/);
  t.match(await client.ask(`RCPT TO:<${TO}> NOTIFY`), /^501/);
  for (const address of [
    TO,
    TO,
    'Jo@RECEIVER.test',
    'magic@receiver.test',
    'former@receiver.test',
    'j\xf6@b\xfccher.test',
    'jo@XN--bcher-kva.test',
    'jo@B\xdcCHER.test',
    '"a b>@"@receiver.test',
    '"jo"@receiver.test',
    '@relay.test:ann@receiver.test',
  ]) {
    client.write(Buffer.from(`RCPT TO:<${address}>\r\n`));
    t.match(await client.reply(), /^250 2\.1\.5/, address);
  }
  await client.ask('DATA');
  client.write(`${MAIL}\r\n.\r\n`);
  t.match(await client.reply(), /^250/);
  t.same(
    door.taken[0]!.recipients.map(({ address, domain, staysUsable = false }) => [address, domain, staysUsable]),
    [
      [TO, 'receiver.test', false],
      ['Jo@RECEIVER.test', 'receiver.test', false],
      ['magic@receiver.test', 'receiver.test', true],
      ['former@receiver.test', 'receiver.test', false],
      ['jö@bücher.test', 'xn--bcher-kva.test', false],
      ['jo@XN--bcher-kva.test', 'xn--bcher-kva.test', false],
      ['"a b>@"@receiver.test', 'receiver.test', false],
      ['ann@receiver.test', 'receiver.test', false],
    ],
    'as they were written; two spellings of one domain are one, of a local part two',
  );
  await client.ask(`MAIL FROM:<${FROM}>`);
  for (let count = 0; count < 100; count++) t.match(await rcpt(`jo${count}@receiver.test`), /^250/);
  t.match(await rcpt('one-more@receiver.test'), /^452 4\.5\.3/);
  client.close();
  t.match(door.counted, {
    ...{ 'recipient accepted': 111, 'recipient suppressed': 4, 'recipient invalid': 6, 'recipient too_many': 1 },
    'mail accepted': 1,
  });
});

t.test('MAIL FROM is not looked at', async (t) => {
  const door = await openDoor(t);
  const client = await signedIn(door);
  const senders = [
    ...['', 'root', 'MAILER-DAEMON', 'www-data@web_1.local', '"a b"@c.example', 'a.@b.example', 'a@b@c'],
    ...[`${'x'.repeat(300)}@c.example`, '@relay.example:root', 'www data@host'],
  ];
  for (const from of senders) t.match(await client.send({ from, to: TO, data: MAIL }), /^250/, from);
  t.equal(door.taken.length, senders.length);
  t.match(await client.ask('MAIL FROM:<root> SIZE=100001'), /^552 5\.3\.4/, 'its parameters are');
  for (const command of [
    'MAIL FROM:root',
    'MAIL FROM:<root',
    'MAIL FROM:<root> SIZE=x',
    'MAIL FROM:<root> SIZE=1 SIZE=2',
  ]) {
    t.match(await client.ask(command), /^501/, command);
  }
  client.close();
});

t.test('what is not a mail', async (t) => {
  const door = await openDoor(t);
  for (const [data, fault] of [
    ['Subject: a\r\n\r\nbare\nline', /^550 5\.6\.0 Line 3 has a bare CR or LF/],
    ['Subject: a\r\n\r\nbare\rline', /^550 5\.6\.0 Line 3 has a bare CR or LF/],
    ['Subject: a\r\nX: nul\0\r\n\r\n', /^550 5\.6\.0 Line 2 has a NUL byte/],
    ['Subject: a\r\n\r\n\n.\r\nMAIL FROM:<a@b.test>', /^550 5\.6\.0 Line 3/],
    ['Subject: a\r\n\r\n\n.\nMAIL FROM:<a@b.test>', /^550 5\.6\.0 Line 3/],
    ['Subject: a\r\n\r\n\r.\rMAIL FROM:<a@b.test>', /^550 5\.6\.0 Line 3/],
  ] as const) {
    const client = await signedIn(door);
    t.match(await client.send({ from: FROM, to: TO, data: Buffer.from(data) }), fault, JSON.stringify(data));
    await client.ended();
  }
  const client = await signedIn(door);
  const large = `Subject: a\r\n\r\n${'x'.repeat(70)}\r\n`.repeat(2000);
  t.match(await client.send({ from: FROM, to: TO, data: large }), /^552 5\.3\.4/, 'read to its end, then refused');
  t.match(await client.ask(`MAIL FROM:<${FROM}> SIZE=100001`), /^552 5\.3\.4/);
  t.match(await client.send({ from: FROM, to: TO, data: MAIL }), /^250/, 'the session goes on');
  const endless = await client.send({ from: FROM, to: TO, data: large.repeat(4) });
  t.match(endless, /^552 5\.3\.4/, 'what has no end is cut off');
  await client.ended();
  t.equal(door.taken.length, 1);
  t.match(door.counted, { 'mail malformed': 6, 'mail too_large': 3, 'mail accepted': 1 });
});

t.test('line ends over chunks that end anywhere', async (t) => {
  const door = await openDoor(t);
  const client = await signedIn(door);
  const data = `${MAIL}\r\n${'\r\n'.repeat(40)}.a\r\n`;
  for (const command of [`MAIL FROM:<${FROM}>`, `RCPT TO:<${TO}>`, 'DATA']) await client.ask(command);
  for (const byte of `${data.replace(/^\./gm, '..')}.\r\n`) {
    client.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.match(await client.reply(), /^250/);
  t.equal(door.taken[0]!.content.toString(), data);
  client.close();
});

t.test('what the function decides is what the client hears, after all of its mail', async (t) => {
  const work: ((content: AsyncIterable<Buffer>) => Promise<void>)[] = [];
  const door = await openDoor(t, {
    async takeMail(_, content) {
      await work.shift()?.(content);
      return { code: 550, text: '5.7.1 Not verified' };
    },
  });
  const client = await signedIn(door);
  const mail = { from: FROM, to: TO, data: `${MAIL}${'\r\nmore'.repeat(10_000)}` };
  t.equal(await client.send(mail), '550 5.7.1 Not verified', 'nothing of it was read');
  work.push(async (content) => {
    for await (const _ of content) return;
  });
  t.equal(await client.send(mail), '550 5.7.1 Not verified', 'the first piece of it was read');
  work.push(async () => {
    throw new Error('disk');
  });
  t.match(await client.send(mail), /^451 4\.3\.0/);
  t.equal(await client.send(mail), '550 5.7.1 Not verified', 'the session goes on');
  client.close();
  t.match(door.counted, { 'mail sender_not_allowed': 3, 'mail fault': 1 });
});

t.test('limits of connections', async (t) => {
  const door = await openDoor(t, { limits: { ...LIMITS, connectionsPerPeer: 4, connectionsPerKey: 2 } });
  const first = [await signedIn(door), await signedIn(door)];
  await t.rejects(signedIn(door), /421 4\.7\.0 Too many connections with this API key/);
  const other = await door.api.addTenant();
  const second = [await signedIn(door, other.key), await signedIn(door, other.key)];
  const { greeting } = await SmtpClient.open(door.port);
  t.match(greeting, /^421 4\.7\.0 too many connections from your address/);
  t.match(door.counted, { 'connection refused': 1, 'login too_many_connections': 1 });
  t.equal(door.openConnections(), 4);
  for (const client of [...first, ...second]) client.close();
  await until('the connections are given back', async () => {
    try {
      (await signedIn(door)).close();
      return true;
    } catch {
      return false;
    }
  });
});

t.test('a limit of connections in all', async (t) => {
  const door = await openDoor(t, { limits: { ...LIMITS, connections: 2 } });
  const open = [await SmtpClient.hello(door.port), await SmtpClient.hello(door.port, '127.0.0.2')];
  const { client, greeting } = await SmtpClient.open(door.port, '127.0.0.3');
  t.match(greeting, /^421 4\.7\.0 too many connections are open/);
  t.match(door.counted, { 'connection accepted': 2, 'connection refused': 1 });
  for (const each of [...open, client]) each.close();
  await until('none is left', () => door.openConnections() === 0);
});

t.test('a mail that breaks off is counted as lost', async (t) => {
  const door = await openDoor(t);
  const client = await signedIn(door);
  for (const command of [`MAIL FROM:<${FROM}>`, `RCPT TO:<${TO}>`, 'DATA']) await client.ask(command);
  client.write('Subject: x\r\n\r\nhalf');
  client.close();
  await until('it is counted', () => door.counted['mail lost'] === 1);
  t.equal(door.taken.length, 0);
});

t.test('the end', async (t) => {
  const begun = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  const door = await openDoor(t, {
    timeouts: { closeMs: 1 },
    async takeMail(_, content) {
      await readAll(content);
      begun.resolve();
      await stored.promise;
      return { code: 250, text: '2.0.0 Ok: queued as 0' };
    },
  });
  const [idle, writing, waiting] = [await signedIn(door), await signedIn(door), await signedIn(door)];
  for (const command of [`MAIL FROM:<${FROM}>`, `RCPT TO:<${TO}>`, 'DATA']) await writing.ask(command);
  const answer = waiting.send({ from: FROM, to: TO, data: MAIL });
  await begun.promise;
  const closed = door.close();
  t.match(await idle.reply(), /^421 4\.3\.2/);
  t.match(await writing.reply(), /^421 4\.3\.2/, 'a mail that is not whole can be sent again');
  stored.resolve();
  t.match(await answer, /^250/, 'one that is whole is answered');
  t.match(await waiting.reply(), /^421 4\.3\.2/);
  await closed;
});

t.test('a client that keeps its side open holds up nothing', async (t) => {
  const failures: unknown[] = [];
  const reading = Promise.withResolvers<void>();
  const door = await openDoor(t, {
    timeouts: { closeMs: 1 },
    async takeMail(_, content) {
      reading.resolve();
      await readAll(content).catch((error: unknown) => failures.push(error));
      return { code: 550, text: '5.6.0 Not whole' };
    },
  });
  const socket = connect({ port: door.port, host: '127.0.0.1', allowHalfOpen: true });
  t.teardown(() => socket.destroy());
  await new Promise((resolve) => socket.once('data', resolve));
  const { key } = door.tenant;
  socket.write(`EHLO x\r\n${plain(key)}\r\nMAIL FROM:<>\r\nRCPT TO:<${TO}>\r\nDATA\r\nSubject: half`);
  await reading.promise;
  await door.close();
  t.match(failures, [/the session ended/], 'what reads the mail is told so, without waiting for the client');
});

t.test('a session has its time, but no mail is answered 421 while it is stored', async (t) => {
  const timeUp = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const door = await openDoor(t, {
    timeouts: { sessionMs: patience(1000) },
    async takeMail(_, content) {
      await readAll(content);
      begun.resolve();
      await timeUp.promise;
      return { code: 250, text: '2.0.0 Ok: queued as 0' };
    },
  });
  const client = await signedIn(door);
  const answer = client.send({ from: FROM, to: TO, data: MAIL });
  await begun.promise;
  const later = await signedIn(door);
  t.match(await later.reply(), /^421 4\.4\.2/, 'the time of the later session is up');
  timeUp.resolve();
  t.match(await answer, /^250/);
  t.match(await client.reply(), /^421 4\.4\.2/);
});

const tlsFiles = (t: Test, { cert, key }: TestOnlyPair) => {
  const folder = testFolder(t, { 'a.crt': cert, 'a.key': key });
  return { certFile: path.join(folder, 'a.crt'), keyFile: path.join(folder, 'a.key') };
};

t.test('STARTTLS', async (t) => {
  const files = tlsFiles(t, FIRST_PAIR);
  const door = await openDoor(t, { tls: files, tlsCheckMs: 10 });
  const client = await SmtpClient.hello(door.port);
  t.match(await client.ask(plain(door.tenant.key)), /^235/, 'loopback needs no TLS');
  const socket = await client.startTls({ rejectUnauthorized: false });
  t.equal(socket.getPeerCertificate().subject.CN, FIRST_PAIR.name);
  t.match(await client.ask('EHLO client.test'), /AUTH PLAIN LOGIN/);
  t.match(await client.ask(`MAIL FROM:<${FROM}>`), /^530/, 'the login before TLS is forgotten');
  await client.ask(plain(door.tenant.key));
  t.match(await client.send({ from: FROM, to: TO, data: MAIL }), /^250/);
  t.match(door.taken[0]!.tls, /^TLSv1\.[23]$/);
  client.close();

  writeFileSync(files.certFile, SECOND_PAIR.cert);
  writeFileSync(files.keyFile, SECOND_PAIR.key);
  await until('the new certificate is in use', async () => {
    const again = await SmtpClient.hello(door.port);
    const { subject } = (await again.startTls({ rejectUnauthorized: false })).getPeerCertificate();
    again.close();
    return subject.CN === SECOND_PAIR.name;
  });
});

t.test('no password before TLS, except on loopback', { skip: noOwnAddress }, async (t) => {
  const door = await openDoor(t, { host: '0.0.0.0', tls: tlsFiles(t, FIRST_PAIR) });
  const { client } = await SmtpClient.open(door.port, OWN_ADDRESS, OWN_ADDRESS);
  t.notMatch(await client.ask('EHLO client.test'), /AUTH/);
  t.match(await client.ask(plain(door.tenant.key)), /^538 5\.7\.11 .*STARTTLS/);
  t.match(await client.ask('AUTH LOGIN'), /^538/);
  t.match(await client.ask(`MAIL FROM:<${FROM}>`), /^530 5\.7\.0 Sign in first: AUTH, after STARTTLS, with/);
  t.same(door.uses, [], 'the key was not even looked at');
  await client.startTls({ rejectUnauthorized: false });
  t.match(await client.ask('EHLO client.test'), /AUTH PLAIN LOGIN/);
  t.match(await client.ask(plain(door.tenant.key)), /^235/);
  client.close();
});

t.test('TLS from the start', async (t) => {
  const door = await openDoor(t, { port: null, tlsPort: 0, tls: tlsFiles(t, FIRST_PAIR) });
  t.equal(door.port, 0, 'the other port is off');
  const auth = { user: 'apikey', pass: door.tenant.key };
  const transport = createTransport({
    host: '127.0.0.1',
    port: door.tlsPort!,
    secure: true,
    auth,
    tls: { rejectUnauthorized: false },
  });
  const sent = await transport.sendMail({
    from: FROM,
    to: [TO, 'ann@receiver.test'],
    subject: 'Hello',
    text: 'Hello.',
  });
  transport.close();
  t.match(sent.response, /^250 2\.0\.0 Ok: queued as/);
  t.match(door.taken[0], { recipients: [{ address: TO }, { address: 'ann@receiver.test' }], tls: /^TLSv1\.[23]$/ });
  const silent = connectTls({ port: door.tlsPort!, host: '127.0.0.1', rejectUnauthorized: false });
  const greeting = await new Promise<Buffer>((resolve) => silent.once('data', resolve));
  t.match(greeting.toString(), /^220 /);
  silent.destroy();
});

t.test('a clock that the throttle goes by', async (t) => {
  let now = systemClock.now();
  const door = await openDoor(t, { clock: { now: () => now } });
  const other = await door.api.addTenant();
  for (let count = 0; count < 40; count++) {
    const client = await SmtpClient.hello(door.port);
    await client.ask(plain('pr_wrong'));
    client.close();
  }
  await t.rejects(signedIn(door, other.key), /421/);
  now += 31_000;
  (await signedIn(door, other.key)).close();
});
