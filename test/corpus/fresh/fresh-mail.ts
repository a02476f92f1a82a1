// What the fresh mails are made of: MIME around texts, and the frames in which the common servers
// put what they have to say. The texts are made up after the formats, none was ever sent.

/** Of the kinds, any is right; null: the mail has none, or it does not matter. */
export type FreshMail = readonly [
  name: string,
  kinds: string,
  recipient: string | null,
  status: string | null,
  mail: string | Buffer,
];

export const SENDER = 'news@acme.test';
export const ANN = 'ann@rcpt.test';

export const ORIGINAL = [
  'Received: from app.acme.test (app.acme.test [192.0.2.7]) by mail.acme.test with ESMTPS id 4Tq1zC0; Mon, 6 May 2024 09:10:11 +0000',
  `From: Acme <${SENDER}>`,
  `To: ${ANN}`,
  'Subject: Your order',
  'Message-ID: <20240506091011.4711@acme.test>',
  'Date: Mon, 6 May 2024 09:10:11 +0000',
  '',
  'Thank you. Your order is on its way.',
  '',
].join('\n');

export interface Frame {
  from?: string;
  subject?: string;
  /** More fields of the header, each with its line end. */
  fields?: string;
  /** Of the text part, without `Content-Type:`. */
  type?: string;
}

const DAEMON = 'MAILER-DAEMON@mx.rcpt.test (Mail Delivery System)';

/** A mail that is one text. */
export function plain(text: string, frame: Frame = {}): string {
  const { from = DAEMON, subject = 'Undelivered Mail Returned to Sender', fields = '', type } = frame;
  const mime = type ? `MIME-Version: 1.0\nContent-Type: ${type}\n` : '';
  return `Return-Path: <>\nFrom: ${from}\nTo: ${SENDER}\nSubject: ${subject}\nDate: Mon, 6 May 2024 09:12:00 +0000\n${fields}${mime}\n${text}`;
}

/** RFC 6522, with its text, its fields and its original; a part that is empty is left out. */
export function report(text: string, status: string, frame: Frame & { original?: string } = {}): string {
  const { type = 'text/plain; charset=us-ascii', original = `message/rfc822\n\n${ORIGINAL}`, ...rest } = frame;
  const parts = [
    text === '' ? '' : `Content-Type: ${type}\n\n${text}\n`,
    status === '' ? '' : `Content-Type: message/delivery-status\n\n${status}\n`,
    original === '' ? '' : `Content-Type: ${original}\n`,
  ].filter((part) => part !== '');
  const body = parts.map((part) => `--=_b1/acme\n${part}\n`).join('');
  return plain(`${body}--=_b1/acme--\n`, {
    ...rest,
    type: 'multipart/report; report-type=delivery-status;\n\tboundary="=_b1/acme"',
  });
}

/** The fields of one recipient; `said` as it stands behind `smtp;`. */
export function fieldsOf(action: string, status: string, said: string | null, recipient = ANN): string {
  const why = said === null ? '' : `Diagnostic-Code: smtp; ${said}\n`;
  return `Reporting-MTA: dns; mail.acme.test\nArrival-Date: Mon, 6 May 2024 09:10:11 +0000\n\nFinal-Recipient: rfc822; ${recipient}\nAction: ${action}\nStatus: ${status}\n${why}`;
}

/** Postfix: a reply of a remote server, in its text and its fields. */
export function postfix(status: string, reply: string, { host = 'mx.rcpt.test', command = 'RCPT TO' } = {}): string {
  const said = `host ${host}[198.51.100.25] said: ${reply} (in reply to ${command} command)`;
  const folded = said.replace(/(.{50,70}) /g, '$1\n    ');
  const text = `This is the mail system at host mail.acme.test.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\nFor further assistance, please send mail to postmaster.\n\nIf you do so, please include this problem report. You can\ndelete your own text from the attached returned message.\n\n                   The mail system\n\n<${ANN}>: ${folded}\n`;
  const fields = `Reporting-MTA: dns; mail.acme.test\nX-Postfix-Queue-ID: 4Tq1zC0\nX-Postfix-Sender: rfc822; ${SENDER}\nArrival-Date: Mon, 6 May 2024 09:10:11 +0000 (UTC)\n\nFinal-Recipient: rfc822; ${ANN}\nOriginal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: ${status}\nRemote-MTA: dns; ${host}\nDiagnostic-Code: smtp; ${reply.replace(/(.{50,60}) /g, '$1\n    ')}\n`;
  return report(text, fields);
}

