// What the inbound parser finds in mails that other parts of the project write, and what it makes
// of input that is no mail, is huge, or is made to hurt: always an answer, and soon.
import t from 'tap';
import { explainMail } from '../../../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../../../src/classify/load-rules.ts';
import { readInboundMail } from '../../../../src/protocol/mail/inbound/read-inbound-mail.ts';
import { composeArf } from '../../../../src/protocol/mail/reports/arf.ts';
import { composeDsn } from '../../../../src/protocol/mail/reports/dsn.ts';
import { postfixBounceOf } from '../../../support/bounce-mail.ts';
import { ProcessorTime } from '../../../support/patience.ts';

const ORIGINAL = [
  'Return-Path: <babcdef@bounces.acme.test>',
  'Received: from x',
  'From: App <app@acme.test>',
  'To: ann@rcpt.test',
  'Message-ID: <1234@acme.test>',
  'CFBL-Feedback-ID: 0197:abc',
  'CFBL-Address: fbl@bounces.acme.test',
  'Subject: Hi',
  '',
  'Hello',
  '',
].join('\r\n');
const DATE = new Date('2026-11-22T10:00:00Z');
const HEAD = 'From: MAILER-DAEMON@x.test\nSubject: Undelivered Mail\n';

function dsn(action: 'failed' | 'delayed', finalRecipient = 'ann@rcpt.test'): Buffer {
  return composeDsn({
    reportingMta: 'mx.rcpt.test',
    from: 'MAILER-DAEMON@mx.rcpt.test',
    to: 'babcdef@bounces.acme.test',
    finalRecipient,
    action,
    status: action === 'failed' ? '5.1.1' : '4.4.1',
    diagnostic: action === 'failed' ? '550 5.1.1 No such user' : '451 4.4.1 later',
    remoteMta: 'mx2.rcpt.test',
    originalHeaders: Buffer.from(ORIGINAL.split('\r\n\r\n')[0]!),
    date: DATE,
  });
}

t.test('a report of ours', async (t) => {
  t.match(readInboundMail(dsn('failed')), {
    kind: 'report',
    reportingMta: 'mx.rcpt.test',
    recipients: [
      {
        address: 'ann@rcpt.test',
        action: 'failed',
        status: '5.1.1',
        remoteMta: 'mx2.rcpt.test',
        diagnostics: ['550 5.1.1 No such user'],
      },
    ],
    original: {
      messageId: '1234@acme.test',
      returnPaths: ['babcdef@bounces.acme.test'],
      feedbackIds: ['0197:abc'],
      to: ['ann@rcpt.test'],
      content: null,
    },
  });
  t.match(readInboundMail(dsn('delayed')), { kind: 'report', recipients: [{ action: 'delayed', status: '4.4.1' }] });
});

t.test('an address that is not ASCII (RFC 6533)', async (t) => {
  t.match(readInboundMail(dsn('failed', 'änn@rcpt.test')), { recipients: [{ address: 'änn@rcpt.test' }] });
});

t.test('a complaint of ours, with the whole message', async (t) => {
  for (const feedbackType of ['abuse', 'not-spam', 'opt-out', 'fraud', 'virus']) {
    const complaint = readInboundMail(
      composeArf({
        feedbackType,
        from: 'fbl@rcpt.test',
        to: 'fbl@bounces.acme.test',
        originalMessage: Buffer.from(ORIGINAL),
        sourceIp: '192.0.2.1',
        arrivalDate: DATE,
        reportedDomain: 'acme.test',
        originalRcptTo: 'ann@rcpt.test',
        reportingMta: 'mx.rcpt.test',
        date: DATE,
      }),
    );
    t.match(complaint, {
      kind: 'complaint',
      feedbackType,
      recipients: ['ann@rcpt.test'],
      reportedDomain: 'acme.test',
      sourceIp: '192.0.2.1',
      reportingMta: 'mx.rcpt.test',
      original: { returnPaths: ['babcdef@bounces.acme.test'], feedbackIds: ['0197:abc'] },
    });
    // Octet for octet, or no signature would verify.
    if (complaint.kind === 'complaint') t.equal(complaint.original?.content?.toString('latin1'), ORIGINAL);
  }
});

