// The inbound listener as its peers meet it: over real sockets, byte by byte.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { receive as receiveData } from '../../src/inbound/reception.ts';
import { makeUnsubscribeAddress } from '../../src/protocol/mail/addresses/unsubscribe-address.ts';
import { ReceptionMemory } from '../../src/smtp-listener/reception-memory.ts';
import { FIRST_PAIR, SECOND_PAIR, type TestOnlyPair } from '../http/test-only-certificates.ts';
import { patience } from '../support/patience.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';
import { BOUNCES, KEY, LIMITS, newReturnPath, receive } from './listener-kit.ts';

const MAIL = 'Subject: hello\r\n\r\nHello.';

t.test('what it offers, and what it does not', async (t) => {
  const { port } = await receive(t);
  const { client, greeting } = await SmtpClient.open(port);
  t.match(greeting, /^220 mail\.postrider\.test ESMTP Postrider$/, 'doctor knows it by that');
  const hello = await client.ask('EHLO client.test');
  for (const word of ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'SIZE 400000']) t.match(hello, word);
  t.notMatch(hello, /AUTH|STARTTLS|XCLIENT/);
  t.match(await client.ask('AUTH PLAIN AGEAYg=='), /^50/);
  t.match(await client.ask('WIZ'), /^500/);
  client.close();
});

t.test('recipients', async (t) => {
  const { port } = await receive(t);
  const client = await SmtpClient.hello(port);
  const rcpt = async (address: string) => {
    await client.ask('RSET');
    await client.ask('MAIL FROM:<>');
    return (await client.ask(`RCPT TO:<${address}>`)).slice(0, 9);
  };
  const path = newReturnPath();
  const unsubscribe = `${makeUnsubscribeAddress('019a9b70-4d10-7000-8b1e-5a2f7c9d3e10', KEY)}@${BOUNCES}`;
  for (const address of [
    path,
    path.toUpperCase(),
    unsubscribe,
    `postmaster@${BOUNCES}`,
    `Abuse@${BOUNCES.toUpperCase()}`,
    `fbl@${BOUNCES}`,
    `dmarc@${BOUNCES}`,
    `reports@${BOUNCES}`,
    'postmaster',
    'postmaster@mail.postrider.test',
    'ABUSE@Mail.Postrider.test',
  ]) {
    t.equal(await rcpt(address), '250 Accep', address);
  }
  const forged = `${path[5] === 'a' ? 'b' : 'a'}`;
  for (const address of [
    path.slice(0, 5) + forged + path.slice(6),
    path.replace(BOUNCES, 'elsewhere.test'),
    unsubscribe.replace(/^u/, 'b'),
    `info@${BOUNCES}`,
    'fbl@mail.postrider.test',
    'dmarc@mail.postrider.test',
    path.replace(BOUNCES, 'mail.postrider.test'),
    'postmaster@postrider.test',
    'jo@example.com',
    `postmaster@other.${BOUNCES}`,
    `jo%example.com@${BOUNCES}`,
    `@${BOUNCES}:jo@example.com`,
  ]) {
    t.equal(await rcpt(address), '550 5.1.1', `${address} is refused`);
  }
  t.match(await rcpt(`"jo@example.com"@${BOUNCES}`), /^501/, 'an address in an address');
  client.close();
});

t.test(
  'a mail to an unsubscribe address whose message is not stored any more is refused with what to do',
  async (t) => {
    const unsubscribe = `${makeUnsubscribeAddress('019a9b70-4d10-7000-8b1e-5a2f7c9d3e10', KEY)}@${BOUNCES}`;
    const { port, kept } = await receive(t, {
      limits: { ...LIMITS, refusalsPerMinute: 1 },
      store: { inbound: { findReported: async () => null } },
    });
    const client = await SmtpClient.hello(port);
    await client.ask('MAIL FROM:<ann@rcpt.test>');
    for (const _ of [1, 2, 3]) {
      t.match(await client.ask(`RCPT TO:<${unsubscribe}>`), /^550 5\.1\.1 .* no longer stored\. .*https link/);
    }
    t.match(await client.ask(`RCPT TO:<${newReturnPath()}>`), /^250/, 'a report is still recorded as such');
    client.close();
    const away = await receive(t, {
      store: {
        inbound: {
          async findReported() {
            throw new Error('the database is away');
          },
        },
      },
    });
    const other = await SmtpClient.hello(away.port);
    await other.ask('MAIL FROM:<ann@rcpt.test>');
    t.match(await other.ask(`RCPT TO:<${unsubscribe}>`), /^451 4\.3\.0/, 'where that is not known');
    other.close();
    t.same(kept, []);
  },
);

