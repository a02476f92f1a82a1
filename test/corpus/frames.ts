// The report formats in which servers, gateways and providers put a reply before people: what they write around it must
// neither hide its words nor add to them.

export const BOB = 'bob.b@there.test';

const SENDER = 'news@acme.test';
const DAEMON = 'MAILER-DAEMON@mx.rcpt.test (Mail Delivery System)';
const ORIGINAL = `Received: by mail.acme.test; Mon, 6 May 2024 09:10:11 +0000\nFrom: Acme <${SENDER}>\nTo: Bob <${BOB}>\nSubject: Invoice 12\nMessage-ID: <12@acme.test>\n\nPlease pay.\n`;

/** A mail that is one text; `more` are further header fields, each with its line end. */
function notice(text: string, from: string, subject: string, more = ''): string {
  return `Return-Path: <>\nFrom: ${from}\nTo: ${SENDER}\nSubject: ${subject}\nDate: Mon, 6 May 2024 09:12:00 +0000\n${more}\n${text}`;
}

/** RFC 6522. */
function report(text: string, fields: string, { from = DAEMON, subject }: { from?: string; subject: string }): string {
  const parts = [
    `Content-Type: text/plain; charset=us-ascii\n\n${text}\n`,
    `Content-Type: message/delivery-status\n\n${fields}\n`,
    `Content-Type: message/rfc822\n\n${ORIGINAL}\n`,
  ];
  const type = 'multipart/report; report-type=delivery-status;\n\tboundary="=_b1/acme"';
  const body = parts.map((part) => `--=_b1/acme\n${part}\n`).join('');
  return notice(`${body}--=_b1/acme--\n`, from, subject, `MIME-Version: 1.0\nContent-Type: ${type}\n`);
}