t.test('words of a complaint in a delivery report are no complaint', async (t) => {
  const report = dsn('failed').toString('latin1');
  const subject = report.replace(/^Subject: .*$/m, 'Subject: Undeliverable: Complaint about message from Acme');
  const reply = report.replaceAll('550 5.1.1 No such user', '550 5.7.1 The user has marked your address as spam');
  const withoutFields = reply.replace(/^--.*\r\nContent-Type: message\/delivery-status[\s\S]*?(?=^--)/m, '');
  const noReport = withoutFields.replace(/multipart\/report;\s+report-type=delivery-status/, 'multipart/mixed');
  for (const [name, mail] of Object.entries({ subject, reply, withoutFields, noReport })) {
    t.not(mail, report, name);
    t.match(readInboundMail(Buffer.from(mail, 'latin1')), { kind: 'report', recipients: [{ action: 'failed' }] }, name);
  }
});

t.test('words beside an original are a complaint, but not those of a refusal', async (t) => {
  const read = (from: string, text: string) => {
    const parts = `--b\n\n${text}\n--b\nContent-Type: message/rfc822\n\n${ORIGINAL}\n--b--\n`;
    const mail = `From: ${from}\nSubject: Notice\nContent-Type: multipart/mixed; boundary=b\n\n${parts}`;
    return readInboundMail(Buffer.from(mail));
  };
  for (const from of ['fbl@rcpt.test', 'Spam filter <postmaster@rcpt.test>', 'MAILER-DAEMON@rcpt.test']) {
    for (const text of [
      'This is an automated spam filter notification. Your message to ann@rcpt.test was blocked and not delivered.',
      'This is an automatic spam report. Your message could not be delivered to <ann@rcpt.test>.',
      'This is an automatic spam report. <ann@rcpt.test>: 550 5.7.1 spam',
      'This is an automatic spam report about a delivery to <ann@rcpt.test>. The reply was\n550 spam found.',
      '<ann@rcpt.test>: 550 5.7.1 The user ann@rcpt.test has marked your address as spam',
      'This is an automated authentication failure notification. Your mail to ann@rcpt.test was therefore rejected.',
    ]) {
      t.not(read(from, text).kind, 'complaint', `${from}: ${text}`);
    }
  }
  const abuse =
    'This is an email abuse report for an email message with the message-id of 4711@acme.test received from IP address 192.0.2.7 on 28 Nov 2026 10:00:00.';
  const marked =
    'This is a spam report. The user ann@rcpt.test has marked your message as spam. Your address may be blocked.';
  const failure = 'This is an authentication failure report for an email message received from IP 192.0.2.7.';
  for (const [text, feedbackType] of [
    [abuse, 'abuse'],
    [marked, 'abuse'],
    [failure, 'auth-failure'],
    [`${failure}\n\nFeedback-Type: fraud`, 'fraud'],
  ] as const) {
    for (const from of ['fbl@rcpt.test', 'postmaster@rcpt.test']) {
      t.match(read(from, text), { kind: 'complaint', feedbackType, recipients: ['ann@rcpt.test'] }, `${from}: ${text}`);
    }
    t.not(read('MAILER-DAEMON@rcpt.test', text).kind, 'complaint', 'no mailer daemon complains');
  }
});

t.test('a redacted complaint keeps the tokens', async (t) => {
  const fields = 'Feedback-Type: abuse\r\nUser-Agent: x\r\nVersion: 1\r\nOriginal-Rcpt-To: <redacted>';
  const redacted = ORIGINAL.replaceAll('ann@rcpt.test', 'redacted');
  const mail = [
    'From: fbl@rcpt.test\r\nTo: fbl@acme.test\r\nSubject: FW: Hi\r\nMIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    `\r\n--b\r\nContent-Type: text/plain\r\n\r\nSpam.\r\n--b\r\nContent-Type: message/feedback-report\r\n\r\n${fields}`,
    `--b\r\nContent-Type: message/rfc822\r\n\r\n${redacted}\r\n--b--\r\n`,
  ].join('\r\n');
  t.match(readInboundMail(Buffer.from(mail)), {
    kind: 'complaint',
    recipients: [],
    original: { feedbackIds: ['0197:abc'], returnPaths: ['babcdef@bounces.acme.test'] },
  });
});