t.test('a mail is kept as it came, and 250 says so after that', async (t) => {
  const order: string[] = [];
  const { port, kept } = await receive(t, {
    store: {
      inbound: {
        async keepInbound(mail) {
          await new Promise((resolve) => setImmediate(resolve));
          kept.push(mail);
          order.push('kept');
          return 'kept';
        },
        findReported: async () => null,
      },
    },
    onKept: () => void order.push('told'),
  });
  const client = await SmtpClient.hello(port);
  const to = newReturnPath();
  const data = 'Subject: J\xf6\r\n\r\n..dots\r\n.\r\n\r\n';
  const reply = await client.send({ from: '', to, data: Buffer.from(data.replace(/^\./gm, '..'), 'latin1') });
  t.match(reply, /^250 2\.0\.0 Ok: kept as [0-9a-f-]{36}$/);
  t.same(order, ['kept', 'told']);
  t.match(kept[0], { remoteIp: '127.0.0.1', ehloName: 'client.test', tls: null, mailFrom: '', recipients: [to] });
  t.equal(kept[0]!.content.toString('latin1'), `${data}\r\n`);
  client.write(`MAIL FROM:<a@b.test>\r\nRCPT TO:<${to}>\r\nDATA\r\n`);
  t.same(
    [await client.reply(), await client.reply(), await client.reply()].map((reply) => reply.slice(0, 3)),
    ['250', '250', '354'],
    'pipelined',
  );
  client.write(`${MAIL}\r\n.\r\n`);
  t.match(await client.reply(), /^250/);
  client.close();
});

t.test('a report counts whatever its sender is called', async (t) => {
  const { port, kept } = await receive(t);
  const client = await SmtpClient.hello(port);
  const to = newReturnPath();
  const senders = [
    ...['MAILER-DAEMON', 'postmaster@mail_gw.example', '"a b"@c.example', '"a>\\" @b"@c.example', 'a.@b.example'],
    ...['jo@xn--bcher-kva.example', 'a@b@c.example', `${'x'.repeat(300)}@c.example`, 'www data@host'],
  ];
  for (const from of senders) t.match(await client.send({ from, to, data: MAIL }), /^250/, from);
  const taken = kept.map(({ mailFrom }) => mailFrom);
  t.same(taken, senders, 'as they were written');
  t.match(await client.send({ from: '@relay.example,@b.example:root@c_d.example', to, data: MAIL }), /^250/);
  t.equal(kept.at(-1)!.mailFrom, 'root@c_d.example', 'a source route is ignored');
  t.match(await client.send({ from: '', to, data: MAIL }), /^250/);
  t.equal(kept.at(-1)!.mailFrom, '', 'no sender stays none');
  for (const command of [
    ...[
      'MAIL FROM:root',
      'MAIL FROM:<root',
      'MAIL FROM:root>',
      'MAIL FROM:<<root>>',
      'MAIL FROM:<root>x',
      'MAIL <root>',
    ],
    ...['MAIL FROM:<"root>', 'MAIL FROM:<ro\0ot>', 'MAIL FROM:<ro\x1b[2Jot>', 'MAIL FROM:< >'],
    ...['MAIL FROM:<root> SIZE=x', 'MAIL FROM:<root> SIZE', 'MAIL FROM:<root> BODY=9BIT'],
  ]) {
    t.match(await client.ask(command), /^501/, JSON.stringify(command));
  }
  t.match(await client.ask('MAIL FROM:<root> SIZE=400001'), /^552/, 'parameters are read as before');
  t.match(await client.ask(`MAIL FROM:<> SIZE=400000`), /^250/);
  client.close();
});

t.test('nothing is promised that was not stored', async (t) => {
  const inbound = { keepInbound: () => Promise.reject(new Error('disk')), findReported: async () => null };
  const { port } = await receive(t, { store: { inbound } });
  const client = await SmtpClient.hello(port);
  t.match(await client.send({ from: '', to: newReturnPath(), data: MAIL }), /^451 4\.3\.0/);
  client.close();
});