export const FRAMES: Readonly<Record<string, (reply: string) => string>> = {
  postfixText: (reply) =>
    notice(
      `This is the mail system at host mail.acme.test.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\nFor further assistance, please send mail to postmaster.\n\n<${BOB}>: host mx.there.test[198.51.100.25] said: ${reply} (in reply to RCPT TO command)\n`,
      'MAILER-DAEMON@mail.acme.test',
      'Undelivered Mail Returned to Sender',
    ),
  exim: (reply) =>
    notice(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ${BOB}\n    host mx.there.test [198.51.100.25]\n    SMTP error from remote mail server after RCPT TO:<${BOB}>:\n    ${reply}\n\n------ This is a copy of the message, including all the headers. ------\n\n${ORIGINAL}`,
      'Mail Delivery System <Mailer-Daemon@acme.test>',
      'Mail delivery failed: returning message to sender',
      `X-Failed-Recipients: ${BOB}\n`,
    ),
  qmail: (reply) =>
    notice(
      `Hi. This is the qmail-send program at acme.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<${BOB}>:\n198.51.100.25 does not like recipient.\nRemote host said: ${reply}\nGiving up on 198.51.100.25.\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      'MAILER-DAEMON@acme.test',
      'failure notice',
    ),
  sendmail: (reply) =>
    notice(
      `The original message was received at Mon, 6 May 2024 09:10:11 GMT\nfrom app.acme.test [192.0.2.7]\n\n   ----- The following addresses had permanent fatal errors -----\n<${BOB}>\n    (reason: ${reply})\n\n   ----- Transcript of session follows -----\n... while talking to mx.there.test.:\n>>> RCPT To:<${BOB}>\n<<< ${reply}\n554 5.0.0 Service unavailable\n\n   ----- Original message follows -----\n${ORIGINAL}`,
      'Mail Delivery Subsystem <MAILER-DAEMON@mail.acme.test>',
      'Returned mail: see transcript for details',
    ),
  james: (reply) =>
    notice(
      `Hi. This is the James mail server at mx.acme.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out. Below\nI include the list of recipients and the reason why I was unable to deliver\nyour message.\n\nFailed recipient(s):\n${BOB}\n\nError message:\n${reply}\n\nMessage details:\n  Subject: x\n  MAIL FROM: ${SENDER}\n  RCPT TO: ${BOB}\n  From: Acme <${SENDER}>\n  To: ${BOB}\n  Size (in bytes): 2048\n`,
      'postmaster@mx.acme.test',
      '[BOUNCE] x',
    ),
  surf: (reply) =>
    notice(
      `Your message could not be sent.\nA transcript of the attempts to send the message follows.\nThe number of attempts made: 1\nAddressed To: ${BOB}\n\nMon 6 May 2024 09:12:00 +0000\nFailed to send to identified host,\n${BOB}: [198.51.100.25], ${reply}\n--- Message non-deliverable.\n`,
      'Mail Delivery System <Mailer-Daemon@gw.acme.test>',
      'Message could not be delivered',
    ),
  mfoundry: (reply) =>
    notice(
      `Unable to deliver message to: <${BOB}>\nDelivery failed for the following reason:\nServer mx.there.test[198.51.100.25] failed with: ${reply}\n\nThis has been a permanent failure.  No further delivery attempts will be made.\n`,
      '<MAILER-DAEMON@relay.acme.test>',
      'Message delivery has failed',
    ),
  mmarshal: (reply) =>
    notice(
      `Your message:\n   From:    ${SENDER}\n   Subject: Your order\n\nCould not be delivered because of\n\n${reply}\n\nThe following recipients were affected: \n    ${BOB}\n\nAdditional Information\n======================\nOriginal Sender:    <${SENDER}>\nSender-MTA:         <192.0.2.7>\nRemote-MTA:         <198.51.100.25>\n`,
      'MailMarshal <postmaster@relay.acme.test>',
      'Undeliverable Mail: "Your order"',
    ),
  x6: (reply) =>
    notice(
      `We had trouble delivering your message. Full details follow:\n\nSubject: 'x'\nDate:    'Mon, 6 May 2024'\n\n1 error(s):\n\nSMTP Server <mx.there.test> rejected recipient <${BOB}> (Error following RCPT command). It responded as follows: [${reply}]\n`,
      'postmaster@relay.acme.test',
      'There was an error sending your mail',
    ),
  inter: (reply) =>
    notice(
      `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the destination computer refused\nto accept it (the error message is reproduced below).  This type of error\nis usually due to a mis-configured account or mail delivery system on the\ndestination computer; however, it could be caused by your message since\nsome mail systems refuse messages with invalid header information, or if\nthey are too large.\n\nYour message was rejected by mx.there.test for the following reason:\n\n     ${reply}\n\nThe following recipients did not receive this message:\n\n     <${BOB}>\n\nPlease reply to Postmaster@acme.test\nif you feel this message to be in error.\n`,
      'Mail Administrator <Postmaster@acme.test>',
      'Mail System Error - Returned Mail',
    ),
  hmail: (reply) =>
    notice(
      `Your message did not reach some or all of the intended recipients.\n\n   Sent: Mon, 6 May 2024\n   Subject: x\n\nThe following recipient(s) could not be reached:\n\n${BOB}\n   Error Type: SMTP\n   Remote server (198.51.100.25) issued an error.\n   hMailServer sent: RCPT TO:<${BOB}>\n   Remote server replied: ${reply}\n\nhMailServer\n`,
      'mailer-daemon@acme.test',
      'Message undeliverable: x',
    ),
  mdaemon: (reply) =>
    notice(
      `The attached message had PERMANENT fatal delivery errors!\n\nAfter one or more unsuccessful delivery attempts the attached message has\nbeen removed from the mail queue on this server.  The number and frequency\nof delivery attempts are determined by local configuration parameters.\n\nYOUR MESSAGE WAS NOT DELIVERED TO ONE OR MORE RECIPIENTS!\n\n--- Session Transcript ---\n Mon 2024-05-06 09:12:00: Attempting SMTP connection to [198.51.100.25:25]\n Mon 2024-05-06 09:12:00: <-- 220 mx.there.test ESMTP\n Mon 2024-05-06 09:12:01: --> MAIL From:<${SENDER}>\n Mon 2024-05-06 09:12:01: <-- 250 OK\n Mon 2024-05-06 09:12:01: --> RCPT To:<${BOB}>\n Mon 2024-05-06 09:12:01: <-- ${reply}\n Mon 2024-05-06 09:12:01: --> QUIT\n--- End Transcript ---\n`,
      'MDaemon@acme.test',
      'Permanent Delivery Failure',
    ),
  kerio: (reply) =>
    report(
      `Your message has encountered delivery problems.\n\nDelivery to the following recipients failed:\n\n  <${BOB}>\n  (delivery attempted to mx.there.test)\n    Error: ${reply}\n`,
      `Reporting-MTA: dns; kerio.acme.test\n\nFinal-Recipient: rfc822;${BOB}\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; ${reply}\n`,
      { subject: 'Delivery failure (x)' },
    ),
  sun: (reply) =>
    report(
      `This report relates to a message you sent with the following header fields:\n\n  Message-id: <12@acme.test>\n  From: ${SENDER}\n  To: ${BOB}\n\nYour message cannot be delivered to the following recipients:\n\n  Recipient address: ${BOB}\n  Reason: Remote SMTP server has rejected address\n  Diagnostic code: smtp;${reply}\n  Remote system: dns;mx.there.test (TCP|192.0.2.7|4711|198.51.100.25|25) (mx.there.test ESMTP)\n`,
      `Reporting-MTA: dns;ims.acme.test (tcp-daemon)\n\nOriginal-recipient: rfc822;${BOB}\nFinal-recipient: rfc822;${BOB}\nAction: failed\nStatus: 5.0.0 (Remote SMTP server has rejected address)\nRemote-MTA: dns;mx.there.test\nDiagnostic-code: smtp;${reply}\n`,
      { subject: 'Delivery Notification: Delivery has failed' },
    ),
  gmail: (reply) =>
    notice(
      `Delivery to the following recipient failed permanently:\n\n     ${BOB}\n\nTechnical details of permanent failure: \nGoogle tried to deliver your message, but it was rejected by the server for the recipient domain there.test by mx.there.test. [198.51.100.25].\n\nThe error that the other server returned was:\n${reply}\n\n----- Original message -----\n\n${ORIGINAL}`,
      'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      'Delivery Status Notification (Failure)',
      `X-Failed-Recipients: ${BOB}\n`,
    ),
  gmailold: (reply) =>
    notice(
      `Delivery to the following recipient failed permanently:\n\n     ${BOB}\n\nTechnical details of permanent failure: \nPERM_FAILURE: SMTP Error (state 14): ${reply}\n\n   ----- Original message -----\n\n${ORIGINAL}`,
      'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      'Delivery Status Notification (Failure)',
      `X-Failed-Recipients: ${BOB}\n`,
    ),
  exchange: (reply) =>
    report(
      `Delivery has failed to these recipients or groups:\n\nBob (${BOB})\nYour message wasn't delivered because the recipient's email provider rejected it. Please check the address and try again, or contact your email admin.\n\nDiagnostic information for administrators:\n\nGenerating server: x.prod.outlook.com\n\n${BOB}\nmx.there.test\nRemote Server returned '${reply}'\n\nOriginal message headers:\n\n`,
      `Reporting-MTA: dns;x.prod.outlook.com\nReceived-From-MTA: dns;acme.test\n\nFinal-Recipient: rfc822;${BOB}\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp;${reply}\nRemote-MTA: dns;mx.there.test\n`,
      { subject: 'Undeliverable: x' },
    ),
  ironport: (reply) =>
    notice(
      `The following message to <${BOB}> was undeliverable.\nThe reason for the problem:\n5.3.0 - Other mail system problem 550-'${reply.replace(/^\d\d\d /, '')}'\n`,
      '"Mail Delivery System" <MAILER-DAEMON@esa.acme.test>',
      'Delivery Status Notification (Failure)',
    ),
  dragonfly: (reply) =>
    notice(
      `Hi. This is the DragonFly Mail Agent v0.13 at mail.acme.test.\n\nThere was an error delivering your mail to <${BOB}>.\n\nmx.there.test [198.51.100.25] did not like our RCPT TO:\n${reply}\n\nOriginal message follows.\n\n${ORIGINAL}`,
      'MAILER-DAEMON <>',
      'Mail delivery failed',
    ),
  opensmtpd: (reply) =>
    notice(
      `Hi!\n\nThis is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\nAn error has occurred while attempting to deliver a message for\nthe following list of recipients:\n\n${BOB}: ${reply}\n\nBelow is a copy of the original message:\n\n${ORIGINAL}`,
      'Mailer Daemon <MAILER-DAEMON@mail.acme.test>',
      'Delivery status notification: error',
    ),
  gmx: (reply) =>
    notice(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to\none or more of its recipients. This is a permanent error.\nThe following address failed:\n\n"${BOB}":\nSMTP error from remote server after RCPT command:\nhost: mx.there.test\n${reply}\n\n--- The header of the original message is following. ---\n\n${ORIGINAL}`,
      '"GMX Mailer Daemon" <mailer-daemon@gmx.de>',
      'Mail delivery failed: returning message to sender',
    ),
  einsundeins: (reply) =>
    notice(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of\nits recipients. The following addresses failed:\n\n${BOB}:\nSMTP error from remote server for RCPT TO command, host: mx.there.test (198.51.100.25) reason: ${reply}\n\n--- The header of the original message is following. ---\n\n${ORIGINAL}`,
      '"Mail Delivery System" <mailer-daemon@kundenserver.de>',
      'Mail delivery failed: returning message to sender',
    ),
  imss: (reply) =>
    notice(
      `Sent <<< RCPT TO:<${BOB}>\nReceived >>> ${reply}\n\nCould not deliver message to following recipients:\n\t<${BOB}>\n`,
      '"InterScan MSS" <imss@acme.test>',
      'Mail could not be delivered',
    ),
  yahoo: (reply) =>
    notice(
      `Sorry, we were unable to deliver your message to the following address.\n\n<${BOB}>:\nRemote host said: ${reply} [RCPT_TO]\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      'MAILER-DAEMON@yahoo.com',
      'Failure Notice',
    ),
  courier: (reply) =>
    report(
      `This is a delivery status notification from mail.acme.test,\nrunning the Courier mail server, version 0.65.\n\n                           UNDELIVERABLE MAIL\n\nYour message to the following recipients cannot be delivered:\n\n<${BOB}>:\n    mx.there.test [198.51.100.25]:\n    >>> RCPT TO:<${BOB}>\n    <<< ${reply}\n`,
      `Reporting-MTA: dns; mail.acme.test\n\nFinal-Recipient: rfc822; ${BOB}\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; mx.there.test [198.51.100.25]\nDiagnostic-Code: smtp; ${reply}\n`,
      { from: '"Courier mail server at mail.acme.test" <@>', subject: 'NOTICE: mail delivery status.' },
    ),
  zoho: (reply) =>
    notice(
      `This message was created automatically by mail delivery software.\n A message that you sent could not be delivered to one or more of its recipients. This is a permanent error. \n\n${BOB} Error, ERROR_CODE :550, ERROR_CODE :${reply.replace(/^\d\d\d /, '')}\n\nReceived:from acme.test\n`,
      'mailer-daemon@mail.zoho.test',
      'Undelivered Mail Returned to Sender',
    ),
  zimbraText: (reply) =>
    notice(
      `Your message to <${BOB}> was not delivered.\n\nThe mail server answered:\n  ${reply}\n\nPlease check the address of the recipient and try again, or contact your administrator.\n`,
      'MAILER-DAEMON@acme.test',
      'Undeliverable message',
    ),
};