/** Postfix of a failure of its own: no server was talked to, or none answered. */
export function postfixOwn(status: string, why: string, action = 'failed'): string {
  const delayed = action === 'delayed';
  const opening = delayed
    ? '####################################################################\n# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #\n####################################################################\n\nYour message could not be delivered for more than 4 hour(s).\nIt will be retried until it is 5 day(s) old.\n'
    : "I'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n";
  return report(
    `This is the mail system at host mail.acme.test.\n\n${opening}\nFor further assistance, please send mail to postmaster.\n\n                   The mail system\n\n<${ANN}>: ${why}\n`,
    `Reporting-MTA: dns; mail.acme.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: ${action}\nStatus: ${status}\nDiagnostic-Code: X-Postfix; ${why}\n`,
    { subject: delayed ? 'Delayed Mail (still being retried)' : 'Undelivered Mail Returned to Sender' },
  );
}

/** Exim up to 4.86: no fields, the copy of the message below a line. */
export function exim(why: string, { delay = false, header = true, recipient = ANN } = {}): string {
  const opening = delay
    ? `This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue on mail.acme.test.\n\nThe message identifier is:     1s3Vab-0004aB-2x\nThe subject of the message is: Your order\nThe date of the message is:    Mon, 6 May 2024 09:10:11 +0000\n\nThe address to which the message has not yet been delivered is:\n\n  ${recipient}\n    Delay reason: ${why}\n\nNo action is required on your part. Delivery attempts will continue for\nsome time, and this warning may be repeated at intervals if the message\nremains undelivered. Eventually the mail delivery software will give up,\nand when that happens, the message will be returned to you.\n`
    : `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ${recipient}\n    ${why}\n\n------ This is a copy of the message, including all the headers. ------\n\n${ORIGINAL}`;
  return plain(opening, {
    from: 'Mail Delivery System <Mailer-Daemon@mail.acme.test>',
    subject: delay
      ? 'Warning: message 1s3Vab-0004aB-2x delayed 24 hours'
      : 'Mail delivery failed: returning message to sender',
    fields: `${header && !delay ? `X-Failed-Recipients: ${recipient}\n` : ''}Auto-Submitted: auto-replied\n`,
  });
}

/** Sendmail 8: a transcript, and fields where the version knows them. */
export function sendmail(lines: { failed: string; transcript: string; status: string; said: string }): string {
  const { failed, transcript, status, said } = lines;
  return report(
    `The original message was received at Mon, 6 May 2024 09:10:11 GMT\nfrom app.acme.test [192.0.2.7]\n\n   ----- The following addresses had permanent fatal errors -----\n${failed}\n\n   ----- Transcript of session follows -----\n${transcript}`,
    `Reporting-MTA: dns; mail.acme.test\nReceived-From-MTA: DNS; app.acme.test\nArrival-Date: Mon, 6 May 2024 09:10:11 GMT\n\nFinal-Recipient: RFC822; ${ANN}\nAction: failed\nStatus: ${status}\nRemote-MTA: DNS; mx.rcpt.test\nDiagnostic-Code: SMTP; ${said}\nLast-Attempt-Date: Mon, 6 May 2024 09:10:12 GMT\n`,
    {
      from: 'Mail Delivery Subsystem <MAILER-DAEMON@mail.acme.test>',
      subject: 'Returned mail: see transcript for details',
    },
  );
}

/** Qmail's QSBMF: a paragraph for each recipient, and a line above the copy. */
export function qmail(paragraphs: string): string {
  return plain(
    `Hi. This is the qmail-send program at mail.acme.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n${paragraphs}\n--- Below this line is a copy of the message.\n\nReturn-Path: <${SENDER}>\n${ORIGINAL}`,
    { from: 'MAILER-DAEMON@mail.acme.test', subject: 'failure notice' },
  );
}