t.test('while nothing is taken', async (t) => {
  let reason: string | null = 'the disk is full';
  const { port } = await receive(t, { refusal: () => reason });
  const client = await SmtpClient.hello(port);
  t.match(await client.send({ from: '', to: newReturnPath(), data: MAIL }), /^452 4\.3\.1/);
  reason = null;
  t.match(await client.send({ from: '', to: newReturnPath(), data: MAIL }), /^250/);
  client.close();
});

t.test('one report at a time', async (t) => {
  const { port } = await receive(t);
  const client = await SmtpClient.hello(port);
  await client.ask('MAIL FROM:<>');
  const first = newReturnPath();
  t.match(await client.ask(`RCPT TO:<${first}>`), /^250/);
  t.match(await client.ask(`RCPT TO:<${newReturnPath()}>`), /^452 4\.5\.3/);
  t.match(await client.ask(`RCPT TO:<${first}>`), /^250/, 'the same one again');
  t.match(await client.ask(`RCPT TO:<fbl@${BOUNCES}>`), /^250/, 'a role beside it');
  client.close();
});

const SMUGGLED = 'MAIL FROM:<a@b.test>\r\nRCPT TO:<fbl@bounces.postrider.test>\r\nDATA\r\nsmuggled';

t.test('what is doubtful about line ends is refused', async (t) => {
  for (const [name, data] of Object.entries({
    'LF alone': 'Subject: x\n\r\n\r\nbody',
    'CR alone': 'Subject: x\r\n\r\nbo\rdy',
    'LF dot LF': `Subject: x\r\n\r\nbody\n.\n${SMUGGLED}`,
    'LF dot CRLF': `Subject: x\r\n\r\nbody\n.\r\n${SMUGGLED}`,
    'CRLF dot LF': `Subject: x\r\n\r\nbody\r\n.\n${SMUGGLED}`,
    'CR dot CRLF': `Subject: x\r\n\r\nbody\r.\r\n${SMUGGLED}`,
    'CRLF dot CR': `Subject: x\r\n\r\nbody\r\n.\r${SMUGGLED}`,
  })) {
    const outcomes: string[] = [];
    const { port, kept, refused } = await receive(t, { onReceived: (outcome) => void outcomes.push(outcome) });
    const client = await SmtpClient.hello(port);
    const to = newReturnPath();
    const reply = await client.send({ from: 'a@b.test', to, data: Buffer.from(data) });
    t.match(reply, /^554 5\.6\.11 Line \d+ of the mail has a bare CR or LF/, name);
    t.match(refused, [{ mailFrom: 'a@b.test', recipients: [to], sizeBytes: data.length + 2, reply }], 'it is noted');
    t.same(outcomes, ['bare_line_end']);
    t.match(await client.ask('NOOP'), /^250/, `${name}: and nothing of it was a command`);
    t.equal(kept.length, 0);
    client.close();
  }
});

t.test('a refusal that cannot be noted is one all the same', async (t) => {
  const { port } = await receive(t, {
    store: { inbound: { noteRefusedInbound: () => Promise.reject(new Error('disk')) } },
  });
  const client = await SmtpClient.hello(port);
  const data = Buffer.from('Subject: x\r\n\r\none\ntwo');
  t.match(await client.send({ from: '', to: newReturnPath(), data }), /^554 5\.6\.11 Line 3 /);
  t.match(await client.ask('NOOP'), /^250/);
  client.close();
});

t.test('a command that ends with LF alone ends the connection', async (t) => {
  for (const octets of ['NOOP\n', 'MAIL FROM:<>\nRCPT TO:<x@y.test>\r\n', 'NOOP\r\nNOOP\n']) {
    const { port } = await receive(t);
    const client = await SmtpClient.hello(port);
    client.write(octets);
    let reply = await client.reply();
    if (octets.startsWith('NOOP\r')) reply = reply.startsWith('250') ? await client.reply() : reply;
    t.match(reply, /^500 5\.5\.2/, JSON.stringify(octets));
    await client.ended();
  }
  const { port } = await receive(t);
  const client = await SmtpClient.hello(port);
  client.write('NOOP\r');
  client.write('\n');
  t.match(await client.reply(), /^250/, 'a CRLF in two packets is one');
  client.close();
});

