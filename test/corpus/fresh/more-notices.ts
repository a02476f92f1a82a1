// A second set of notices: answers of programs and people that are easily taken for reports, and the other way round.
import { ANN, type FreshMail, ORIGINAL, plain, report, SENDER } from './fresh-mail.ts';

const encoded = (subject: string): string => `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;
const fromAnn = (text: string, subject: string, fields = ''): string =>
  plain(text, {
    from: `Ann Example <${ANN}>`,
    subject: encoded(subject),
    fields,
    type: 'text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit',
  });

export const MORE_NOTICES: FreshMail[] = [
  [
    'out of the office today',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'I will be out of the office starting 05/06/2024 and will not return until 05/13/2024.\n',
      'Ann Example/HQ/Example is out of the office.',
    ),
  ],
  [
    'Notes agent',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'I will respond to your message when I return.\n',
      'Ann Example is out of the office (returning 13.05.2024)',
    ),
  ],
  [
    'maternity leave',
    'auto_reply',
    ANN,
    null,
    fromAnn('Thanks for your mail. I am on maternity leave until next year.\n', 'RE: Your order'),
  ],
  [
    'old vacation program',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'I will not be reading my mail for a while. Your mail regarding "Your order" will be read when I return.\n',
      'away from my mail',
      'Precedence: bulk\n',
    ),
  ],
  [
    'cPanel autoresponder',
    'auto_reply',
    null,
    null,
    plain('We have got your message and will answer within two days.\n', {
      from: 'info@rcpt.test',
      subject: 'Re: Your order',
      fields: 'X-Autorespond: Your order\nPrecedence: auto_reply\nX-Loop: info@rcpt.test\n',
    }),
  ],
  [
    'no-reply box',
    'auto_reply',
    null,
    null,
    plain(
      'This mailbox is not monitored. Please do not reply to this automatically generated message; contact support@rcpt.test.\n',
      { from: 'noreply@rcpt.test', subject: 'Auto: Your order' },
    ),
  ],
  [
    'OTRS',
    'auto_reply',
    null,
    null,
    plain(
      'Dear Customer,\n\nThank you for your request. Your message has been assigned the ticket number 2024050610000011.\n',
      {
        from: 'Service <service@rcpt.test>',
        subject: '[Ticket#2024050610000011] RE: Your order',
        fields: 'X-Powered-By: OTRS\nAuto-Submitted: auto-replied\nPrecedence: bulk\n',
      },
    ),
  ],
  [
    'Zendesk',
    'auto_reply',
    null,
    null,
    plain('##- Please type your reply above this line -##\n\nYour request (4711) has been received.\n', {
      from: 'Rcpt <support@rcpt.test>',
      subject: '[Rcpt] Re: Your order',
      fields: 'X-Auto-Response-Suppress: All\nAuto-Submitted: auto-generated\n',
    }),
  ],
  [
    'gone, says the company',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'Please be advised that Ann Example has left our company and this address will be closed. Kindly write to sales@rcpt.test.\n',
      'Automatische Antwort: Your order',
      'Auto-Submitted: auto-replied\n',
    ),
  ],
  [
    'gone, in German',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'Frau Example ist nicht mehr in unserem Hause tätig. Ihre Nachricht wird nicht weitergeleitet.\n',
      'Automatische Antwort: Your order',
    ),
  ],
  [
    'an X-Autoreply with an X-Failed word',
    'auto_reply',
    ANN,
    null,
    fromAnn('Delivery of the parcel failed? Call us. I am away.\n', 'Re: delivery', 'X-Autoreply: yes\n'),
  ],
  [
    'UOL AntiSpam',
    'auto_reply',
    null,
    null,
    plain(
      'ANTISPAM UOL » TIRA-TEIMA\n\nOlá, você enviou uma mensagem para ann@uol.test. Para que sua mensagem seja encaminhada, por favor, clique aqui.\n',
      { from: 'AntiSpam UOL <ann@uol.test>', subject: 'Re: Your order', type: 'text/plain; charset=utf-8' },
    ),
  ],
  [
    'EarthLink challenge',
    'auto_reply',
    null,
    null,
    plain(
      'This is an automatic reply to your email message to ann@earthlink.test. This email address is protected by EarthLink spamBlocker. Your email message has been redirected to a "suspect email" folder.\n',
      { from: 'ann@earthlink.test', subject: 'Re: Your order' },
    ),
  ],
  [
    'BlueBottle',
    'auto_reply',
    null,
    null,
    plain('Ann is using Bluebottle to control spam. Please verify that you are a person: click on the link.\n', {
      from: 'ann@bluebottle.test',
      subject: 'Please verify your message',
    }),
  ],
  [
    'receipt, sieve',
    'auto_reply|block|soft',
    null,
    null,
    plain(
      `--m1\nContent-Type: text/plain\n\nThe message was refused by the recipient's mail filtering program.  The reason given was as follows:\n\nno newsletters\n--m1\nContent-Type: message/disposition-notification\n\nReporting-UA: mail.rcpt.test; Cyrus 2.2\nFinal-Recipient: rfc822; ${ANN}\nDisposition: automatic-action/MDN-sent-automatically; deleted\n\n--m1--\n`,
      {
        from: 'Mail Sieve Subsystem <postmaster@rcpt.test>',
        subject: 'Automatically rejected mail',
        type: 'multipart/report; report-type=disposition-notification; boundary=m1',
      },
    ),
  ],
  [
    'receipt without a report type',
    'auto_reply',
    ANN,
    null,
    plain(
      `--m1\nContent-Type: text/plain\n\nThis is a receipt for the mail that you sent.\n--m1\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822; ${ANN}\nDisposition: manual-action/MDN-sent-manually; displayed\n\n--m1--\n`,
      {
        from: `Ann <${ANN}>`,
        subject: 'Return Receipt (displayed) - Your order',
        type: 'multipart/mixed; boundary=m1',
      },
    ),
  ],
  [
    'Outlook: read',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'Your message\n\n  To: Ann Example\n  Subject: Your order\n  Sent: Monday, May 6, 2024 9:10 AM\n\nwas read on Monday, May 6, 2024 9:30 AM.\n',
      'Read: Your order',
    ),
  ],
  [
    'Lotus: return receipt',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'Return Receipt\n\nYour document: Your order\nwas received by: Ann Example\nat: 06.05.2024 11:30\n',
      'Return Receipt',
    ),
  ],
  // Complaints in other forms.
  [
    'complaint: not typed as a report',
    'complaint',
    ANN,
    null,
    plain(
      `--f1\nContent-Type: text/plain\n\nThis is an email abuse report.\n--f1\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: Some/1.0\nVersion: 0.1\nOriginal-Rcpt-To: ${ANN}\n--f1\nContent-Type: message/rfc822\n\n${ORIGINAL}\n--f1--\n`,
      { from: 'fbl@rcpt.test', subject: 'abuse report', type: 'multipart/mixed; boundary=f1' },
    ),
  ],
  [
    'complaint: opt-out-list',
    'complaint',
    null,
    null,
    plain(
      `--f1\nContent-Type: message/feedback-report\n\nFeedback-Type: opt-out-list\nUser-Agent: Unsub/1.0\nVersion: 1\nRemoval-Recipient: ${ANN}\n--f1\nContent-Type: text/rfc822-headers\n\n${ORIGINAL}\n--f1--\n`,
      {
        from: 'fbl@rcpt.test',
        subject: 'Removal request',
        type: 'multipart/report; report-type=feedback-report; boundary=f1',
      },
    ),
  ],
  [
    'complaint: base64',
    'complaint',
    ANN,
    null,
    plain(
      `--f1\nContent-Type: message/feedback-report\nContent-Transfer-Encoding: base64\n\n${Buffer.from(`Feedback-Type: fraud\nUser-Agent: Some/1.0\nVersion: 1\nOriginal-Rcpt-To: ${ANN}\n`).toString('base64')}\n--f1\nContent-Type: message/rfc822\n\n${ORIGINAL}\n--f1--\n`,
      {
        from: 'fbl@rcpt.test',
        subject: 'phishing report',
        type: 'multipart/report; report-type=feedback-report; boundary=f1',
      },
    ),
  ],
  [
    'complaint: the part alone',
    'complaint',
    null,
    null,
    plain(`Feedback-Type: abuse\nUser-Agent: Some/1.0\nVersion: 1\nSource-IP: 192.0.2.7\n`, {
      from: 'fbl@rcpt.test',
      subject: 'report',
      type: 'message/feedback-report',
    }),
  ],
  // Delays in words.
  [
    'delay: "still trying"',
    'soft',
    ANN,
    null,
    plain(
      `Your message to the following address could not be delivered yet:\n\n  ${ANN}\n\nThe server is still trying and will give up in 4 days. You need not send it again.\n`,
      { from: 'MAILER-DAEMON@mx.acme.test', subject: 'Delivery delayed' },
    ),
  ],
  [
    'delay: in German',
    'soft',
    ANN,
    null,
    plain(
      `Ihre Nachricht konnte noch nicht zugestellt werden:\n\n  ${ANN}\n\nDer Server versucht es weiter. Sie müssen nichts tun.\n`,
      { from: 'MAILER-DAEMON@mx.acme.test', subject: 'Zustellung verzoegert', type: 'text/plain; charset=utf-8' },
    ),
  ],
  [
    'delay that says user unknown',
    'soft',
    ANN,
    null,
    report(
      'Delivery is delayed.',
      `Reporting-MTA: dns; mail.acme.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: delayed\nStatus: 4.1.1\nDiagnostic-Code: smtp; 450 4.1.1 <${ANN}>: Recipient address rejected: User unknown in local recipient table\n`,
      { subject: 'Delayed Mail (still being retried)' },
    ),
  ],
  // Good news.
  [
    'success: Courier',
    'delivered_notice',
    ANN,
    null,
    report(
      `This is a delivery status notification.\n\n                         DELIVERED MAIL\n\nYour message to the following recipients has been successfully delivered:\n\n<${ANN}>\n`,
      `Reporting-MTA: dns; mail.rcpt.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: delivered\nStatus: 2.0.0\n`,
      { from: '"Courier mail server at mail.rcpt.test" <@>', subject: 'NOTICE: mail delivery status.' },
    ),
  ],
  [
    'success: Postfix local',
    'delivered_notice',
    ANN,
    '2.0.0',
    report(
      `<${ANN}>: delivery via local: delivered to maildir`,
      `Reporting-MTA: dns; mail.rcpt.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: delivered\nStatus: 2.0.0\nDiagnostic-Code: X-Postfix; delivered to maildir\n`,
      { subject: 'Successful Mail Delivery Report' },
    ),
  ],
  [
    'success in German',
    'delivered_notice',
    ANN,
    null,
    report(
      'Ihre Nachricht wurde zugestellt.',
      `Reporting-MTA: dns; mail.rcpt.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: delivered\nStatus: 2.0.0\n`,
      { subject: encoded('Übermittelt: Ihre Bestellung') },
    ),
  ],
  // People.
  [
    'postmaster writes himself',
    'unknown',
    null,
    null,
    plain('Hello,\n\nplease send fewer mails at once, our server is slow. Thank you.\n\nBob, postmaster\n', {
      from: 'Bob <bob@rcpt.test>',
      subject: 'Your mails to us',
    }),
  ],
  [
    'answer below a quoted mail',
    'unknown',
    null,
    null,
    fromAnn(
      `Thank you!\n\nOn Mon, 6 May 2024, Acme <${SENDER}> wrote:\n> Your order could not be delivered, we try again tomorrow.\n`,
      'Re: Your order could not be delivered',
    ),
  ],
  [
    'forwards a report as an attachment',
    'unknown|hard',
    null,
    null,
    plain(
      `--h1\nContent-Type: text/plain\n\nWhat shall I do about this? Ann\n--h1\nContent-Type: message/rfc822\n\nFrom: MAILER-DAEMON@mx.else.test\nSubject: failure notice\n\n<bob@else.test>: no such user\n--h1--\n`,
      { from: `Ann <${ANN}>`, subject: 'Fwd: failure notice', type: 'multipart/mixed; boundary=h1' },
    ),
  ],
  ['unsubscribe me', 'unknown', null, null, fromAnn('Please remove me from your list, this is spam!\n', 'unsubscribe')],
  [
    'asks about a full mailbox',
    'unknown',
    null,
    null,
    fromAnn('My mailbox is full again. How do I delete old messages? ann@rcpt.test\n', 'mailbox full'),
  ],
  [
    'invitation',
    'unknown',
    null,
    null,
    plain('BEGIN:VCALENDAR\nMETHOD:REQUEST\nEND:VCALENDAR\n', {
      from: `Ann <${ANN}>`,
      subject: 'Meeting',
      type: 'text/calendar; method=REQUEST',
    }),
  ],
  [
    'monitoring',
    'unknown',
    null,
    null,
    plain('Host mx1 is DOWN. Connection timed out.\n', {
      from: 'Monitoring <nagios@acme.test>',
      subject: 'PROBLEM: mx1 is DOWN',
    }),
  ],
  [
    'phishing of a bounce',
    'unknown',
    null,
    null,
    plain(
      'Dear user,\n\n5 messages could not be delivered to your inbox because of a validation error. Click here to release them: http://phish.test\n',
      { from: 'Mail Service <service@phish.test>', subject: 'Undelivered messages' },
    ),
  ],
];
