// What is no bounce: absences in many languages, acknowledgements, challenges, receipts, complaints, reports
// about DMARC and TLS, people who write of bounces, and spam that looks like one.
import { ANN, type FreshMail, ORIGINAL, plain, report, SENDER } from './fresh-mail.ts';

const UTF8 = 'text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit';
const encoded = (subject: string): string => `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;
const fromAnn = (text: string, subject: string, fields = ''): string =>
  plain(text, { from: `Ann Example <${ANN}>`, subject: encoded(subject), fields, type: UTF8 });

/** Without any field: subject and text are all there is. */
const ABSENCES: [language: string, subject: string, text: string][] = [
  ['English', 'Out of office', 'Hello, I am away until Monday and have no access to my mail.'],
  [
    'English, by the text',
    'Re: Your order',
    'Thank you for your message. I am currently out of the office and will return on 13 May.',
  ],
  ['German', 'Abwesenheitsnotiz: Your order', 'Guten Tag, ich bin bis zum 13. Mai nicht im Büro.'],
  [
    'German, by the text',
    'AW: Your order',
    'Vielen Dank für Ihre Nachricht. Ich bin vom 6. bis 13. Mai im Urlaub und lese meine E-Mails nicht.',
  ],
  ['French', 'Réponse automatique : Your order', 'Bonjour, je suis absente du bureau.'],
  ['French, by the text', 'Re: Your order', 'Bonjour, je suis actuellement en congés jusqu’au 13 mai.'],
  ['Spanish', 'Respuesta automática: Your order', 'Estaré fuera de la oficina hasta el lunes.'],
  ['Italian', 'Risposta automatica: Your order', 'Sono fuori ufficio fino al 13 maggio.'],
  ['Portuguese', 'Resposta automática: Your order', 'Estarei de férias até ao dia 13.'],
  ['Dutch', 'Automatisch antwoord: Your order', 'Ik ben afwezig tot 13 mei.'],
  ['Swedish', 'Autosvar: Your order', 'Jag är på semester.'],
  ['Danish', 'Autosvar: Your order', 'Jeg er på ferie.'],
  ['Norwegian', 'Automatisk svar: Your order', 'Jeg er ute av kontoret.'],
  ['Finnish', 'Automaattinen vastaus: Your order', 'Olen lomalla.'],
  ['Polish', 'Odpowiedź automatyczna: Your order', 'Jestem poza biurem.'],
  ['Czech', 'Automatická odpověď: Your order', 'Jsem mimo kancelář.'],
  ['Hungarian', 'Automatikus válasz: Your order', 'Házon kívül vagyok.'],
  ['Turkish', 'Otomatik Yanıt: Your order', 'Ofis dışındayım.'],
  ['Russian', 'Автоматический ответ: Your order', 'Меня нет на месте до 13 мая.'],
  ['Japanese', '自動応答: Your order', '不在にしております。'],
  ['Chinese', '自动答复: Your order', '我不在办公室。'],
  ['Korean', '자동 회신: Your order', '부재중입니다.'],
  ['Greek', 'Αυτόματη απάντηση: Your order', 'Λείπω από το γραφείο.'],
  ['Romanian', 'Răspuns automat: Your order', 'Sunt plecat din birou.'],
];

function arf(
  type: string,
  fields = '',
  original = `message/rfc822\n\nReturn-Path: <b1@bounces.acme.test>\n${ORIGINAL}`,
): string {
  const feedback = `Feedback-Type: ${type}\nUser-Agent: SomeGenerator/1.0\nVersion: 1\nOriginal-Mail-From: <b1@bounces.acme.test>\nArrival-Date: Mon, 6 May 2024 09:10:11 +0000\nSource-IP: 192.0.2.7\n${fields}`;
  const parts = [
    'text/plain\n\nThis is an email abuse report for an email message received from IP 192.0.2.7.',
    `message/feedback-report\n\n${feedback}`,
    original,
  ];
  return plain(`${parts.map((part) => `--f1\nContent-Type: ${part}\n`).join('')}--f1--\n`, {
    from: '<feedback@fbl.rcpt.test>',
    subject: 'FW: Your order',
    type: 'multipart/report; report-type=feedback-report; boundary="f1"',
  });
}

function receipt(disposition: string, subject: string, text: string): string {
  return plain(
    `--m1\nContent-Type: text/plain; charset=utf-8\n\n${text}\n--m1\nContent-Type: message/disposition-notification\n\nReporting-UA: rcpt.test; Mailer 1.0\nFinal-Recipient: rfc822;${ANN}\nOriginal-Message-ID: <4711@acme.test>\nDisposition: ${disposition}\n\n--m1--\n`,
    {
      from: `Ann Example <${ANN}>`,
      subject,
      type: 'multipart/report; report-type=disposition-notification; boundary=m1',
    },
  );
}

export const NOTICES: FreshMail[] = [
  ...ABSENCES.map(
    ([language, subject, text]): FreshMail => [
      `away, ${language}`,
      'auto_reply',
      ANN,
      null,
      fromAnn(`${text}\n`, subject),
    ],
  ),
  [
    'away, by its field',
    'auto_reply',
    ANN,
    null,
    fromAnn('Back on Monday.\n', 'Your order', 'Auto-Submitted: auto-replied (vacation)\n'),
  ],
  [
    'away, delivery words in the text',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'Your message could not be delivered to me in person: I am on holiday. Mailbox full of sand.\n',
      'Automatic reply: Your order',
      'Auto-Submitted: auto-replied\nX-Auto-Response-Suppress: All\n',
    ),
  ],
  [
    'away, quoting the mail',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      `I am out of the office until 13 May.\n\n-----Original Message-----\nFrom: ${SENDER}\nTo: ${ANN}\nSubject: Your order\n`,
      'Automatic reply: Your order',
    ),
  ],
  [
    'has left the company',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'Ann Example is no longer with the company. Please write to bob@rcpt.test instead. Her mailbox is not monitored.\n',
      'Automatic reply: Your order',
      'Auto-Submitted: auto-replied\n',
    ),
  ],
  [
    'has left, without fields',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'Thank you for your email. Please note that I no longer work for Example Ltd. This mailbox is not monitored. This is an automated response.\n',
      'Re: Your order',
    ),
  ],
  [
    'ticket',
    'auto_reply',
    null,
    null,
    plain(
      'Your request (4711) has been received and is being reviewed by our support staff.\n\nTo add additional comments, reply to this email.\n',
      {
        from: 'Support <support@rcpt.test>',
        subject: '[Request received] Your order',
        fields: 'Auto-Submitted: auto-generated\nX-Auto-Response-Suppress: All\n',
      },
    ),
  ],
  [
    'ticket without fields',
    'auto_reply',
    null,
    null,
    plain('This is an automated response to let you know that we received your email. Your ticket number is 4711.\n', {
      from: 'Support <support@rcpt.test>',
      subject: '[Ticket#4711] Your order',
    }),
  ],
  [
    'new address',
    'auto_reply',
    ANN,
    null,
    fromAnn(
      'My email address has changed. Please use ann@new.test from now on. This is an automatic reply.\n',
      'Change of address',
      'Precedence: auto_reply\n',
    ),
  ],
  [
    'TMDA',
    'auto_reply',
    null,
    null,
    plain(
      'This message was created automatically by mail delivery software (TMDA).\n\nYour message attached below is being held because the address\n<news@acme.test> has not been verified.\n\nTo release your message for delivery, please send an empty message\nto the following address, or use your mailer\'s "Reply" feature.\n\n   ann-confirm-1714986611.4711.abcdef@rcpt.test\n',
      {
        from: `Ann <ann-confirm-1714986611@rcpt.test>`,
        subject: 'Please confirm your message',
        fields: 'Auto-Submitted: auto-replied\nX-Delivery-Agent: TMDA/1.1.12\n',
      },
    ),
  ],
  [
    'Spam Arrest',
    'auto_reply',
    null,
    null,
    plain(
      "ann here,\n\nI am protecting myself from receiving junk mail.\nJust this once, click the link below so I can receive your emails.\nYou won't have to do this again.\n",
      { from: 'ann@rcpt.test', subject: 'Re: Your order (verification)' },
    ),
  ],
  [
    'Boxbe',
    'auto_reply',
    null,
    null,
    plain(
      'Your message about "Your order" was waitlisted. Please add yourself to my Guest List so your future messages will go to my Inbox.\n',
      { from: 'ann@rcpt.test', subject: 'Re: Your order [Auto-reply]', fields: 'X-Boxbe-AutoReply: true\n' },
    ),
  ],
  [
    'receipt: displayed',
    'auto_reply',
    ANN,
    null,
    receipt('manual-action/MDN-sent-manually; displayed', 'Read: Your order', 'Your message was read on Monday.'),
  ],
  [
    'receipt: deleted unread',
    'auto_reply',
    ANN,
    null,
    receipt(
      'automatic-action/MDN-sent-automatically; deleted',
      'Not read: Your order',
      'Your message was deleted without being read.',
    ),
  ],
  [
    'receipt in German',
    'auto_reply',
    ANN,
    null,
    receipt(
      'manual-action/MDN-sent-manually; displayed',
      encoded('Gelesen: Ihre Bestellung'),
      'Ihre Nachricht wurde gelesen.',
    ),
  ],
  // Complaints.
  ...['abuse', 'fraud', 'virus', 'other', 'not-spam', 'opt-out'].map(
    (type): FreshMail => [`complaint: ${type}`, 'complaint', ANN, null, arf(type, `Original-Rcpt-To: <${ANN}>\n`)],
  ),
  ['complaint: redacted', 'complaint', null, null, arf('abuse', 'Original-Rcpt-To: <redacted@rcpt.test>\n')],
  [
    'complaint: header alone',
    'complaint',
    null,
    null,
    arf('abuse', '', `text/rfc822-headers\n\nReturn-Path: <b1@bounces.acme.test>\n${ORIGINAL}`),
  ],
  [
    'complaint: authentication',
    'complaint|unknown',
    null,
    null,
    arf('auth-failure', 'Auth-Failure: dmarc\nReported-Domain: acme.test\n'),
  ],
  [
    'complaint: Outlook.com',
    'complaint',
    ANN,
    null,
    plain(`--f2\nContent-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: ${ANN}\n${ORIGINAL}\n--f2--\n`, {
      from: 'staff@hotmail.com',
      subject: 'complaint about message from 192.0.2.7',
      type: 'multipart/mixed; boundary=f2',
    }),
  ],
  [
    'complaint: Yahoo',
    'complaint',
    null,
    null,
    arf('abuse', 'Original-Rcpt-To: ann@yahoo.com\nReported-Domain: acme.test\n').replace(
      'SomeGenerator/1.0',
      'Yahoo!-Mail-Feedback/2.0',
    ),
  ],
  [
    'complaint: AOL',
    'complaint',
    null,
    null,
    arf('abuse', 'Redacted-Address: redacted\nRedacted-Address: redacted@\n').replace('SomeGenerator/1.0', 'AOL SComp'),
  ],
  [
    'complaint: by SNS',
    'complaint',
    ANN,
    null,
    plain(
      JSON.stringify({
        notificationType: 'Complaint',
        complaint: { complainedRecipients: [{ emailAddress: ANN }], complaintFeedbackType: 'abuse' },
      }),
      { from: 'no-reply@sns.amazonaws.com', subject: 'AWS Notification Message' },
    ),
  ],
  [
    'complaint: in words with the mail',
    'complaint',
    null,
    null,
    plain(
      `--f3\nContent-Type: text/plain\n\nThis is an email abuse report for an email message with the message-id of 4711@acme.test received from IP address 192.0.2.7.\n--f3\nContent-Type: message/rfc822\n\n${ORIGINAL}\n--f3--\n`,
      { from: 'fbl@rcpt.test', subject: 'Abuse report', type: 'multipart/mixed; boundary=f3' },
    ),
  ],
  // What is delivered.
  [
    'success: Postfix',
    'delivered_notice',
    ANN,
    '2.0.0',
    report(
      `This is the mail system at host mail.acme.test.\n\nYour message was successfully delivered to the destination(s)\nlisted below. If the message was delivered to mailbox you will\nreceive no further notifications. Otherwise you may still receive\nnotifications of mail delivery errors from other systems.\n\n                   The mail system\n\n<${ANN}>: delivery via mx.rcpt.test[198.51.100.25]:25: 250 2.0.0 Ok: queued as 4Tq1zC0`,
      `Reporting-MTA: dns; mail.acme.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: relayed\nStatus: 2.0.0\nRemote-MTA: dns; mx.rcpt.test\nDiagnostic-Code: smtp; 250 2.0.0 Ok: queued as 4Tq1zC0\n`,
      { subject: 'Successful Mail Delivery Report' },
    ),
  ],
  [
    'success: expanded',
    'delivered_notice',
    ANN,
    null,
    report(
      'The message was expanded by a list.',
      `Reporting-MTA: dns; lists.rcpt.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: expanded\nStatus: 2.0.0\n`,
      { subject: 'Return receipt' },
    ),
  ],
  [
    'success: sendmail',
    'delivered_notice',
    ANN,
    '2.1.5',
    report(
      `The original message was received at Mon, 6 May 2024 09:10:11 GMT\nfrom app.acme.test [192.0.2.7]\n\n   ----- The following addresses had successful delivery notifications -----\n<${ANN}>  (successfully delivered to mailbox)\n\n   ----- Transcript of session follows -----\n<${ANN}>... Successfully delivered`,
      `Reporting-MTA: dns; mail.rcpt.test\n\nFinal-Recipient: RFC822; ${ANN}\nAction: delivered\nStatus: 2.1.5\n`,
      { from: 'Mail Delivery Subsystem <MAILER-DAEMON@mail.rcpt.test>', subject: 'Return receipt' },
    ),
  ],
  [
    'success: without fields',
    'delivered_notice',
    ANN,
    null,
    plain(
      `Your message has been successfully delivered to the following recipients:\n\n  ${ANN}\n\nSubject: Your order\n`,
      { subject: 'Delivery Status Notification (Success)' },
    ),
  ],
  // Nothing of all this.
  [
    'DMARC report',
    'unknown',
    null,
    null,
    plain(
      `--d1\nContent-Type: text/plain\n\nThis is a DMARC aggregate report for acme.test from rcpt.test.\n--d1\nContent-Type: application/gzip\nContent-Disposition: attachment; filename="rcpt.test!acme.test!1714953600!1715040000.xml.gz"\nContent-Transfer-Encoding: base64\n\nH4sIAAAAAAAA\n--d1--\n`,
      {
        from: 'noreply-dmarc@rcpt.test',
        subject: 'Report Domain: acme.test Submitter: rcpt.test Report-ID: 4711',
        type: 'multipart/mixed; boundary=d1',
      },
    ),
  ],
  [
    'TLS report',
    'unknown',
    null,
    null,
    plain(
      `--t1\nContent-Type: text/plain\n\nThis is an aggregate TLS report from rcpt.test\n--t1\nContent-Type: application/tlsrpt+gzip\nContent-Transfer-Encoding: base64\n\nH4sIAAAAAAAA\n--t1--\n`,
      {
        from: 'tlsrpt@rcpt.test',
        subject: 'Report Domain: acme.test Submitter: rcpt.test Report-ID: <4711@rcpt.test>',
        type: 'multipart/report; report-type="tlsrpt"; boundary=t1',
        fields: 'TLS-Report-Domain: acme.test\n',
      },
    ),
  ],
  [
    'human: asks about a bounce',
    'unknown',
    null,
    null,
    fromAnn(
      `Hi,\n\nyesterday I got this back, what is wrong?\n\n> <bob@else.test>: host mx.else.test said: 550 5.1.1 User unknown\n\nRegards, Ann\n`,
      'Undelivered mail?',
    ),
  ],
  [
    'human: answers',
    'unknown',
    null,
    null,
    fromAnn(
      'Thanks, I received the parcel. One item is missing. Could not be delivered, the driver said.\n',
      'Re: Your order',
    ),
  ],
  [
    'human: forwards a bounce as text',
    'unknown',
    null,
    null,
    fromAnn(
      `FYI\n\n---------- Forwarded message ----------\nFrom: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nSubject: Delivery Status Notification (Failure)\n\nDelivery to the following recipient failed permanently:\n\n     bob@else.test\n`,
      'Fwd: Delivery Status Notification (Failure)',
    ),
  ],
  [
    'human: holiday',
    'unknown',
    null,
    null,
    fromAnn('Do you deliver on the bank holiday? Our office is open on Monday.\n', 'Question about delivery'),
  ],
  [
    'spam with the subject of a bounce',
    'unknown',
    null,
    null,
    plain('Cheap watches! Visit http://spam.test and buy now.\n', {
      from: 'Best Offers <offers@spam.test>',
      subject: 'Mail delivery failed: returning message to sender',
    }),
  ],
  [
    'spam: storage warning',
    'unknown',
    null,
    null,
    plain('Dear user, your mailbox is full. Click http://phish.test to upgrade your quota or lose your account.\n', {
      from: 'Mail Admin <admin@phish.test>',
      subject: 'Your mailbox is almost full',
    }),
  ],
  [
    'newsletter',
    'unknown',
    null,
    null,
    plain('This week: how to reach the inbox. Unsubscribe here.\n', {
      from: 'News <news@other.test>',
      subject: 'Email delivery: ten mistakes',
      fields: 'List-Unsubscribe: <https://other.test/u>\nPrecedence: bulk\n',
    }),
  ],
  ['empty text', 'unknown', null, null, fromAnn('\n', '')],
];