const LINE = `${'x'.repeat(76)}\r\n`;

t.test('a mail that is too large is cut off', async (t) => {
  const unsubscribe = `${makeUnsubscribeAddress('019a9b70-4d10-7000-8b1e-5a2f7c9d3e10', KEY)}@${BOUNCES}`;
  const { port, kept, refused } = await receive(t);
  const { client: announcing } = await SmtpClient.open(port);
  await announcing.ask('EHLO client.test');
  t.match(await announcing.ask('MAIL FROM:<> SIZE=400001'), /^552/, 'announced');
  announcing.close();
  for (const [to, lines] of [
    [newReturnPath(), 5200],
    [unsubscribe, 1400],
    [`dmarc@${BOUNCES}`, 1400],
  ] as const) {
    const client = await SmtpClient.hello(port);
    await client.ask('MAIL FROM:<>');
    await client.ask(`RCPT TO:<${to}>`);
    await client.ask('DATA');
    client.write(LINE.repeat(lines));
    t.match(await client.reply(), /^552 5\.3\.4/, `${to}: before its end`);
    await client.ended();
  }
  t.equal(kept.length, 0);
  t.match(refused, [{ reply: /^552 5\.3\.4/ }, {}, {}]);
});

t.test('of a large report, the first part is kept', async (t) => {
  const outcomes: string[] = [];
  const { port, kept, refused } = await receive(t, { onReceived: (outcome) => void outcomes.push(outcome) });
  const client = await SmtpClient.hello(port);
  const to = newReturnPath();
  const data = `Subject: x\r\n\r\n${LINE.repeat(2000)}`;
  for (const parameter of ['', ` SIZE=${data.length}`]) {
    t.match(await client.ask(`MAIL FROM:<>${parameter}`), /^250/);
    t.match(await client.ask(`RCPT TO:<${to}>`), /^250/);
    await client.ask('DATA');
    // What comes behind the cut is not checked.
    client.write(`${data}one\ntwo\r\n.\r\n`);
    t.match(await client.reply(), /^250 2\.0\.0 Ok: kept as /, `MAIL FROM:<>${parameter}`);
    const { content } = kept.at(-1)!;
    t.equal(content.toString(), data.slice(0, content.length));
    t.ok(content.toString().endsWith('\r\n'), 'whole lines');
    t.ok(content.length > 100_000 - LINE.length && content.length <= 100_000, `${content.length} bytes`);
  }
  t.match(await client.send({ from: '', to, data: MAIL }), /^250/, 'the session goes on');
  const exact = `Subject: x\r\n\r\n${'y'.repeat(99_984)}`;
  t.match(await client.send({ from: '', to, data: exact }), /^250/);
  t.equal(kept.at(-1)!.content.length, 100_000, 'the largest that is kept in full');
  t.same(outcomes, ['cut', 'cut', 'kept', 'kept']);

  const bare = Buffer.from(`Subject: x\r\n\r\none\ntwo\r\n${LINE.repeat(2000)}`);
  t.match(await client.send({ from: '', to, data: bare }), /^554 5\.6\.11 Line 3 /, 'a bare line end in what is kept');
  t.equal(refused.length, 1);

  const oneLine = 'x'.repeat(150_000);
  t.match(await client.send({ from: '', to, data: oneLine }), /^250/);
  t.equal(kept.at(-1)!.content.length, 0, 'there is no whole line');
});

t.test('a large mail to a return path and another address is refused', async (t) => {
  const { port, kept, refused } = await receive(t);
  const client = await SmtpClient.hello(port);
  const [path, role] = [newReturnPath(), `postmaster@${BOUNCES}`];
  t.match(await client.ask('MAIL FROM:<> SIZE=200000'), /^250/);
  t.match(await client.ask(`RCPT TO:<${path}>`), /^250/);
  for (const other of [role, `dmarc@${BOUNCES}`]) {
    t.match(await client.ask(`RCPT TO:<${other}>`), /^552 5\.3\.4/, `${other}: announced`);
  }
  await client.ask('DATA');
  client.write(`Subject: x\r\n\r\n${LINE.repeat(2000)}.\r\n`);
  t.match(await client.reply(), /^250/, 'the return path alone is left');
  t.equal(kept.length, 1);

  await client.ask('MAIL FROM:<>');
  for (const to of [path, role]) t.match(await client.ask(`RCPT TO:<${to}>`), /^250/);
  await client.ask('DATA');
  client.write(`Subject: x\r\n\r\n${LINE.repeat(900)}.\r\n`);
  t.match(await client.reply(), /^552 5\.3\.4 A mail to postmaster/);
  t.match(refused, [{ recipients: [path, role] }]);
  t.equal(kept.length, 1);
});

