// A second set of reports: older and rarer servers, whose words no standard knew, and common ones in other moods.
import { ANN, exim, type FreshMail, fieldsOf, ORIGINAL, plain, qmail, report, SENDER } from './fresh-mail.ts';

const from = (name: string, subject: string, fields = '') => ({ from: name, subject, fields });

export const OLDER_SERVERS: FreshMail[] = [
  [
    'InterMail: unknown',
    'hard',
    ANN,
    null,
    plain(
      `This Message was undeliverable due to the following reason:\n\nEach of the following recipients was rejected by a remote mail server.\nThe reasons given by the server are included to help you determine why\neach recipient was rejected.\n\n    Recipient: <${ANN}>\n    Reason:    <${ANN}>... User unknown\n\n\nPlease reply to Postmaster@mx.acme.test\nif you feel this message to be in error.\n`,
      from('Mail Administrator <Postmaster@mx.acme.test>', 'Mail System Error - Returned Mail'),
    ),
  ],
  [
    'InterMail: quota',
    'soft',
    ANN,
    null,
    plain(
      `This Message was undeliverable due to the following reason:\n\nOne or more of the recipients of your message did not receive it\nbecause they would have exceeded their mailbox size limit.  It\nmay be possible for you to successfully send your message again\nat a later time; however, if it is large, it is recommended that\nyou first contact the recipients to confirm that the space will be\navailable for your message when you send it.\n\n     User quota exceeded: SMTP <${ANN}>\n\nPlease reply to Postmaster@mx.rcpt.test\nif you feel this message to be in error.\n`,
      from('Mail Administrator <Postmaster@mx.rcpt.test>', 'Mail System Error - Returned Mail'),
    ),
  ],
  [
    'InterMail: no host',
    'hard',
    ANN,
    null,
    plain(
      `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the destination computer was\nnot found.  Carefully check that it was spelled correctly and try\nsending it again if there were any mistakes.\n\n     Host rcpt.test not found\n\nThe following recipients did not receive your message:\n\n     <${ANN}>\n\nPlease reply to Postmaster@mx.acme.test\nif you feel this message to be in error.\n`,
      from('Mail Administrator <Postmaster@mx.acme.test>', 'Mail System Error - Returned Mail'),
    ),
  ],
  [
    'InterMail: refused',
    'soft',
    ANN,
    null,
    plain(
      `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the destination computer refused\nto accept it (the error message is reproduced below).  This type of error\nis usually due to a mis-configured account or mail delivery system on the\ndestination computer; however, it could be caused by your message since\nsome mail systems refuse messages with invalid header information, or if\nthey are too large.\n\nYour message was rejected by mx.rcpt.test for the following reason:\n\n     452 4.2.2 Mailbox full\n\nThe following recipients did not receive your message:\n\n     <${ANN}>\n`,
      from('Mail Administrator <Postmaster@mx.acme.test>', 'Mail System Error - Returned Mail'),
    ),
  ],
  [
    'InterMail: given up',
    'soft',
    ANN,
    null,
    plain(
      `This Message was undeliverable due to the following reason:\n\nYour message was not delivered within 5 days and 0 hours.\nHost mx.rcpt.test is not responding.\n\nThe following recipients did not receive your message:\n\n     <${ANN}>\n`,
      from('Mail Administrator <Postmaster@mx.acme.test>', 'Mail System Error - Returned Mail'),
    ),
  ],
  [
    'MailFoundry',
    'hard',
    ANN,
    null,
    plain(
      `Unable to deliver message to: <${ANN}>\nDelivery failed for the following reason:\nServer mx.rcpt.test[198.51.100.25] failed with: 550 <${ANN}> No such user here\n\nThis has been a permanent failure.  No further delivery attempts will be made.\n\n\n${ORIGINAL}`,
      from('<MAILER-DAEMON@mx.acme.test>', 'Message delivery has failed'),
    ),
  ],
  [
    'm-FILTER in Japanese',
    'hard',
    ANN,
    null,
    plain(
      `お送りになったメールは配送できませんでした。\n\n-------server message\n550 5.1.1 unknown user <${ANN}>\n\n-------original message\n${ORIGINAL}`,
      { ...from('m-FILTER <postmaster@mx.rcpt.test>', 'failure notice'), type: 'text/plain; charset=utf-8' },
    ),
  ],
  [
    'Activehunter',
    'hard',
    ANN,
    null,
    plain(
      `  ----- The following addresses had permanent fatal errors -----\n\n>>> ${ANN} <<<\n550 sorry, no mailbox here by that name (#5.1.1 - chkusr)\n\n  ----- Original message follows -----\n\n${ORIGINAL}`,
      from('MAILER-DAEMON@mx.acme.test', 'FAILURE NOTICE :'),
    ),
  ],
  [
    'mxlogic',
    'hard',
    ANN,
    null,
    plain(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error.\nThe following address failed:\n\n  <${ANN}>: 550 5.1.1 unknown recipient\n\nIncluded is a copy of the message header:\n${ORIGINAL}`,
      from('<mxl~4711@mail.acme.test>', 'Mail delivery failed: returning message to sender'),
    ),
  ],
  [
    'CompuServe',
    'hard',
    ANN,
    null,
    plain(
      `Your message could not be delivered as addressed.\n\n? EMDNPR - Invalid receiver address: ${ANN}\n\n--- Returned Message ---\n\n${ORIGINAL}`,
      from('Electronic Postmaster <postmaster@compuserve.test>', 'Undeliverable Message'),
    ),
  ],
  [
    'Lotus cc:Mail',
    'hard',
    ANN,
    null,
    plain(
      `Message is undeliverable.\nReason: User is unknown\nOriginal text follows:\n----------------------\n${ORIGINAL}`,
      from('POSTMASTER@rcpt.test', 'Message not deliverable'),
    ),
  ],
  [
    'SLmail',
    'hard',
    ANN,
    null,
    plain(
      `This message was undeliverable to the following recipients:\n\n   ${ANN}\n\nThe mailbox does not exist on this system.\n`,
      from('"SLmail" <postmaster@rcpt.test>', 'Undeliverable message'),
    ),
  ],
  [
    'SMTP32, several',
    'hard',
    'ann@rcpt.test',
    null,
    plain(
      `Unknown host: ann@rcpt.test\nUnknown user: bob@rcpt.test\n\n\nOriginal message follows.\n\n${ORIGINAL}`,
      from('Postmaster <postmaster@mail.acme.test>', 'Undeliverable Mail'),
    ),
  ],
  [
    'VMS MMDF',
    'hard',
    ANN,
    null,
    plain(
      `The message could not be delivered to the following addresses:\n\n   ${ANN}: (USER) Unknown user name in "${ANN}"\n\nYour message follows:\n\n${ORIGINAL}`,
      from('mmdf@relay.acme.test', 'Failed mail  (msg.aa04711)'),
    ),
  ],
  [
    'PMDF',
    'hard',
    ANN,
    null,
    plain(
      `This report relates to a message you sent with the following header fields:\n\n  Message-id: <4711@acme.test>\n\nYour message cannot be delivered to the following recipients:\n\n  Recipient address: ${ANN}\n  Reason: Illegal host/domain name found\n\n`,
      from('PMDF e-Mail Interconnect <postmaster@mail.acme.test>', 'Delivery Notification: Delivery has failed'),
    ),
  ],
  [
    'Messaging Server: full',
    'soft',
    ANN,
    null,
    plain(
      `Your message cannot be delivered to the following recipients:\n\n  Recipient address: ${ANN}\n  Original address: ${ANN}\n  Reason: over quota\n\n`,
      from('Internet Mail Delivery <postmaster@mail.rcpt.test>', 'Delivery Notification: Delivery has failed'),
    ),
  ],
  [
    'Messaging Server: delay',
    'soft',
    ANN,
    null,
    report(
      `Your message has been enqueued and undeliverable for 2 days\nto the following recipients:\n\n  Recipient address: ${ANN}\n  Reason: unable to deliver this message after 2 days\n\nDelivery attempt history for your mail:\n\nMon, 6 May 2024 09:10:11 +0000\nTCP active open: Failed connect()    Error: Connection refused\n`,
      `Reporting-MTA: dns;mail.acme.test (tcp-daemon)\n\nOriginal-recipient: rfc822;${ANN}\nFinal-recipient: rfc822;${ANN}\nAction: delayed\nStatus: 4.4.7\n`,
      from('Internet Mail Delivery <postmaster@mail.acme.test>', 'Delivery Notification: Delivery delayed'),
    ),
  ],
  [
    'AltaVista, sendmail clone',
    'soft',
    ANN,
    null,
    plain(
      `   ----- Transcript of session follows -----\n550 ${ANN}... Can't send to rcpt.test: Connection timed out, message has been in the queue for 4 days\n\n   ----- Unsent message follows -----\n${ORIGINAL}`,
      from('Mail Delivery Subsystem <MAILER-DAEMON@relay.acme.test>', 'Returned mail: unable to deliver mail'),
    ),
  ],
  [
    'sendmail local aliases',
    'soft|hard|block',
    ANN,
    null,
    plain(
      `   ----- The following addresses had permanent fatal errors -----\n"|/usr/local/bin/filter ann"\n    (reason: 127)\n    (expanded from: <${ANN}>)\n\n   ----- Transcript of session follows -----\nsh: filter not available for sendmail programs\n554 5.0.0 unknown mailer error 127\n`,
      from('Mail Delivery Subsystem <MAILER-DAEMON@mx.rcpt.test>', 'Returned mail: see transcript for details'),
    ),
  ],
  [
    'sendmail: deferred, then expired',
    'soft',
    ANN,
    null,
    plain(
      `The original message was received at Wed, 1 May 2024 09:10:11 GMT\n\n   ----- The following addresses had permanent fatal errors -----\n<${ANN}>\n\n   ----- Transcript of session follows -----\n<${ANN}>... Deferred: Connection refused by mx.rcpt.test.\nMessage could not be delivered for 5 days\nMessage will be deleted from queue\n`,
      from('Mail Delivery Subsystem <MAILER-DAEMON@mail.acme.test>', 'Returned mail: Cannot send message for 5 days'),
    ),
  ],
  [
    'qmail: MIME, in German',
    'hard',
    ANN,
    null,
    plain(
      `Hallo, hier ist das qmail-send Programm auf mail.acme.test.\nIch konnte Ihre Nachricht leider nicht an die folgenden Adressen zustellen.\nDies ist ein permanenter Fehler.\n\n<${ANN}>:\n198.51.100.25 does not like recipient.\nRemote host said: 550 5.1.1 Empfaenger unbekannt\nGiving up on 198.51.100.25.\n\n--- Unter dieser Linie befindet sich die urspruengliche Nachricht.\n\n${ORIGINAL}`,
      from('MAILER-DAEMON@mail.acme.test', 'failure notice'),
    ),
  ],
  [
    'qmail: too many hops',
    'soft',
    ANN,
    null,
    qmail(
      `<${ANN}>:\n198.51.100.25 failed after I sent the message.\nRemote host said: 554 too many hops, this message is looping (#5.4.6)\n`,
    ),
  ],
  [
    'qmail: no MX',
    'soft|hard',
    ANN,
    null,
    qmail(`<${ANN}>:\nSorry, I couldn't find a mail exchanger or IP address. (#5.4.4)\n`),
  ],
  [
    'qmail: sender refused',
    'block',
    ANN,
    null,
    qmail(
      `<${ANN}>:\nConnected to 198.51.100.25 but sender was rejected.\nRemote host said: 553 5.1.8 Domain of sender does not exist\n`,
    ),
  ],
  [
    'qmail: greeting refused',
    'block',
    ANN,
    null,
    qmail(
      `<${ANN}>:\nConnected to 198.51.100.25 but greeting failed.\nRemote host said: 554 Your IP address 192.0.2.7 is on our block list\nI'm not going to try again; this message has been in the queue too long.\n`,
    ),
  ],
  [
    'qmail: died',
    'soft',
    ANN,
    null,
    qmail(
      `<${ANN}>:\nConnected to 198.51.100.25 but connection died. (#4.4.2)\nI'm not going to try again; this message has been in the queue too long.\n`,
    ),
  ],
  ['qmail: disk quota', 'soft', ANN, null, qmail(`<${ANN}>:\nmaildrop: maildir over quota.\n`)],
  ['qmail: user over quota, no code', 'soft', ANN, null, qmail(`<${ANN}>:\nuser is over quota\n`)],
  [
    'qmail: bouncesaying',
    'soft|hard|block',
    ANN,
    null,
    qmail(`<${ANN}>:\nWe do not read mail here. Please call us.\n`),
  ],
  ['Exim: domain in DNS', 'hard', ANN, null, exim('an MX or SRV record indicated no SMTP service')],
  ['Exim: null MX host', 'soft|hard', ANN, null, exim('lowest numbered MX record points to local host')],
  [
    'Exim: all hosts failing',
    'soft',
    ANN,
    null,
    exim('all hosts for rcpt.test have been failing for a long time (and retry time not reached)'),
  ],
  ['Exim: forced to fail', 'soft|hard|block', ANN, null, exim('delivery cancelled by administrator')],
  [
    'Exim: frozen',
    'soft',
    ANN,
    null,
    plain(
      `Message 1s3Vab-0004aB-2x has been frozen (delivery error message).\nThe sender is <>.\n\nThe following address(es) have yet to be delivered:\n\n  ${ANN}: Connection timed out\n`,
      from('Mail Delivery System <Mailer-Daemon@mail.acme.test>', 'Message 1s3Vab-0004aB-2x frozen'),
    ),
  ],
  ['Exim: local part', 'hard', ANN, null, exim('unknown local-part "ann" in domain "rcpt.test"')],
  [
    'Exim: quota of a cPanel mailbox',
    'soft',
    ANN,
    null,
    exim(
      'LMTP error from remote mail server after RCPT TO:<ann@rcpt.test>:\n    552 5.2.2 <ann@rcpt.test> Mailbox is full / Blocks limit exceeded / Inode limit exceeded',
    ),
  ],
  ['Exim: TLS', 'soft', ANN, null, exim('a TLS session is required, but an attempt to start TLS failed')],
  ['Exim: size', 'soft|block', ANN, null, exim('message size exceeds the limit of the transport')],
  [
    'Exim: several',
    'hard',
    'ann@rcpt.test',
    null,
    plain(
      `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ann@rcpt.test\n    host mx.rcpt.test [198.51.100.25]\n    SMTP error from remote mail server after RCPT TO:<ann@rcpt.test>:\n    550 no mailbox ann@rcpt.test\n  bob@rcpt.test\n    host mx.rcpt.test [198.51.100.25]\n    SMTP error from remote mail server after RCPT TO:<bob@rcpt.test>:\n    552 bob's mailbox is full\n\n------ This is a copy of your message, including all the headers. ------\n\n${ORIGINAL}`,
      from(
        'Mail Delivery System <Mailer-Daemon@mail.acme.test>',
        'Mail delivery failed: returning message to sender',
        'X-Failed-Recipients: ann@rcpt.test,\n  bob@rcpt.test\n',
      ),
    ),
  ],
  [
    'Amazon SES inbound',
    'hard',
    ANN,
    '5.1.1',
    report(
      'This message could not be delivered.',
      `Reporting-MTA: dns; inbound-smtp.eu-west-1.amazonaws.com\nArrival-Date: Mon, 6 May 2024 09:10:11 +0000\n\nFinal-Recipient: rfc822; ${ANN}\nDiagnostic-Code: smtp; 550 5.1.1 mailbox does not exist\nAction: failed\nStatus: 5.1.1\n`,
      from('<mailer-daemon@eu-west-1.amazonses.com>', 'Delivery Status Notification (Failure)'),
    ),
  ],
  [
    'Amazon SES inbound: too large',
    'soft|block',
    ANN,
    '5.3.4',
    report(
      'This message could not be delivered due to its size.',
      `Reporting-MTA: dns; inbound-smtp.eu-west-1.amazonaws.com\n\nFinal-Recipient: rfc822; ${ANN}\nDiagnostic-Code: smtp; 552 5.3.4 Message too large\nAction: failed\nStatus: 5.3.4\n`,
      from('<mailer-daemon@eu-west-1.amazonses.com>', 'Delivery Status Notification (Failure)'),
    ),
  ],
  [
    'Amazon SES inbound: content',
    'block',
    ANN,
    '5.6.1',
    report(
      'This message could not be delivered because of its content.',
      `Reporting-MTA: dns; inbound-smtp.eu-west-1.amazonaws.com\n\nFinal-Recipient: rfc822; ${ANN}\nDiagnostic-Code: smtp; 500 5.6.1 Message content rejected\nAction: failed\nStatus: 5.6.1\n`,
      from('<mailer-daemon@eu-west-1.amazonses.com>', 'Delivery Status Notification (Failure)'),
    ),
  ],
  [
    'OpenSMTPD: loop',
    'soft',
    ANN,
    null,
    plain(
      `    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\n    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\n${ANN}: Loop detected\n\n    Below is a copy of the original message:\n\n${ORIGINAL}`,
      from('Mailer Daemon <MAILER-DAEMON@mail.acme.test>', 'Delivery status notification: error'),
    ),
  ],
  [
    'OpenSMTPD: no MX',
    'hard',
    ANN,
    null,
    plain(
      `    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\n    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\n${ANN}: Domain does not exist\n\n    Below is a copy of the original message:\n\n${ORIGINAL}`,
      from('Mailer Daemon <MAILER-DAEMON@mail.acme.test>', 'Delivery status notification: error'),
    ),
  ],
  [
    'OpenSMTPD: expired',
    'soft',
    ANN,
    null,
    plain(
      `    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\n    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\n${ANN}: Envelope expired\n\n    Below is a copy of the original message:\n\n${ORIGINAL}`,
      from('Mailer Daemon <MAILER-DAEMON@mail.acme.test>', 'Delivery status notification: error'),
    ),
  ],
  [
    'Symantec: blocked',
    'block',
    ANN,
    null,
    plain(
      `The message you sent to ${ANN} was blocked by Symantec Mail Security because it contains a forbidden attachment.\n`,
      from('postmaster@mailsec.rcpt.test', 'Symantec Mail Security detected an unscannable attachment'),
    ),
  ],
  [
    'Trend ScanMail',
    'block|soft',
    null,
    null,
    plain(
      `ScanMail for Microsoft Exchange has blocked an attachment.\n\nRecipient(s): ${ANN}\nSubject: Your order\nAction: blocked (order.zip)\n`,
      from('ScanMail <postmaster@rcpt.test>', '[MailServer Notification]Attachment blocking notification'),
    ),
  ],
  [
    'GroupWise: gone',
    'hard',
    null,
    null,
    plain(
      `The message that you sent was undeliverable to the following:\n\tann@rcpt.test (550 5.1.1 unknown recipient)\n`,
      from('Mailer-Daemon <Mailer-Daemon@gw.rcpt.test>', 'Message status - undeliverable'),
    ),
  ],
  [
    'Novell NetMail',
    'hard',
    ANN,
    null,
    plain(
      `The original message was received by relay.acme.test\n\nThe message could not be delivered to the following recipients:\n\n   ${ANN} - Reason: The recipient's address is unknown\n`,
      from('Mail Administrator <postmaster@relay.acme.test>', 'Returned mail: Message undeliverable'),
    ),
  ],
  [
    'Eudora Internet Mail Server',
    'hard',
    ANN,
    null,
    plain(
      `The message could not be delivered because:\n\n${ANN}: user account unknown\n`,
      from('Mail Server <MAILER-DAEMON@rcpt.test>', 'Undeliverable mail'),
    ),
  ],
  [
    'Stalker',
    'soft',
    ANN,
    null,
    plain(
      `Failed to deliver to '${ANN}'\nmailbox is full\n`,
      from('<MAILER-DAEMON@mail.rcpt.test>', 'Undeliverable mail'),
    ),
  ],
  [
    'xMail',
    'hard',
    ANN,
    null,
    plain(
      `[<00>] XMail bounce: Rcpt=[${ANN}];Error=[550 Mailbox unavailable <${ANN}>: no such user]\n\n[<01>] Error sending message [1714986611.S4711] from [mail.acme.test].\n\nID:        <S4711>\nMail From: <${SENDER}>\nRcpt To:   <${ANN}>\nServer:    <mx.rcpt.test> [198.51.100.25]\n\n[<02>] The reason of the delivery failure was:\n\n550 Mailbox unavailable <${ANN}>: no such user\n\n[<05>] Here is listed the initial part of the message:\n\n${ORIGINAL}`,
      from(
        '"mail.acme.test PostMaster" <postmaster@mail.acme.test>',
        'Error sending message [1714986611.S4711] from [mail.acme.test]',
      ),
    ),
  ],
  [
    'Haraka',
    'hard',
    ANN,
    '5.1.1',
    report(
      'Your message could not be delivered to one or more recipients',
      fieldsOf('failed', '5.1.1', '550 5.1.1 unknown mailbox'),
      from('MAILER-DAEMON@haraka.acme.test', 'failed mail: 4711.1'),
    ),
  ],
  [
    'Momentum',
    'soft',
    ANN,
    null,
    report(
      'This message was not delivered',
      fieldsOf(
        'failed',
        '5.4.7',
        '554 5.4.7 [internal] message timeout (exceeded max time, last transfail: 451 4.3.0 try later)',
      ),
      from('MAILER-DAEMON@mta.acme.test', 'Delivery failure'),
    ),
  ],
  [
    'Halon',
    'soft',
    ANN,
    null,
    report(
      `Your message could not be delivered.\n\n<${ANN}>: (timeout) connect to mx.rcpt.test`,
      fieldsOf('failed', '4.4.1', 'connect timeout'),
      from('Mail Delivery System <>', 'Delivery failed'),
    ),
  ],
  [
    'GreenArrow',
    'hard',
    ANN,
    null,
    report(
      '',
      `Reporting-MTA: dns; ga.acme.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: failed\nStatus: 5.0.0 (Permanent failure)\nDiagnostic-Code: smtp;550 no such mailbox\n`,
      from('MAILER-DAEMON@ga.acme.test', 'failure notice'),
    ),
  ],
  [
    'Google Groups in French',
    'block|soft',
    'talk@rcpt.test',
    null,
    plain(
      `Bonjour news@acme.test,\n\nIl est possible que le groupe que vous avez tenté de contacter (talk) n'existe pas ou que vous ne disposiez pas de l'autorisation nécessaire pour y publier des messages. https://support.google.com/a/rcpt.test/bin/topic.py?topic=25838 https://groups.google.com/support/\n\n----- Message d'origine -----\n\n${ORIGINAL.replace(ANN, 'talk@rcpt.test')}`,
      {
        ...from(
          'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
          'Delivery Status Notification (Failure)',
          'X-Failed-Recipients: talk@rcpt.test\n',
        ),
        type: 'text/plain; charset=utf-8',
      },
    ),
  ],
];
