// Delivery and complaint reports, read back by mailparser and by their raw parts.
import { simpleParser } from 'mailparser';
import t, { type Test } from 'tap';
import { composeArf } from '../../../src/protocol/mail/reports/arf.ts';
import { composeDsn, type DsnInput } from '../../../src/protocol/mail/reports/dsn.ts';
import { composeInput, composeWhole } from './sample-messages.ts';

const date = new Date('2026-11-20T10:00:00Z');

function dsnInput(changes: Partial<DsnInput> = {}): DsnInput {
  return {
    reportingMta: 'mx.example.net',
    from: 'Mail Delivery System <mailer-daemon@mx.example.net>',
    to: 'babc@bounces.example',
    finalRecipient: 'jo@example.net',
    action: 'failed',
    status: '5.1.1',
    diagnostic: '550 5.1.1 No such user here',
    originalHeaders: Buffer.from('From: a@b.example\nSubject: Hi\r\n'),
    date,
    ...changes,
  };
}

/** The parts of a multipart message, as text, split by hand so that no parser forgives anything. */
function partsOf(t: Test, report: Buffer): string[] {
  const text = report.toString();
  t.notMatch(text, /\r(?!\n)|(?<!\r)\n/, 'all line ends are CRLF');
  const boundary = /boundary="([^"]+)"/.exec(text)![1]!;
  const parts = text.split(`--${boundary}`);
  t.equal(parts.pop(), '--\r\n');
  return parts.map((part) => part.replace(/^\r\n|\r\n$/g, ''));
}

const unfold = (text: string) => text.replace(/\r\n[ \t]+/g, ' ');

t.test('a failed delivery', async (t) => {
  const report = composeDsn(dsnInput({ originalEnvelopeId: 'e1', remoteMta: 'mx2.example.net' }));
  const [header, text, status, original, ...more] = partsOf(t, report).map(unfold);
  t.same(more, []);
  t.match(header, /^From: Mail Delivery System <mailer-daemon@mx\.example\.net>\r\nTo: babc@bounces\.example\r\n/);
  t.match(header, /\r\nContent-Type: multipart\/report; report-type=delivery-status; boundary="/);
  t.match(header, /\r\nAuto-Submitted: auto-replied\r\n/);
  t.match(text, /could not be delivered[\s\S]*jo@example\.net[\s\S]*No such user/);
  t.equal(
    status,
    [
      'Content-Type: message/delivery-status',
      '',
      'Original-Envelope-Id: e1',
      'Reporting-MTA: dns; mx.example.net',
      'Arrival-Date: Fri, 20 Nov 2026 10:00:00 +0000',
      '',
      'Final-Recipient: rfc822; jo@example.net',
      'Action: failed',
      'Status: 5.1.1',
      'Remote-MTA: dns; mx2.example.net',
      'Diagnostic-Code: smtp; 550 5.1.1 No such user here',
      'Last-Attempt-Date: Fri, 20 Nov 2026 10:00:00 +0000',
      '',
    ].join('\r\n'),
  );
  t.match(original, /^Content-Type: text\/rfc822-headers\r\n[\s\S]*\r\n\r\nFrom: a@b\.example\r\nSubject: Hi\r\n$/);
  const mail = await simpleParser(report, { keepDeliveryStatus: true });
  t.equal(mail.from?.value[0]?.address, 'mailer-daemon@mx.example.net');
  t.match(mail.text, /could not be delivered/);
  t.ok(mail.attachments.some((part) => part.contentType === 'message/delivery-status'));
});

t.test('a delay, a non-ASCII recipient, and hostile text', async (t) => {
  const report = composeDsn(
    dsnInput({
      action: 'delayed',
      finalRecipient: 'jürgen@example.net',
      diagnostic: '451 4.7.1 \r\nAction: delivered\0',
      originalHeaders: Buffer.from('Subject: Grüße\r\n'),
    }),
  );
  const [header, text, status, original] = partsOf(t, report).map(unfold);
  t.match(header, /\r\nContent-Transfer-Encoding: 8bit\r\n/);
  t.match(text, /Content-Transfer-Encoding: 8bit\r\n[\s\S]*delayed/);
  t.match(status, /\r\nFinal-Recipient: utf-8; j\\x\{FC\}rgen@example\.net\r\nAction: delayed\r\n/);
  t.match(status, /\r\nDiagnostic-Code: smtp; 451 4\.7\.1 +Action: delivered\r\n/);
  t.notMatch(status, /^Action: delivered/m);
  t.match(original, /Content-Transfer-Encoding: 8bit\r\n\r\nSubject: Grüße/);
});

t.test('a complaint embeds the original unchanged', async (t) => {
  const { raw } = await composeWhole(composeInput({ subject: 'Grüße', to: { name: '', address: 'à@example.com' } }));
  const report = composeArf({
    feedbackType: 'abuse',
    from: 'fbl@mx.example.net',
    to: 'fbl@bounces.example',
    originalMessage: raw,
    sourceIp: '192.0.2.1',
    arrivalDate: date,
    reportedDomain: 'verified.example',
    originalMailFrom: 'babc@bounces.example',
    originalRcptTo: 'à@example.com',
    reportingMta: 'mx.example.net',
    date,
  });
  const [header, , feedback] = partsOf(t, report).map(unfold);
  t.match(header, /\r\nContent-Type: multipart\/report; report-type=feedback-report; boundary="/);
  t.equal(
    feedback,
    [
      'Content-Type: message/feedback-report',
      '',
      'Feedback-Type: abuse',
      'User-Agent: Postrider-Sandbox/1',
      'Version: 1',
      'Original-Mail-From: <babc@bounces.example>',
      'Original-Rcpt-To: <\\x{E0}@example.com>',
      'Arrival-Date: Fri, 20 Nov 2026 10:00:00 +0000',
      'Reporting-MTA: dns; mx.example.net',
      'Source-IP: 192.0.2.1',
      'Reported-Domain: verified.example',
      '',
    ].join('\r\n'),
  );
  t.ok(report.includes(raw), 'octet for octet, so that its signature still verifies');
  const mail = await simpleParser(report, { keepDeliveryStatus: true });
  t.match(mail.text, /type "abuse"/);
  t.same(
    mail.attachments.map((part) => part.contentType),
    ['message/feedback-report', 'message/rfc822'],
  );
});