t.test('a report is read without the end of the original that it returns', (t) => {
  const raw = Buffer.from(
    'Message-ID: <019a9b70-4d10-7000-8b1e-5a2f7c9d3e10@acme.test>\r\nFrom: a@acme.test\r\nTo: jo@example.test\r\n\r\nHi',
  );
  const sent = { from: 'b1@bounces.test', to: 'jo@example.test', raw, session: '1', secure: false };
  const whole = postfixBounceOf(sent, 12 * 1024 * 1024);
  const originalAt = whole.indexOf('Content-Type: multipart/mixed');
  for (const end of [whole.length, whole.length - 10, 16 * 1024 * 1024, 1024 * 1024, originalAt]) {
    const cut = whole.subarray(0, whole.lastIndexOf('\r\n', end) + 2);
    const found = readInboundMail(cut, { hasNullSender: true, returnPath: { recipient: 'jo@example.test' } });
    t.match(
      found,
      {
        kind: 'report',
        recipients: [{ address: 'jo@example.test', action: 'failed', status: '5.1.1' }],
        reportingMta: 'relay.receiver.test',
        original: { messageId: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e10@acme.test' },
      },
      `${cut.length} of ${whole.length} bytes`,
    );
  }
  t.end();
});

t.test('what a returned message contains is not the report', async (t) => {
  const complained =
    '{"notificationType":"Complaint","complaint":{"complainedRecipients":[{"emailAddress":"x@y.test"}]}}';
  const fields = 'Final-Recipient: rfc822; x@y.test\nAction: failed\nStatus: 5.1.1';
  const qmail =
    'Hi. This is the qmail-send program at mx.test.\n\n<ann@rcpt.test>:\nmailbox is full\n\n--- Below this line is a copy of the message.\n\n';
  const exim =
    'A message that you sent could not be delivered. The following address(es) failed:\n\n  ann@rcpt.test\n    mailbox is full\n\n------ This is a copy of the message, including all the headers. ------\n\n';
  for (const text of [qmail, exim]) {
    for (const body of [complained, fields]) {
      const found = readInboundMail(Buffer.from(`${HEAD}\n${text}${ORIGINAL}\n${body}\n`));
      t.match(found, { kind: 'report', recipients: [{ address: 'ann@rcpt.test', status: null }] }, body);
    }
  }
  for (const type of ['text/plain; name=details.txt', 'application/octet-stream']) {
    const own = fields.replace('x@y.test', 'ann@rcpt.test').replace('5.1.1', '5.2.2');
    const parts = `--b\n\nOriginal message below.\n--b\nContent-Type: ${type}\n\n${own}\n\n${ORIGINAL}\n${fields}\n--b--\n`;
    const mail = `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n${parts}`;
    const found = readInboundMail(Buffer.from(mail));
    t.match(found, { recipients: [{ address: 'ann@rcpt.test', status: '5.2.2' }] }, `a file with the fields: ${type}`);
    t.match(found, { recipients: { length: 1 } }, 'and none of the returned message');
  }
});

t.test('an Amazon notification may be long, in one line or folded', async (t) => {
  const headers = Array.from({ length: 3_000 }, (_, number) => `{"name":"X-${number}","value":"from ${number}"}`);
  const json = `{"notificationType":"Complaint","mail":{"headers":[${headers.join(',')}]},"complaint":{"complainedRecipients":[{"emailAddress":"ann@rcpt.test"}]}}`;
  for (const text of [json, json.replace(/.{76}/g, '$&\n')]) {
    const found = readInboundMail(
      Buffer.from(`From: no-reply@sns.test\nSubject: AWS\n\n${text}\n\n--\nIf you wish to stop`),
    );
    t.match(found, { kind: 'complaint', recipients: ['ann@rcpt.test'] });
  }
});

t.test('many recipients, in any order of fields, with blank lines where they please', async (t) => {
  const groups = [
    'Original-Recipient: rfc822;a@rcpt.test\nFinal-Recipient: rfc822;a1@rcpt.test\nAction: failed\nStatus: 5.1.1',
    'Action: delayed\nFinal-Recipient: rfc822; <b@rcpt.test>\nStatus: 4.2.2 (full)',
    'Final-Recipient: rfc822;c@rcpt.test\n\nAction: delivered\nStatus: 2.0.0',
  ];
  const mail = `From: x@y.test\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns;mx.test\n${groups.join('\n\n')}\n--b--\n`;
  t.match(readInboundMail(Buffer.from(mail)), {
    reportingMta: 'mx.test',
    recipients: [
      { address: 'a1@rcpt.test', originalAddress: 'a@rcpt.test', action: 'failed', status: '5.1.1' },
      { address: 'b@rcpt.test', action: 'delayed', status: '4.2.2' },
      { address: 'c@rcpt.test', action: 'delivered', status: '2.0.0' },
    ],
  });
});

t.test('no mail at all', async (t) => {
  t.match(readInboundMail(Buffer.alloc(0)), { kind: 'unreadable', reason: 'there is nothing in it' });
  t.match(readInboundMail(Buffer.from('no line end and no header')), { kind: 'unreadable' });
  t.match(readInboundMail(Buffer.from([0, 255, 254, 1, 2, 128])), { kind: 'unreadable' });
});

const nested = (depth: number) =>
  Array.from({ length: depth }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`).join('');
const HARMFUL: [name: string, mail: string][] = [
  ['50 MB in one line', `Subject: ${'x'.repeat(50_000_000)}`],
  ['50 MB of lines', `${HEAD}\n${'could not be delivered to a@b\n'.repeat(1_700_000)}`],
  ['deep nesting', `${HEAD}${nested(20_000)}`],
  ['a million parts', `${HEAD}Content-Type: multipart/report; boundary=b\n\n${'--b\n\nx\n'.repeat(1_000_000)}`],
  ['delimiters within lines', `${HEAD}Content-Type: multipart/report; boundary=b\n\n${'x--b'.repeat(2_000_000)}`],
  ['a million fields', 'X: y\n'.repeat(1_000_000)],
  ['a folded field without end', `Subject: a\n${' b\n'.repeat(3_000_000)}`],
  ['encoded words', `${HEAD}X: ${'=?utf-8?q?='.repeat(100_000)}\nFrom: ${'=?utf-8?b?'.repeat(100_000)}\n\n`],
  [
    'a million recipients',
    `${HEAD}Content-Type: message/delivery-status\n\n${'Final-Recipient: rfc822;a@b.test\n'.repeat(1_000_000)}`,
  ],
  [
    'many recipients and much text',
    `${HEAD}\n${Array.from({ length: 1_000 }, (_, n) => `<a${n}@b.test>: 550 5.1.1 user mailbox unknown is full and blocked by policy`).join('\n')}\n`,
  ],
  ['signs of addresses', `${HEAD}\n${'<@'.repeat(30_000)}\n${'a'.repeat(60_000)}@\n`],
  ['blanks', `${HEAD}\n${' '.repeat(2_000_000)}\n`],
  ['tags', `${HEAD}Content-Type: text/html\n\n${'<style '.repeat(100_000)}${'<!--'.repeat(50_000)}`],
  ['elements without end', `${HEAD}Content-Type: text/html\n\n${'<style>'.repeat(37_000)}`],
  ['comments', `${HEAD}Content-Type: text/html\n\n${'<!-- -->'.repeat(30_000)}`],
  [
    'fields of blanks',
    `${HEAD}Content-Type: message/delivery-status\n\nReporting-MTA: dns; a${' \t'.repeat(100_000)}b\nFinal-Recipient: rfc822;${' '.repeat(100_000)}a\nDiagnostic-Code: smtp;${' \t'.repeat(100_000)}b\n`,
  ],
  ['blanks behind a delimiter', `${HEAD}\n--a${' '.repeat(200_000)}b\nContent-Type: x\n`],
  ['parameters of blanks', `${HEAD}Content-Type: multipart/report${';    '.repeat(3_000)}\n\n`],
  ['an Amazon notification of braces', `${HEAD}\n{"notificationType":"Bounce",${'{}'.repeat(100_000)}`],
  ['only CR', `${HEAD}\nUser unknown`.repeat(1000).replaceAll('\n', '\r')],
];

t.test('nothing takes a second, and nothing throws', async (t) => {
  const rules = loadBounceRules(SHIPPED_RULES);
  for (const [name, mail] of HARMFUL) {
    const octets = Buffer.from(mail);
    const time = new ProcessorTime();
    const { kind } = explainMail(octets, rules);
    const tookMs = time.usedMs;
    t.ok(tookMs < 1_000, `${name}: ${kind}, ${Math.round(tookMs)} ms`);
  }
});
