// A report may return megabytes: of those only the header is read, and the content of what is small enough to verify.
import t from 'tap';
import { readInboundMail } from '../../../../src/protocol/mail/inbound/read-inbound-mail.ts';
import { ProcessorTime } from '../../../support/patience.ts';

const MIB = 1024 * 1024;
const HEADER = 'Message-ID: <1@acme.test>\r\nFrom: shop@acme.test\r\nTo: ann@rcpt.test\r\n\r\n';

function reportOf(original: string, encoding: string): Buffer {
  const text = `From: MAILER-DAEMON@mx.test
To: b1@bounces.acme.test
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

Final-Recipient: rfc822; ann@rcpt.test
Action: failed
Status: 5.1.1

--b
Content-Type: message/rfc822
Content-Transfer-Encoding: ${encoding}

`;
  return Buffer.from(`${text.replaceAll('\n', '\r\n')}${original}\r\n--b--\r\n`);
}

function originalOf(mail: Buffer) {
  const found = readInboundMail(mail);
  return found.kind === 'report' ? found.original : null;
}

t.test('the content of a small original is there, octet for octet', async (t) => {
  const content = `${HEADER}${'Some text\r\n'.repeat(1_000)}end`;
  t.equal(originalOf(reportOf(content, '8bit'))?.content?.toString('latin1'), content);
  const base64 = Buffer.from(content).toString('base64');
  t.equal(originalOf(reportOf(base64, 'base64'))?.content?.toString('latin1'), content);
});

t.test('of a large one there is the header alone, in any encoding', async (t) => {
  const body = 'x'.repeat(75).concat('\r\n').repeat(20_000);
  for (const [encoding, written] of [
    ['8bit', HEADER + body],
    ['base64', Buffer.from(HEADER + body).toString('base64')],
    ['quoted-printable', `${HEADER}${'=41'.repeat(MIB)}x`],
    ['quoted-printable', `${HEADER}${'=41'.repeat(4 * MIB)}x`],
  ] as const) {
    const original = originalOf(reportOf(written, encoding));
    t.equal(original?.messageId, '1@acme.test', encoding);
    // Not by a comparison, which would show megabytes.
    t.ok(original?.content === null, encoding);
  }
});

t.test('escapes do not make a large one dear', async (t) => {
  const costOf = (mail: Buffer) => {
    const time = new ProcessorTime();
    readInboundMail(mail);
    return time.usedMs;
  };
  const written = HEADER + '=41'.repeat(4 * MIB);
  const [plain, quoted] = ['8bit', 'quoted-printable'].map((encoding) => {
    const mail = reportOf(written, encoding);
    return Math.min(costOf(mail), costOf(mail), costOf(mail));
  }) as [number, number];
  t.ok(quoted < 3 * plain + 50, `${quoted} ms of processor time, and ${plain} ms without an encoding`);
});