t.test('a mail to the address for DMARC reports has a limit of its own', async (t) => {
  const MIB = 1024 * 1024;
  const limits = { ...LIMITS, maxBytes: 16 * MIB, maxReadBytes: 66 * MIB };
  const rcpt = async (bytes: number, maxRoleBytes: number, ...to: string[]) => {
    const { port } = await receive(t, { limits: { ...limits, maxRoleBytes } });
    const client = await SmtpClient.hello(port);
    await client.ask(`MAIL FROM:<a@b.test> SIZE=${bytes}`);
    let reply = '';
    for (const one of to) reply = await client.ask(`RCPT TO:<${one}@${BOUNCES}>`);
    client.close();
    return reply;
  };
  t.match(await rcpt(10 * MIB, MIB, 'dmarc'), /^250/);
  t.match(await rcpt(10 * MIB + 1, MIB, 'dmarc'), /^552 5\.3\.4 A mail with a DMARC report is limited to 10485760/);
  t.match(await rcpt(MIB + 1, MIB, 'dmarc', 'fbl'), /^552 5\.3\.4 A mail to postmaster/, 'with a role');
  t.match(await rcpt(12 * MIB, 12 * MIB, 'dmarc'), /^250/, 'never smaller than that of roles');
  t.match(await rcpt(16 * MIB + 1, 100 * MIB, 'dmarc'), /^552 5\.3\.4 A mail is/, 'or larger than that of all mail');
});

t.test('a mail to a role that is too large is refused for good', async (t) => {
  const { port, kept, refused } = await receive(t);
  const client = await SmtpClient.hello(port);
  const role = `postmaster@${BOUNCES}`;
  t.match(await client.ask('MAIL FROM:<a@b.test> SIZE=50001'), /^250/);
  t.match(await client.ask(`RCPT TO:<${newReturnPath()}>`), /^250/, 'as large as a bounce may be');
  t.match(await client.ask(`RCPT TO:<${role}>`), /^552 5\.3\.4 A mail to postmaster/, 'announced');
  await client.ask('RSET');
  t.match(await client.ask('MAIL FROM:<a@b.test> SIZE=50000'), /^250/);
  t.match(await client.ask(`RCPT TO:<${role}>`), /^250/);
  await client.ask('RSET');

  const data = `Subject: x\r\n\r\n${LINE.repeat(900)}`;
  t.match(await client.send({ from: 'a@b.test', to: role, data }), /^552 5\.3\.4/, 'behind its final dot');
  t.match(refused, [{ recipients: [role], sizeBytes: data.length + 2, reply: /^552 5\.3\.4/ }]);
  t.match(await client.send({ from: 'a@b.test', to: role, data: MAIL }), /^250/, 'the session goes on');

  await client.ask('MAIL FROM:<a@b.test>');
  await client.ask(`RCPT TO:<${role}>`);
  await client.ask('DATA');
  client.write(LINE.repeat(1400));
  t.match(await client.reply(), /^552 5\.3\.4/, 'beyond what any mail may have it is cut off');
  await client.ended();
  t.equal(kept.length, 1);
});

t.test('what is dropped holds no room', async (t) => {
  for (const [isCut, outcome] of [
    [false, { kind: 'refused', why: 'too_large', sizeBytes: 5000, hangUp: false }],
    [true, { kind: 'mail', sizeBytes: 5000 }],
  ] as const) {
    const room = new ReceptionMemory(1000);
    const chunks = Readable.from(Array.from({ length: 50 }, () => Buffer.from(`${'x'.repeat(98)}\r\n`)));
    let held = 0;
    const received = await room.hold('192.0.2.1', (take) => {
      const reply = { code: 552, text: '5.3.4 too large' };
      const counted = (octets: number) => {
        held += octets;
        return take(octets);
      };
      return receiveData(chunks as never, { maxBytes: 550, maxReadBytes: 10_000, isCut, reply, take: counted });
    });
    t.match(received, outcome);
    if (received.kind === 'mail') t.equal(received.content.length, 500);
    t.equal(held, isCut ? 550 : 0);
    t.notOk(room.isFull('192.0.2.1'));
  }
});

