// How families of servers write their reports, each in a mail made up after its format: what the
// corpus has none of, or too few. A new family gets its line here.
import t from 'tap';
import { explainMail } from '../../../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../../../src/classify/load-rules.ts';

const rules = loadBounceRules(SHIPPED_RULES);

/** Of the kinds, any is right; null: the report has none, or it does not matter. */
type Family = [name: string, kinds: string, recipient: string | null, status: string | null, mail: string];

const DAEMON = 'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.test>\nTo: s@acme.test\n';

const FAMILIES: Family[] = [
  [
    'Apache James',
    'hard',
    'ann@rcpt.test',
    null,
    `From: postmaster@mx.test\nTo: s@acme.test\nSubject: [BOUNCE]\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nHi. This is the James mail server at mx.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.  Below\nI include the list of recipients and the reason why I was unable to deliver\nyour message.\n\nFailed recipient(s):\nann@rcpt.test\n\nError message:\n550 5.1.1 unknown user\n\n--b--\n`,
  ],
  [
    'Apache James with details',
    'hard',
    'ann@rcpt.test',
    null,
    `From: postmaster@mx.test\nTo: s@acme.test\nSubject: Delivery problem\n\nError message below:\n550 - Requested action not taken: no such user here\n\nMessage details:\n  Subject: Nyaan\n  Sent date: Thu Apr 29 01:20:50 JST 2004\n  MAIL FROM: s@acme.test\n  RCPT TO: ann@rcpt.test\n  From: s@acme.test\n  To: ann@rcpt.test\n  Size (in bytes): 1024\n`,
  ],
  [
    'biglobe',
    'soft',
    'ann@biglobe.test',
    null,
    `From: postmaster@biglobe.test\nTo: s@acme.test\nSubject: Returned mail:\n\n   ----- The following addresses had delivery problems -----\nann@biglobe.test\n\n   ----- Non-delivered information -----\nThe number of messages in recipient's mailbox exceeded the local limit.\n\n`,
  ],
  [
    'mailmarshal',
    'hard',
    'ann@rcpt.test',
    null,
    `From: MailMarshal <postmaster@mx.test>\nTo: s@acme.test\nSubject: Undeliverable Mail: Hi\n\nYour message:\n   From:    s@acme.test\n   Subject: Hi\n\nCould not be delivered because of\n\n550 5.1.1 User unknown\n\nThe following recipients were affected: \n    ann@rcpt.test\n\nAdditional Information\n======================\nOriginal Sender:    <s@acme.test>\nSender-MTA:         <192.0.2.1>\n`,
  ],
  [
    'notes',
    'hard',
    'ann@rcpt.test',
    null,
    `From: postmaster@rcpt.test\nTo: s@acme.test\nSubject: Delivery Failure Report\n\n------- Failure Reasons  --------\n\nUser not listed in public Name & Address Book\nann@rcpt.test\n\n\n------- Returned Message --------\n\nReceived: from x\nTo: ann@rcpt.test\n`,
  ],
  [
    'surfcontrol',
    'hard',
    'ann@rcpt.test',
    null,
    `From: Mail Delivery System <postmaster@mx.test>\nTo: s@acme.test\nSubject: Message Not Delivered\nX-Mailer: SurfControl E-mail Filter\n\nYour message could not be sent.\nA transcript of the attempts to send the message follows.\nThe number of attempts made: 1\nAddressed To: ann@rcpt.test\n\nThu 29 Apr 2010 23:34:45 +0900\nFailed to send to identified host,\nann@rcpt.test: [192.0.2.5], 550 ann@rcpt.test... No such user\n --- Message non-deliverable.\n`,
  ],
  [
    'kddi',
    'hard',
    'ann@ezweb.test',
    null,
    `From: <Postmaster@ezweb.test>\nTo: s@acme.test\nSubject: Mail System Error - Returned Mail\n\n  Your mail sent on: Thu, 29 Apr 2010 11:04:47 +0900 \n  Could not be delivered to: <ann@ezweb.test>\n  As the remote domain doesnt exist.\n`,
  ],
  [
    'ezweb disabled',
    'hard|soft',
    'ann@ezweb.test',
    null,
    `From: <Postmaster@ezweb.test>\nTo: s@acme.test\nSubject: Mail System Error - Returned Mail\n\nThe user(s) account is disabled.\n\n<ann@ezweb.test>: 550 user unknown (in reply to RCPT TO command)\n`,
  ],
  [
    'x1',
    'hard|soft',
    'ann@rcpt.test',
    null,
    `From: "Mail Deliver System" <postmaster@mx.test>\nTo: s@acme.test\nSubject: Returned Mail: Hi\n\nThe original message was received at Thu, 29 Apr 2010 23:34:45 +0900\nfrom s@acme.test\n\nThe following addresses had delivery problems:\nann@rcpt.test\n`,
  ],
  [
    'mdaemon',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    `From: MDaemon@mx.test\nTo: s@acme.test\nSubject: Permanent Delivery Failure\n\nThe attached message had PERMANENT fatal delivery errors!\n\nAfter one or more unsuccessful delivery attempts the attached message has\nbeen removed from the mail queue on this server.\n\nFailed address: ann@rcpt.test\n\n--- Session Transcript ---\n Thu 2010-04-29 10:00:00: Attempting SMTP connection to [192.0.2.1 : 25]\n Thu 2010-04-29 10:00:00: --> RCPT To:<ann@rcpt.test>\n Thu 2010-04-29 10:00:01: <-- 550 5.1.1 <ann@rcpt.test>: Recipient address rejected: User unknown\n--- End Transcript ---\n`,
  ],
  [
    'hmail',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    `From: mailer-daemon@mx.test\nTo: s@acme.test\nSubject: Message undeliverable: Hi\n\nYour message did not reach some or all of the intended recipients.\n\n   Sent: Fri, 13 Feb 2009 16:57:55 -0800\n   Subject: Hi\n\nThe following recipient(s) could not be reached:\n\nann@rcpt.test\n   Error Type: SMTP\n   Remote server (192.0.2.147) issued an error.\n   hMailServer sent: RCPT TO:<ann@rcpt.test>\n   Remote server replied: 550 5.1.1 <ann@rcpt.test>... User unknown\n\nhMailServer\n`,
  ],
  [
    'communigate',
    'hard',
    'ann@rcpt.test',
    null,
    `From: <MAILER-DAEMON@mx.test>\nTo: s@acme.test\nSubject: Undeliverable mail: Hi\n\nFailed to deliver to '<ann@rcpt.test>'\nSMTP module(domain rcpt.test) reports:\n host mx.rcpt.test says:\n 550 no such user: ann@rcpt.test\n`,
  ],
  [
    'kerio',
    'hard',
    'ann@rcpt.test',
    null,
    `From: "Mail Delivery Subsystem" <postmaster@mx.test>\nTo: s@acme.test\nSubject: Undeliverable mail (ann@rcpt.test)\n\nYour message could not be delivered to following recipients:\n\n<ann@rcpt.test>\n(generated from ann@acme.test)\n  host mx.rcpt.test said: 550 5.1.1 <ann@rcpt.test> User unknown\n`,
  ],
  [
    'merak',
    'hard',
    'ann@rcpt.test',
    '5.1.2',
    `From: "Mail Delivery System" <mailer-daemon@mx.test>\nTo: s@acme.test\nSubject: Mail delivery failed: returning message to sender\n\nThis message was created automatically by mail delivery software (IceWarp Server).\n\nA message that you sent could not be delivered to one or more of its recipients. This is a permanent error. The following address(es) failed:\n\n<ann@rcpt.test>; 5.1.2 ; Bad destination system address\n`,
  ],
  [
    'smartermail',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    `From: "System Administrator" <postmaster@mx.test>\nTo: s@acme.test\nSubject: Delivery Failure\n\nCould not deliver message to the following recipient(s):\n\nFailed Recipient: ann@rcpt.test\nReason: Remote host said: 550 5.1.1 User unknown\n\n\n   -- The header and top 20 lines of the message follows --\n\nReceived: from x\n`,
  ],
  [
    'exim-local',
    'hard',
    'ann@rcpt.test',
    null,
    `From: Mail Delivery System <Mailer-Daemon@mx.test>\nTo: s@acme.test\nX-Failed-Recipients: ann@rcpt.test\nSubject: Mail delivery failed: returning message to sender\n\nThis message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ann@rcpt.test\n    Unrouteable address\n\n------ This is a copy of the message, including all the headers. ------\n\nReturn-path: <s@acme.test>\n`,
  ],
  [
    'exim-pipe',
    'soft',
    'ann@rcpt.test',
    null,
    `From: Mail Delivery System <Mailer-Daemon@mx.test>\nTo: s@acme.test\nX-Failed-Recipients: ann@rcpt.test\nSubject: Mail delivery failed: returning message to sender\n\nThis message was created automatically by mail delivery software.\n\nThe following address(es) failed:\n\n  pipe to |/bin/x\n    generated by ann@rcpt.test\n    local delivery failed\n\n`,
  ],
  [
    'exim-quota',
    'soft',
    'ann@rcpt.test',
    null,
    `From: Mail Delivery System <Mailer-Daemon@mx.test>\nTo: s@acme.test\nSubject: Mail delivery failed: returning message to sender\n\nThis message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ann@rcpt.test\n    mailbox is full: retry timeout exceeded\n\n`,
  ],
  [
    'gmail-new',
    'hard',
    'ann@rcpt.test',
    null,
    `From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nTo: s@acme.test\nAuto-Submitted: auto-replied\nSubject: Delivery Status Notification (Failure)\nContent-Type: text/plain\n\n** Address not found **\n\nYour message wasn't delivered to ann@rcpt.test because the domain rcpt.test couldn't be found. Check for typos or unnecessary spaces and try again.\n\nThe response was:\n\nDNS Error: 12345 DNS type 'mx' lookup of rcpt.test responded with code NXDOMAIN\n`,
  ],
  [
    'yahoo-new',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    `From: MAILER-DAEMON@yahoo.test\nTo: s@acme.test\nSubject: Failure Notice\n\nSorry, we were unable to deliver your message to the following address.\n\n<ann@rcpt.test>:\n550: 5.1.1 The email account that you tried to reach does not exist. Please try double-checking\n\n--- Below this line is a copy of the message.\n\nReceived: x\n`,
  ],
  [
    'zoho',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    `From: mailer-daemon@mail.zoho.test\nTo: s@acme.test\nSubject: Undelivered Mail Returned to Sender\n\nThis message was created automatically by mail delivery software.\n A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\nann@rcpt.test Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 <ann@rcpt.test>... User Unknown\n\nReceived:from mail.zoho.test\n`,
  ],
  [
    'opensmtpd-multi',
    'block',
    'ann@rcpt.test',
    '5.7.1',
    `From: Mailer Daemon <MAILER-DAEMON@mx.test>\nTo: s@acme.test\nSubject: Delivery status notification: error\n\n    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\n    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\nann@rcpt.test: 550 5.7.1 Client host blocked using zen.spamhaus.org\n\n    Below is a copy of the original message:\n\n`,
  ],
  [
    'sendmail-warn',
    'soft',
    'ann@rcpt.test',
    null,
    DAEMON +
      `Subject: Warning: could not send message for past 4 hours\n\n    **********************************************\n    **      THIS IS A WARNING MESSAGE ONLY      **\n    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **\n    **********************************************\n\nThe original message was received at Wed, 21 May 2003 12:00:00 GMT\nfrom x [192.0.2.1]\n\n   ----- The following addresses had transient non-fatal errors -----\n<ann@rcpt.test>\n\n   ----- Transcript of session follows -----\n<ann@rcpt.test>... Deferred: Connection timed out with mx.rcpt.test.\nWarning: message still undelivered after 4 hours\nWill keep trying until message is 5 days old\n`,
  ],
  [
    'sendmail-unknown',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    DAEMON +
      `Subject: Returned mail: User unknown\n\nThe original message was received at Wed, 21 May 2003 12:00:00 GMT\n\n   ----- The following addresses had permanent fatal errors -----\n<ann@rcpt.test>\n\n   ----- Transcript of session follows -----\n... while talking to mx.rcpt.test.:\n>>> RCPT To:<ann@rcpt.test>\n<<< 550 5.1.1 <ann@rcpt.test>... User unknown\n550 5.1.1 <ann@rcpt.test>... User unknown\n`,
  ],
  [
    'office365-html',
    'hard',
    'ann@rcpt.test',
    '5.1.10',
    `From: Microsoft Outlook <postmaster@acme.test>\nTo: s@acme.test\nSubject: Undeliverable: Hi\nContent-Type: text/html; charset=utf-8\n\n<html><body><p>Delivery has failed to these recipients or groups:</p><p><a href="mailto:ann@rcpt.test">ann@rcpt.test</a><br>The email address you entered couldn't be found. Please check the recipient's email address and try to resend the message.</p><p>Diagnostic information for administrators:</p><p>Generating server: x.prod.outlook.com</p><p>ann@rcpt.test<br>Remote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ann@rcpt.test not found by SMTP address lookup'</p><p>Original message headers:</p></body></html>\n`,
  ],
  [
    'exchange-de',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    `From: Microsoft Exchange <postmaster@rcpt.test>\nTo: s@acme.test\nSubject: =?utf-8?Q?Unzustellbar:_Hallo?=\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nFehler bei der Nachrichtenzustellung an folgende Empfänger oder Verteilerlisten:\n\nann@rcpt.test\nDie eingegebene E-Mail-Adresse konnte nicht gefunden werden.\n\nDiagnoseinformationen für Administratoren:\n\nGenerierender Server: x.rcpt.test\n\nann@rcpt.test\n#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##\n\nUrsprüngliche Nachrichtenkopfzeilen:\n\nReceived: x\n`,
  ],
  [
    'qmail-mx',
    'soft',
    'ann@rcpt.test',
    '4.4.1',
    `From: MAILER-DAEMON@mx.test\nTo: s@acme.test\nSubject: failure notice\n\nHi. This is the qmail-send program at mx.test.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<ann@rcpt.test>:\nSorry, I wasn't able to establish an SMTP connection. (#4.4.1)\nI'm not going to try again; this message has been in the queue too long.\n\n--- Below this line is a copy of the message.\n`,
  ],
  [
    'qmail-rcpthosts',
    'soft|block|hard',
    'ann@rcpt.test',
    '5.7.1',
    `From: MAILER-DAEMON@mx.test\nTo: s@acme.test\nSubject: failure notice\n\nHi. This is the qmail-send program at mx.test.\n\n<ann@rcpt.test>:\n192.0.2.1 does not like recipient.\nRemote host said: 553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)\nGiving up on 192.0.2.1.\n\n--- Below this line is a copy of the message.\n`,
  ],
  [
    'verizon',
    'hard',
    '5551234567@vzwpix.test',
    null,
    `From: <sysadmin@vzwpix.test>\nTo: s@acme.test\nSubject: Undeliverable Message\n\nMessage could not be delivered to mobile.\nError: No valid recipients for this MM\nTo: 5551234567@vzwpix.test\nFrom: s@acme.test\nSubject: Hi\n`,
  ],
  [
    'hotmail-fbl',
    'complaint',
    'ann@hotmail.test',
    null,
    `From: staff@hotmail.com\nTo: abuse@acme.test\nSubject: complaint about message from 192.0.2.1\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: ann@hotmail.test\nFrom: s@acme.test\nTo: ann@hotmail.test\nMessage-ID: <a@b>\n\nHi\n--b--\n`,
  ],
  [
    'out of office, German',
    'auto_reply',
    'ann@rcpt.test',
    null,
    `From: Ann <ann@rcpt.test>\nTo: s@acme.test\nSubject: Abwesenheitsnotiz: Ihre Rechnung\n\nIch bin bis 5. Mai nicht im Büro. Kontakt: bob@rcpt.test\n`,
  ],
  [
    'out of office with an empty return path',
    'auto_reply',
    'ann@rcpt.test',
    null,
    `Return-Path: <>\nFrom: Ann <ann@rcpt.test>\nTo: s@acme.test\nSubject: Re: Hi\nX-Autoreply: yes\nPrecedence: bulk\n\nI am on vacation. Mail failed to amuse me.\n`,
  ],
  [
    'challenge',
    'auto_reply',
    'ann@rcpt.test',
    null,
    `From: ann@rcpt.test\nTo: s@acme.test\nSubject: Please confirm your message\n\nYour message to ann@rcpt.test is being held because you are not in my address book. Click here to deliver.\n`,
  ],
  [
    'success',
    'delivered_notice',
    'ann@rcpt.test',
    null,
    DAEMON +
      `Subject: Successful Mail Delivery Report\n\nThis is the mail system at host mx.test.\n\nYour message was successfully delivered to the destination(s)\nlisted below.\n\n<ann@rcpt.test>: delivery via local: delivered to maildir\n`,
  ],
  [
    'human',
    'unknown',
    null,
    null,
    `From: Bob <bob@rcpt.test>\nTo: s@acme.test\nSubject: my delivery failed to arrive\n\nHello, my order 550 was not delivered. What now? ann@rcpt.test\n`,
  ],
  [
    'human2',
    'unknown',
    null,
    null,
    `From: Bob <bob@rcpt.test>\nTo: postmaster@acme.test\nSubject: Re: Undeliverable mail?\n\nHi, I asked about this last week. Please call me.\n\nOn Monday you wrote:\n> could you not deliver\n`,
  ],
  [
    'postfix-de',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    `From: MAILER-DAEMON@mx.test (Mail Delivery System)\nTo: s@acme.test\nSubject: Undelivered Mail Returned to Sender\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: text/plain\n\nThis is the mail system at host mx.test.\n\n<ann@rcpt.test>: host mx.rcpt.test[192.0.2.1] said: 550 5.1.1 <ann@rcpt.test>:\n    Recipient address rejected: User unknown in virtual mailbox table (in reply\n    to RCPT TO command)\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\nFinal-Recipient: rfc822; ann@rcpt.test\nOriginal-Recipient: rfc822;ann@rcpt.test\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; mx.rcpt.test\nDiagnostic-Code: smtp; 550 5.1.1 <ann@rcpt.test>: Recipient address rejected:\n    User unknown in virtual mailbox table\n\n--b--\n`,
  ],
  [
    'facebook preferences',
    'soft',
    'ann@facebook.test',
    '5.1.1',
    DAEMON +
      `Subject: Sorry, your message could not be delivered\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: text/plain\n\nThis message was created automatically by Facebook.\n\nSorry, your message could not be delivered to the following recipient:\n\n<ann@facebook.test>\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; 10.43.153.142\n\nStatus: 5.1.1\nAction: failed\nFinal-Recipient: rfc822; ann@facebook.test\nDiagnostic-Code: smtp; 550 5.1.1 RCP-P2 \n http://postmaster.facebook.com/response_codes?ip=192.0.2.135#rcp Refused due to recipient preferences\n\n--b--\n`,
  ],
  [
    'docomo',
    'hard',
    'ann@docomo.test',
    '5.1.1',
    DAEMON +
      `Subject: Undelivered Mail\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mfsmax.docomo.test\n\nFinal-Recipient: rfc822; ann@docomo.test\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 Unknown user ann@docomo.test\n\n--b--\n`,
  ],
  [
    'fb-policy',
    'block',
    'ann@facebook.test',
    '5.7.1',
    DAEMON +
      `Subject: Undelivered Mail\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\nFinal-Recipient: rfc822; ann@facebook.test\nAction: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 554 5.7.1 POL-P6 http://postmaster.facebook.com/response_codes\n\n--b--\n`,
  ],
  [
    'ses-complaint',
    'complaint',
    'ann@rcpt.test',
    null,
    `From: no-reply@sns.amazonaws.com\nTo: s@acme.test\nSubject: AWS Notification Message\n\n{"notificationType":"Complaint","complaint":{"complainedRecipients":[{"emailAddress":"ann@rcpt.test"}],"complaintFeedbackType":"abuse"},"mail":{}}\n`,
  ],
  [
    'courier',
    'hard',
    'ann@rcpt.test',
    '5.1.1',
    `From: "Courier mail server at mx.test" <@>\nTo: s@acme.test\nSubject: NOTICE: mail delivery status.\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\nContent-Type: text/plain\n\nThis is a delivery status notification from mx.test,\nrunning the Courier mail server, version 0.65.\n\nYour message to the following recipients cannot be delivered:\n\n<ann@rcpt.test>:\n    mx.rcpt.test [192.0.2.1]:\n>>> RCPT TO:<ann@rcpt.test>\n<<< 550 5.1.1 <ann@rcpt.test>... User Unknown\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\nFinal-Recipient: rfc822; ann@rcpt.test\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; mx.rcpt.test [192.0.2.1]\nDiagnostic-Code: smtp; 550 5.1.1 <ann@rcpt.test>... User Unknown\n\n--b--\n`,
  ],
];

for (const [name, kinds, recipient, status, mail] of FAMILIES) {
  t.test(name, async (t) => {
    for (const text of [mail, mail.replaceAll('\n', '\r\n')]) {
      const found = explainMail(Buffer.from(text), rules);
      t.ok(kinds.split('|').includes(found.kind), `${found.kind} by ${found.rule}`, { found });
      if (recipient !== null) t.equal(found.recipient, recipient);
      if (status !== null) t.equal(found.status, status);
    }
  });
}
