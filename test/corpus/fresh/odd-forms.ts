// Reports whose form is odd: fields missing or wrong, several recipients, parts encoded or nested, other
// character sets, line ends and marks at the beginning, reports inside of mails.
import { ANN, type FreshMail, fieldsOf, ORIGINAL, plain, postfix, report } from './fresh-mail.ts';

const TEXT = 'Your message could not be delivered.';
const FAILED = `Reporting-MTA: dns; mail.acme.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 user unknown\n`;
const b64 = (text: string, encoding: BufferEncoding = 'utf8'): string =>
  Buffer.from(text, encoding)
    .toString('base64')
    .replace(/(.{76})/g, '$1\n');

/** A report whose parts are given whole. */
function multipart(parts: string[], type = 'multipart/report; report-type=delivery-status; boundary=o1'): string {
  return plain(`${parts.map((part) => `--o1\n${part}\n`).join('')}--o1--\n`, { type });
}

const SEVERAL = `Reporting-MTA: dns; mail.acme.test\n\nFinal-Recipient: rfc822; ann@rcpt.test\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 5.2.2 mailbox full\n\nFinal-Recipient: rfc822; bob@rcpt.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 user unknown\n\nFinal-Recipient: rfc822; eve@rcpt.test\nAction: delivered\nStatus: 2.0.0\n`;

