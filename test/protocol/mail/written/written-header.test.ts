// The header of a written mail: what is read out of it, what leaves, and what is refused with which sentence.
import t from 'tap';
import { readWrittenHeader, type WrittenHeader } from '../../../../src/protocol/mail/written/written-header.ts';

const ADDED = {
  date: new Date('2026-11-26T10:00:00Z'),
  id: '01931f00-0000-7000-8000-000000000001',
};
const FROM = 'From: Jo <jo@acme.example>';

/** Of whole lines; the empty one at the end is added. */
function read(...lines: string[]): WrittenHeader {
  const result = readWrittenHeader(octets(lines), ADDED);
  if ('problem' in result) throw new Error(result.problem);
  return result;
}

function problemOf(...lines: string[]): string | null {
  const result = readWrittenHeader(octets(lines), ADDED);
  return 'problem' in result ? result.problem : null;
}

function octets(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

t.test('a usual header', async (t) => {
  const header = read(
    'Date: Thu, 26 Nov 2026 09:00:00 +0000',
    FROM,
    'To: ann@example.com',
    'Message-ID: <1@acme.example>',
    'MIME-Version: 1.0',
    'Subject: =?utf-8?Q?Gr=C3=B6=C3=9Fe?=',
    ' =?utf-8?B?8J+Ygg==?= of it',
  );
  t.strictSame(header.from, { address: 'jo@acme.example', name: 'Jo', domain: 'acme.example' });
  t.equal(header.subject, 'Größe😂 of it');
  t.equal(header.messageId, '1@acme.example');
  t.equal(header.lines, 8);
  t.strictSame(header.control, { idempotencyKey: null, tags: null, metadata: null, sendAt: null, tracking: {} });
});

t.test('what the header itself must not be', async (t) => {
  const raw = (text: string | Buffer) => {
    const result = readWrittenHeader(Buffer.from(text as string, 'latin1'), ADDED);
    return 'problem' in result ? result.problem : null;
  };
  const end = '\r\n\r\n';
  t.equal(raw(`${FROM}\r\n`), 'The header has no empty line at its end.');
  t.equal(raw(`${FROM}\r\nX: a\0b${end}`), 'The header contains a NUL.');
  for (const text of [`${FROM}\r\nX: a\rb${end}`, `${FROM}\nX: a${end}`, `${FROM}\r\nX: a\r\r\n${end}`]) {
    t.equal(raw(text), 'The header contains a CR or LF that is not part of a CRLF.');
  }
  const noField = (line: number) => `Line ${line} is not a header field; an empty line must follow the header.`;
  t.equal(raw(`${FROM}\r\nhello${end}`), noField(2));
  t.equal(raw(` ${FROM}${end}`), noField(1));
  t.equal(raw(`From jo@acme.example Thu Nov 26 10:00:00 2026\r\n${FROM}${end}`), noField(1), 'of a mailbox file');
  t.equal(raw(`${FROM}\r\n: x${end}`), noField(2));
  t.equal(raw(`${FROM}\r\nÜ: x${end}`), noField(2));
  t.equal(raw(`${FROM}${end}To: ann@example.com${end}`), noField(2), 'no second header');
  t.equal(raw('\r\n'), 'The header has no empty line at its end.');
  t.equal(raw(end), noField(1));
  t.equal(raw(`${FROM}\r\nX: ${'x'.repeat(995)}${end}`), null);
  t.equal(raw(`${FROM}\r\nX: ${'x'.repeat(996)}${end}`), 'Line 2 is longer than 998 bytes.');
  t.equal(
    raw(`${FROM}\r\nSubject: Gr\xf6\xdfe${end}`),
    'Subject: This header is not valid UTF-8; encode it as in RFC 2047.',
  );
  t.equal(raw(`${FROM}\r\nSubject : Hello${end}`), null, 'obsolete white space before the colon');
});

t.test('fields that may occur once', async (t) => {
  t.equal(problemOf('To: ann@example.com'), 'From: This header is missing.');
  t.equal(problemOf(FROM, 'from : Ann <ann@acme.example>'), 'from: This header is given twice.');
  for (const name of ['Subject', 'Date', 'To', 'Cc', 'Reply-To', 'Message-ID', 'Sender']) {
    t.equal(
      problemOf(FROM, `${name}: <a@b.example>`, 'X: y', `${name.toLowerCase()}: <a@b.example>`),
      `${name.toLowerCase()}: This header is given twice.`,
    );
  }
  t.equal(
    problemOf(FROM, 'Received: a', 'Received: b', 'X: 1', 'X: 2', 'DKIM-Signature: a', 'DKIM-Signature: b'),
    null,
  );
});

const NOT_ONE =
  'From: must be exactly one mailbox, like "Jo, Acme" <jo@example.com>; special characters in a name need quotes.';

t.test('From is exactly one mailbox', async (t) => {
  const from = (value: string) => read(`From: ${value}`).from;
  const same = (value: string, address: string, name: string | null) => {
    const { domain: _, ...found } = from(value);
    t.strictSame(found, { address, name }, value);
  };
  same('jo@acme.example', 'jo@acme.example', null);
  same('<jo@acme.example>', 'jo@acme.example', null);
  same('Jo Smith <jo@acme.example>', 'jo@acme.example', 'Jo Smith');
  same('"Smith, Jo: \\"<CEO>\\" @work" <jo@acme.example>', 'jo@acme.example', 'Smith, Jo: "<CEO>" @work');
  same('J. Smith (of (the) \\) shop) <jo@acme.example> (away)', 'jo@acme.example', 'J. Smith');
  same('jo@acme.example (Jo Smith)', 'jo@acme.example', 'Jo Smith');
  same('=?utf-8?Q?J=C3=B6?= =?iso-8859-1?Q?_=A9?= <jo@acme.example>', 'jo@acme.example', 'Jö ©');
  same('Jö <jö@acme.example>', 'jö@acme.example', 'Jö');
  same('"jo smith"@acme.example', '"jo smith"@acme.example', null);
  same('Jo <"jo > smith"@acme.example>', '"jo > smith"@acme.example', 'Jo');
  same('jo@acme.example <JO@acme.example>', 'JO@acme.example', null);
  same('Jo\r\n\t<jo@acme.example>', 'jo@acme.example', 'Jo');
  same('Jo < jo@acme.example >', 'jo@acme.example', 'Jo');
  same(`${'ö'.repeat(400)} <jo@acme.example>`, 'jo@acme.example', 'ö'.repeat(400));
  t.strictSame(from('Jo <jo@BÜCHER.example>'), {
    address: 'jo@BÜCHER.example',
    name: 'Jo',
    domain: 'xn--bcher-kva.example',
  });

  for (const value of [
    'jo@acme.example, ann@acme.example',
    'Smith, Jo <jo@acme.example>',
    'Jo <jo@acme.example>, Ann <ann@acme.example>',
    'Jo <jo@acme.example> <ann@acme.example>',
    'Jo <jo@acme.example> Ann',
    'ceo@bank.example <jo@acme.example>',
    'All: jo@acme.example;',
    'Jo: <jo@acme.example>',
    '"Jo <jo@acme.example>',
    'Jo <jo@acme.example',
    'Jo (away <jo@acme.example>',
    'Jo) <jo@acme.example>',
    'Jo <@relay.example,@other.example:jo@acme.example> ;',
  ]) {
    t.equal(problemOf(`From: ${value}`), NOT_ONE, value);
  }
  t.equal(problemOf('From:'), 'From: The address is empty.');
  t.equal(problemOf('From: Jo <>'), 'From: The address is empty.');
  t.equal(problemOf('From: Jo'), 'From: The address has no @.');
  t.match(problemOf('From: jo@(x)acme.example'), /^From: /, 'no comment within an address');
  t.match(problemOf('From: jo @acme.example'), /^From: The part before the @/);
  t.match(problemOf('From: jo@[192.0.2.1]'), /^From: Addresses with an IP address/);
  t.match(problemOf('From: jo@[x]'), /^From: The address literal is neither \[IPv4\] nor \[IPv6:\.\.\.\]\.$/);
  t.match(problemOf('From: jo@localhost'), /^From: The domain must have at least two labels/);
  t.match(problemOf(`From: ${`${'x'.repeat(900)}\r\n `.repeat(20)} <jo@acme.example>`), /^From: must have at most/);
});

t.test('what leaves', async (t) => {
  const leaving = (...lines: string[]) =>
    read(...lines)
      .leaving.toString()
      .split('\r\n');
  const complete = ['Date: x', FROM, 'Message-ID: <1@acme.example>', 'MIME-Version: 1.0'];
  t.strictSame(leaving(...complete), [...complete, ''], 'as it came, without its empty line');

  const odd = ['dAtE  :  x ', 'Received: a', '\tb', ' \t', 'received:c', FROM, 'Subject:', 'X-Ü: ö'.replace('Ü', 'U')];
  const added = [`Message-ID: <${ADDED.id}@acme.example>`, 'MIME-Version: 1.0'];
  t.strictSame(leaving(...odd), [...added, ...odd, ''], 'octets, order and folding stay');
  t.equal(read(...odd).messageId, `${ADDED.id}@acme.example`);
  t.strictSame(
    leaving('From: jo@BÜCHER.example'),
    [
      'Date: Thu, 26 Nov 2026 10:00:00 +0000',
      `Message-ID: <${ADDED.id}@xn--bcher-kva.example>`,
      'MIME-Version: 1.0',
      'From: jo@BÜCHER.example',
      '',
    ],
    'all that is missing',
  );

  const removed = [
    'Bcc: ann@example.com,',
    ' bob@example.com',
    'bcc :',
    'Resent-Bcc: ann@example.com',
    'Return-Path: <x@acme.example>',
    'X-Postrider-Tracking: off',
    'X-POSTRIDER-Message-ID: x',
    'X-Postrider-Forwarded: x',
    'Feedback-ID: a:b:c',
    'CFBL-Address: fbl@acme.example',
    'CFBL-Feedback-ID: 1',
    'Authentication-Results: mx.example; spf=pass',
    'Idempotency-Key: 1',
    'Resend-Idempotency-Key: 1',
  ];
  const stay = [
    'DKIM-Signature: v=1',
    'ARC-Authentication-Results: i=1',
    'X-Postrider: x',
    'X-Bcc: x',
    'List-Unsubscribe: <https://acme.example/u>',
  ];
  t.strictSame(leaving(...removed.slice(0, 4), ...complete, ...removed, ...stay), [...complete, ...stay, '']);
});

t.test('the Message-ID', async (t) => {
  const idOf = (value: string) => read(FROM, `Message-ID:${value}`).messageId;
  t.equal(idOf(' <1.2+3@[192.0.2.1]>'), '1.2+3@[192.0.2.1]');
  t.equal(idOf('\r\n\t<abc> '), 'abc', 'without a domain it is one, too');
  for (const value of ['', ' ', ' 1@acme.example', ' <>', ' <1@acme.example> <2@acme.example>', ' <1 @acme.example>']) {
    t.equal(
      problemOf(FROM, `Message-ID:${value}`),
      'Message-ID: must be one ID in angle brackets, like <1234@example.com>.',
      value,
    );
  }
});

t.test('the subject is one line of bounded length', async (t) => {
  const subjectOf = (...lines: string[]) => read(FROM, ...lines).subject;
  t.equal(subjectOf(), '');
  t.equal(subjectOf('Subject:'), '');
  t.equal(subjectOf('Subject: Grüße\t\x07\x7f =?utf-8?B?YQpi?='), 'Grüße    a b');
  t.equal(subjectOf('Subject: =?utf-8?Q?=ED=A0=80?='), 'í\u00a0€', 'invalid UTF-8 is read as something');
  t.equal(subjectOf(`Subject: ${'x'.repeat(900)}`, ` ${'y'.repeat(900)}`).length, 998);
  const faces = Array.from({ length: 60 }, () => ` =?utf-8?B?${Buffer.from('😀'.repeat(10)).toString('base64')}?=`);
  const single = Array.from({ length: 1100 }, () => ` =?utf-8?B?${Buffer.from('漢').toString('base64')}?=`);
  t.equal(subjectOf('Subject:', ...single), '漢'.repeat(998), 'every character in a word of its own');
  t.equal(subjectOf('Subject: ab', ...faces), `ab ${'😀'.repeat(497)}`, 'no half of a character');
});