t.test('one network has a share of the memory for mails that arrive', async (t) => {
  const memory = new ReceptionMemory(1000, 250);
  const release = Promise.withResolvers<void>();
  const taken = (ip: string, octets: number) => {
    const took = Promise.withResolvers<boolean>();
    const over = memory.hold(ip, async (take) => {
      took.resolve(take(octets));
      await release.promise;
    });
    return { took: took.promise, over };
  };
  const one = [taken('2001:db8::1', 200), taken('2001:db8::2', 100)];
  t.same(await Promise.all(one.map(({ took }) => took)), [true, false], 'all addresses of a /64 are one network');
  t.ok(memory.isFull('2001:db8::3'));
  t.notOk(memory.isFull('192.0.2.1'));
  const others = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip) => taken(ip, 240));
  t.same(await Promise.all(others.map(({ took }) => took)), [true, true, false], 'and there is a limit for all');
  t.ok(memory.isFull('192.0.2.4'));
  release.resolve();
  await Promise.all([...one, ...others].map(({ over }) => over));
  t.notOk(memory.isFull('2001:db8::3'), 'all is released');
});

t.test('a mail that arrives too slowly is cut off, however steadily it comes', async (t) => {
  const { port, kept } = await receive(t, { timeouts: { dataMs: patience(300) } });
  const [slow, quick] = [await SmtpClient.hello(port), await SmtpClient.hello(port)];
  for (const command of ['MAIL FROM:<>', `RCPT TO:<${newReturnPath()}>`, 'DATA']) await slow.ask(command);
  const steadily = setInterval(() => slow.write('x\r\n'), 20);
  t.teardown(() => clearInterval(steadily));
  t.match(await slow.reply(), /^421 4\.4\.2/);
  t.match(await quick.send({ from: '', to: newReturnPath(), data: MAIL }), /^250/, 'its session is as old');
  t.equal(kept.length, 1);
  quick.close();
});

t.test('while too much waits, mail of no message is put off, and reports are not', async (t) => {
  const { port } = await receive(t, { isBehind: () => true });
  const client = await SmtpClient.hello(port);
  for (const [recipient, reply] of [
    [`postmaster@${BOUNCES}`, /^452 4\.3\.1/],
    [`reports@${BOUNCES}`, /^452 4\.3\.1/],
    [newReturnPath(), /^250/],
    [`unknown@${BOUNCES}`, /^550/],
  ] as const) {
    await client.ask('MAIL FROM:<a@b.test>');
    t.match(await client.ask(`RCPT TO:<${recipient}>`), reply, recipient);
    await client.ask('RSET');
  }
  client.close();
});

t.test('a mail that breaks off is not there', async (t) => {
  const { port, kept } = await receive(t);
  const client = await SmtpClient.hello(port);
  await client.ask('MAIL FROM:<>');
  await client.ask(`RCPT TO:<${newReturnPath()}>`);
  await client.ask('DATA');
  client.write('Subject: x\r\n\r\nhalf');
  client.close();
  const next = await SmtpClient.hello(port);
  t.match(await next.send({ from: '', to: newReturnPath(), data: MAIL }), /^250/);
  t.equal(kept.length, 1);
  next.close();
});