export const ODD_FORMS: FreshMail[] = [
  ['several of mixed fate', 'soft', 'ann@rcpt.test', '5.2.2', report(TEXT, SEVERAL)],
  ['address without a type', 'hard', ANN, '5.1.1', report(TEXT, FAILED.replace('rfc822; ', ''))],
  ['address in brackets', 'hard', ANN, '5.1.1', report(TEXT, FAILED.replace(`rfc822; ${ANN}`, `RFC822;<${ANN}>`))],
  [
    'x400 with the original',
    'hard',
    ANN,
    '5.1.1',
    report(
      TEXT,
      FAILED.replace(`rfc822; ${ANN}`, `x400; /G=ann/S=example/O=rcpt/\nOriginal-Recipient: rfc822; ${ANN}`),
    ),
  ],
  [
    'fields in other letters',
    'hard',
    ANN,
    '5.1.1',
    report(TEXT, FAILED.replace('Final-Recipient', 'FINAL-RECIPIENT').replace('Status', 'STATUS')),
  ],
  ['blank lines between all fields', 'hard', ANN, '5.1.1', report(TEXT, FAILED.replaceAll('\n', '\n\n'))],
  ['no blank line', 'hard', ANN, '5.1.1', report(TEXT, FAILED.replace('\n\n', '\n'))],
  [
    '5.0.0 and telling words',
    'hard',
    ANN,
    '5.0.0',
    report(TEXT, fieldsOf('failed', '5.0.0', `550 ${ANN}: user unknown`)),
  ],
  [
    '5.0.0 and the words in the text alone',
    'soft',
    ANN,
    '5.0.0',
    report(`<${ANN}>: the mailbox is full`, fieldsOf('failed', '5.0.0', null)),
  ],
  ['5.0.0 and no words at all', 'soft|hard|block', ANN, '5.0.0', report('', fieldsOf('failed', '5.0.0', null))],
  ['5.1.1 and no words at all', 'hard', ANN, '5.1.1', report('', fieldsOf('failed', '5.1.1', null))],
  ['4.2.2 failed', 'soft', ANN, '4.2.2', report('', fieldsOf('failed', '4.2.2', null))],
  ['5.7.1 and no words at all', 'block|hard', ANN, '5.7.1', report('', fieldsOf('failed', '5.7.1', null))],
  ['5.4.7 and no words at all', 'soft', ANN, '5.4.7', report('', fieldsOf('failed', '5.4.7', null))],
  ['2.0.0 and failed', 'hard', ANN, null, report(TEXT, fieldsOf('failed', '2.0.0', '550 5.1.1 user unknown'))],
  [
    'delayed with a permanent code',
    'soft',
    ANN,
    null,
    report('Still trying.', fieldsOf('delayed', '5.1.1', '550 5.1.1 user unknown')),
  ],
  ['relayed', 'delivered_notice', ANN, null, report('', fieldsOf('relayed', '2.6.0', null))],
  ['no action', 'hard', ANN, '5.1.1', report(TEXT, FAILED.replace('Action: failed\n', ''))],
  ['no status', 'hard', ANN, '5.1.1', report(TEXT, FAILED.replace('Status: 5.1.1\n', ''))],
  [
    'diagnostic over many lines',
    'block',
    ANN,
    '5.7.1',
    report(
      TEXT,
      fieldsOf(
        'failed',
        '5.7.1',
        '550-5.7.1 This\n 550-5.7.1 message\n 550-5.7.1 was\n 550-5.7.1 identified\n 550 5.7.1 as spam',
      ),
    ),
  ],
  [
    'diagnostic without its blank',
    'hard',
    ANN,
    '5.1.1',
    report(TEXT, FAILED.replace('user unknown', 'user\nunknown here')),
  ],
  [
    'encoded words in the diagnostic',
    'hard',
    ANN,
    '5.1.1',
    report(TEXT, FAILED.replace('550 5.1.1 user unknown', '=?utf-8?B?NTUwIDUuMS4xIHVzZXIgdW5rbm93bg==?=')),
  ],
  [
    'international addresses',
    'hard',
    'änn@rcpt.test',
    '5.1.1',
    multipart(
      [
        `Content-Type: message/global-delivery-status\n\nReporting-MTA: dns; mail.acme.test\n\nFinal-Recipient: utf-8; \\x{E4}nn@rcpt.test\nAction: failed\nStatus: 5.1.1\n`,
      ],
      'multipart/report; report-type=global-delivery-status; boundary=o1',
    ),
  ],
  [
    'base64 all over',
    'hard',
    ANN,
    '5.1.1',
    multipart([
      `Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${b64(TEXT)}`,
      `Content-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n${b64(FAILED)}`,
      `Content-Type: message/rfc822\n\n${ORIGINAL}`,
    ]),
  ],
  [
    'quoted-printable all over',
    'hard',
    ANN,
    '5.1.1',
    multipart([
      'Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\nYour message=20could not be deliv=\nered.',
      `Content-Type: message/delivery-status\nContent-Transfer-Encoding: quoted-printable\n\n${FAILED.replace('user unknown', 'user=20unk=\nnown')}`,
    ]),
  ],
  [
    'nested',
    'hard',
    ANN,
    '5.1.1',
    multipart([
      `Content-Type: multipart/alternative; boundary=i1\n\n--i1\nContent-Type: text/plain\n\n${TEXT}\n--i1\nContent-Type: text/html\n\n<p>${TEXT}</p>\n--i1--`,
      `Content-Type: message/delivery-status\n\n${FAILED}`,
    ]),
  ],
  [
    'in a mixed mail',
    'hard',
    ANN,
    '5.1.1',
    multipart(
      [`Content-Type: text/plain\n\n${TEXT}`, `Content-Type: message/delivery-status\n\n${FAILED}`],
      'multipart/mixed; boundary=o1',
    ),
  ],
  [
    'footer of a list behind the report',
    'hard',
    ANN,
    '5.1.1',
    plain(
      `--w1\n${postfix('5.1.1', '550 5.1.1 user unknown').replace(/^[\s\S]*?(?=MIME-Version)/, '')}\n--w1\nContent-Type: text/plain\n\nThis mail was scanned.\n--w1--\n`,
      { type: 'multipart/mixed; boundary=w1' },
    ),
  ],
  [
    'status as plain text',
    'hard',
    ANN,
    '5.1.1',
    multipart(
      [`Content-Type: text/plain\n\n${TEXT}`, `Content-Type: text/plain; name=details.txt\n\n${FAILED}`],
      'multipart/mixed; boundary=o1',
    ),
  ],
  [
    'fields as an attachment',
    'hard',
    ANN,
    '5.1.1',
    multipart(
      [
        `Content-Type: text/plain\n\n${TEXT}`,
        `Content-Type: application/octet-stream; name="details.txt"\nContent-Disposition: attachment; filename="details.txt"\n\n${FAILED}`,
      ],
      'multipart/mixed; boundary=o1',
    ),
  ],
  [
    'the header of the original alone',
    'hard',
    ANN,
    '5.1.1',
    report(TEXT, FAILED, { original: `text/rfc822-headers\n\n${ORIGINAL.split('\n\n')[0]}\n` }),
  ],
  ['no original', 'hard', ANN, '5.1.1', report(TEXT, FAILED, { original: '' })],
  ['boundary that never ends', 'hard', ANN, '5.1.1', report(TEXT, FAILED).replace('--=_b1/acme--\n', '')],
  ['LF and CRLF mixed', 'hard', ANN, '5.1.1', report(TEXT, FAILED.replaceAll('\n', '\r\n'))],
  ['CR alone', 'hard', ANN, '5.1.1', report(TEXT, FAILED).replaceAll('\n', '\r')],
  ['byte order mark', 'hard', ANN, '5.1.1', `\ufeff${report(TEXT, FAILED)}`],
  ['mbox line before it', 'hard', ANN, '5.1.1', `From MAILER-DAEMON Mon May  6 09:12:00 2024\n${report(TEXT, FAILED)}`],
  ['UTF-16', 'hard', ANN, '5.1.1', Buffer.from(`\ufeff${report(TEXT, FAILED)}`, 'utf16le')],
  [
    'text in UTF-16',
    'soft',
    ANN,
    null,
    plain(
      `${b64(`\ufeffThis is the mail system. Your message could not be delivered.\n\n<${ANN}>: the mailbox is full\n`, 'utf16le')}\n`,
      { type: 'text/plain; charset=utf-16\nContent-Transfer-Encoding: base64' },
    ),
  ],
  [
    'text in big5',
    'soft',
    ANN,
    null,
    plain(
      `${Buffer.concat([Buffer.from([0xab, 0x48, 0xbd, 0x63, 0xa4, 0x77, 0xba, 0xa1]), Buffer.from(`\n<${ANN}>: 552 mailbox is full\n`)]).toString('base64')}\n`,
      { type: 'text/plain; charset=big5\nContent-Transfer-Encoding: base64' },
    ),
  ],
  [
    'forwarded by a gateway',
    'hard',
    ANN,
    '5.1.1',
    plain(`--g1\nContent-Type: message/rfc822\n\n${postfix('5.1.1', '550 5.1.1 user unknown')}\n--g1--\n`, {
      from: 'gateway@acme.test',
      subject: 'Fwd: Undelivered Mail',
      type: 'multipart/mixed; boundary=g1',
    }),
  ],
  [
    'forwarded with a note',
    'hard',
    ANN,
    '5.1.1',
    plain(
      `--g1\nContent-Type: text/plain\n\nForwarded by the mail gateway.\n--g1\nContent-Type: message/rfc822\n\n${postfix('5.1.1', '550 5.1.1 user unknown')}\n--g1--\n`,
      { from: 'MAILER-DAEMON@gw.acme.test', subject: 'Fwd: Undelivered Mail', type: 'multipart/mixed; boundary=g1' },
    ),
  ],
  [
    'several recipients in the text',
    'hard',
    'ann@rcpt.test',
    null,
    plain(
      'This is the mail system at host mail.acme.test.\n\n<ann@rcpt.test>: unknown user: "ann"\n\n<bob@rcpt.test>: host mx.rcpt.test[198.51.100.25] said: 552 Mailbox full\n',
      { from: 'MAILER-DAEMON@mail.acme.test' },
    ),
  ],
  [
    'code by its parts',
    'hard',
    ANN,
    null,
    plain(`Delivery report for ${ANN}\n\nResult: failed\nReply code: 550\nText: no such user\n`, {
      from: 'postmaster@mail.rcpt.test',
      subject: 'Delivery report: failed',
    }),
  ],
  [
    'words without any code',
    'hard',
    ANN,
    null,
    plain(`The following address does not exist:\n\n   ${ANN}\n\nYour message has been returned.\n`, {
      from: 'Postmaster <postmaster@rcpt.test>',
      subject: 'Returned mail',
    }),
  ],
  [
    'no daemon, but a report',
    'hard',
    ANN,
    null,
    plain(
      `Delivery to the following recipient failed permanently:\n\n    ${ANN}\n\nReason: there is no such account\n`,
      { from: 'noreply@rcpt.test', subject: 'Delivery failed' },
    ),
  ],
];