t.test('limits of one peer', async (t) => {
  await t.test('connections at once', async (t) => {
    const { port } = await receive(t, { limits: { ...LIMITS, connectionsPerPeer: 2 } });
    const [one, two] = [await SmtpClient.hello(port), await SmtpClient.hello(port)];
    const { client: third, greeting } = await SmtpClient.open(port);
    t.match(greeting, /^421 4\.7\.0/);
    const { client: other, greeting: welcome } = await SmtpClient.open(port, '127.0.0.2');
    t.match(welcome, /^220/, 'another peer is welcome');
    await one.ask('QUIT');
    await one.ended();
    for (const client of [one, two, third, other]) client.close();
  });
  await t.test('connections in all', async (t) => {
    const { port } = await receive(t, { limits: { ...LIMITS, connections: 1 } });
    const one = await SmtpClient.hello(port);
    const { client, greeting } = await SmtpClient.open(port, '127.0.0.2');
    t.match(greeting, /^421/);
    one.close();
    client.close();
  });
  await t.test('mails in a minute', async (t) => {
    const { port } = await receive(t, { limits: { ...LIMITS, mailsPerMinute: 2 } });
    const client = await SmtpClient.hello(port);
    for (let count = 0; count < 2; count++) {
      t.match(await client.send({ from: '', to: newReturnPath(), data: MAIL }), /^250/);
    }
    t.match(await client.send({ from: '', to: newReturnPath(), data: MAIL }), /^450 4\.7\.0/);
    client.close();
  });
  await t.test('refused recipients', async (t) => {
    const { port } = await receive(t, { limits: { ...LIMITS, refusalsPerMinute: 3 } });
    const client = await SmtpClient.hello(port);
    await client.ask('MAIL FROM:<>');
    t.match(await client.ask(`RCPT TO:<a@${BOUNCES}>`), /^550/);
    t.match(await client.ask(`RCPT TO:<b@${BOUNCES}>`), /^550/);
    t.match(await client.ask(`RCPT TO:<c@${BOUNCES}>`), /^421 4\.7\.0/);
    await client.ended();
    const { client: again, greeting } = await SmtpClient.open(port);
    t.match(greeting, /^421/, 'and it is not welcome for a while');
    again.close();
  });
});

t.test('of commands that come together, those are answered that can be', async (t) => {
  const looked = Promise.withResolvers<null>();
  const { port } = await receive(t, {
    store: { inbound: { keepInbound: async () => 'kept' as const, findReported: () => looked.promise } },
  });
  const client = await SmtpClient.hello(port);
  const elsewhere = newReturnPath().replace(BOUNCES, 'bounces.sender.test');
  client.write(`MAIL FROM:<>\r\nRCPT TO:<${newReturnPath()}>\r\nRCPT TO:<${elsewhere}>\r\n`);
  for (const code of ['250', '250']) t.equal((await client.reply()).slice(0, 3), code);
  looked.resolve(null);
  t.match(await client.reply(), /^550/);
  client.close();
});

t.test('STARTTLS behind other commands, in one piece and in two', async (t) => {
  const { port } = await receive(t, { tls: writePair(t, FIRST_PAIR) });
  for (const pieces of [['NOOP\r\nRSET\r\nSTARTTLS\r\n'], ['RSET\r\nRSET\r\nSTART', 'TLS\r\n']]) {
    const client = await SmtpClient.hello(port);
    for (const piece of pieces) client.write(piece);
    for (const code of ['250', '250', '220']) t.equal((await client.reply()).slice(0, 3), code);
    await client.secure({ rejectUnauthorized: false });
    t.match(await client.ask('EHLO client.test'), /PIPELINING/);
    client.close();
  }
});

t.test('STARTTLS, with a certificate that is renewed while it runs', async (t) => {
  const files = writePair(t, FIRST_PAIR);
  const { port, kept } = await receive(t, { tls: files, tlsCheckMs: 20 });
  const subjectSeen = async () => {
    const client = await SmtpClient.hello(port);
    const secure = await client.startTls({ rejectUnauthorized: false });
    const subject = secure.getPeerCertificate().subject.CN;
    t.notMatch(await client.ask('EHLO client.test'), /STARTTLS/);
    return { client, subject };
  };
  const first = await subjectSeen();
  t.equal(first.subject, FIRST_PAIR.name);
  t.match(await first.client.send({ from: '', to: newReturnPath(), data: MAIL }), /^250/);
  t.equal(kept[0]!.tls, 'TLSv1.3');
  first.client.write('NOOP\n');
  t.match(await first.client.reply(), /^500 5\.5\.2/, 'LF alone is refused under TLS, too');
  writeFileSync(files.certFile, SECOND_PAIR.cert);
  writeFileSync(files.keyFile, SECOND_PAIR.key);
  const renewed = await until('the new certificate is in use', async () => {
    const { client, subject } = await subjectSeen();
    client.close();
    return subject === SECOND_PAIR.name;
  });
  t.ok(renewed);
});

t.test('commands that were sent ahead of the TLS handshake are forgotten', async (t) => {
  const { port } = await receive(t, { tls: writePair(t, FIRST_PAIR) });
  const client = await SmtpClient.hello(port);
  client.write('STARTTLS\r\nEHLO injected.test\r\nMAIL FROM:<a@b.test>\r\n');
  t.match(await client.reply(), /^220/);
  await client.secure({ rejectUnauthorized: false });
  t.match(await client.ask('NOOP'), /^250/, 'the first answer is to the first command under TLS');
  t.match(await client.ask(`RCPT TO:<${newReturnPath()}>`), /^503/);
  client.close();
});

t.test('a session ends', async (t) => {
  await t.test('when nobody speaks', async (t) => {
    const { port } = await receive(t, { timeouts: { idleMs: patience(150) } });
    const client = await SmtpClient.hello(port);
    t.match(await client.reply(), /^421/);
    await client.ended();
  });
  await t.test('when it has lasted long enough', async (t) => {
    const { port } = await receive(t, { timeouts: { sessionMs: patience(300) } });
    const client = await SmtpClient.hello(port);
    t.match(await client.reply(), /^421 4\.4\.2/);
    await client.ended();
  });
});

t.test('SMTPUTF8: an address beyond ASCII as the sender', async (t) => {
  const { port, kept } = await receive(t);
  const client = await SmtpClient.hello(port);
  t.match(await client.ask('MAIL FROM:<jö@exämple.test> SMTPUTF8'), /^250/);
  t.match(await client.ask(`RCPT TO:<${newReturnPath()}>`), /^250/);
  await client.ask('DATA');
  client.write(`${MAIL}\r\n.\r\n`);
  t.match(await client.reply(), /^250/);
  t.equal(kept[0]!.mailFrom, 'jö@exämple.test');
  client.close();
});

/** A listener that is storing a mail, and the client that waits for the reply. */
async function storing(t: Test, change: Pick<Parameters<typeof receive>[1] & {}, 'timeouts' | 'graceMs'>) {
  const stored = Promise.withResolvers<'kept'>();
  const begun = Promise.withResolvers<void>();
  const keepInbound = () => {
    begun.resolve();
    return stored.promise;
  };
  const reception = await receive(t, { store: { inbound: { keepInbound } }, ...change });
  const client = await SmtpClient.hello(reception.port);
  const reply = client.send({ from: '', to: newReturnPath(), data: MAIL });
  await begun.promise;
  return { reception, client, reply, store: () => stored.resolve('kept') };
}

t.test('closing answers mail that is being stored, and ends all other sessions', async (t) => {
  const { reception, client, reply, store } = await storing(t, { timeouts: { closeMs: 1 } });
  const [idle, writing] = [await SmtpClient.hello(reception.port), await SmtpClient.hello(reception.port)];
  for (const command of ['MAIL FROM:<>', `RCPT TO:<${newReturnPath()}>`, 'DATA']) await writing.ask(command);
  writing.write('Subject: half');
  const closed = reception.close();
  t.match(await idle.reply(), /^421 4\.3\.2/);
  t.match(await writing.reply(), /^421 4\.3\.2/, 'a mail that is not whole can be sent again');
  store();
  t.match(await reply, /^250 2\.0\.0 Ok: kept as/);
  t.match(await client.reply(), /^421 4\.3\.2/);
  await closed;
});

t.test('closing waits for a mail that is being stored as long as a stop may take', async (t) => {
  const { reception, reply, store } = await storing(t, { graceMs: 10 });
  await reception.close();
  t.match(await reply, /^421 4\.3\.2/);
  store();
});

t.test('no mail is answered 421 while it is stored, although the time of its session is up', async (t) => {
  const { reception, client, reply, store } = await storing(t, { timeouts: { sessionMs: patience(500) } });
  const later = await SmtpClient.hello(reception.port);
  t.match(await later.reply(), /^421 4\.4\.2/, 'the time of the later session is up');
  store();
  t.match(await reply, /^250/);
  t.match(await client.reply(), /^421 4\.4\.2/);
});

function writePair(t: Test, pair: TestOnlyPair): { certFile: string; keyFile: string } {
  const folder = testFolder(t, { 'smtp.crt': pair.cert, 'smtp.key': pair.key });
  return { certFile: path.join(folder, 'smtp.crt'), keyFile: path.join(folder, 'smtp.key') };
}
