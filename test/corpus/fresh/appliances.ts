// Servers of companies and gateways in front of them: Notes, GroupWise, MDaemon, hMailServer, IceWarp, Kerio,
// SmarterMail, IMail, Barracuda, Proofpoint, Mimecast, IronPort, Symantec, Trend Micro, Sophos, and mailing lists.
import { ANN, type FreshMail, fieldsOf, ORIGINAL, plain, report } from './fresh-mail.ts';

export const APPLIANCES: FreshMail[] = [
  [
    'Domino',
    'hard',
    ANN,
    '5.1.1',
    report(
      `Your message\n\n  Subject: Your order\n\nwas not delivered to:\n\n  ${ANN}\n\nbecause:\n\n  User ann (${ANN}) not listed in Domino Directory\n`,
      `Reporting-MTA: dns;mail.rcpt.test\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: X-Notes; User ann (${ANN}) not listed in Domino D\n irectory\n`,
      {
        subject: 'DELIVERY FAILURE: User ann (ann@rcpt.test) not listed in Domino Directory',
        from: 'Postmaster@rcpt.test',
      },
    ),
  ],
  [
    'Domino: quota',
    'soft',
    ANN,
    null,
    plain(
      `Your message\n\n  Subject: Your order\n\nwas not delivered to:\n\n  ${ANN}\n\nbecause:\n\n  Mail file has exceeded its quota: cannot deliver\n`,
      { subject: 'DELIVERY FAILURE: Mail file has exceeded its quota', from: 'Postmaster@rcpt.test' },
    ),
  ],
  [
    'Domino: route',
    'soft|hard',
    ANN,
    null,
    plain(
      `Your message\n\n  Subject: Your order\n\nwas not delivered to:\n\n  ${ANN}\n\nbecause:\n\n  Error transferring to MX.RCPT.TEST; SMTP Protocol Returned a Permanent Error 550 5.1.1 User unknown\n`,
      { subject: 'DELIVERY FAILURE: Error transferring to MX.RCPT.TEST', from: 'Postmaster@acme.test' },
    ),
  ],
  [
    'Domino: no route',
    'soft|hard',
    ANN,
    null,
    plain(
      `Your message\n\n  Subject: Your order\n\nwas not delivered to:\n\n  ${ANN}\n\nbecause:\n\n  No route found to domain RCPT from server MAIL/ACME.  Check Server, Connection and Domain documents in the Domino Directory.\n`,
      { subject: 'DELIVERY FAILURE: No route found to domain RCPT', from: 'Postmaster@acme.test' },
    ),
  ],
  [
    'Notes',
    'hard',
    ANN,
    null,
    plain(
      `------- Failure Reasons  --------\n\nUser ann (ann@rcpt.test) not listed in public Name & Address Book\n${ANN}\n\n\n------- Returned Message --------\n\n${ORIGINAL}`,
      { subject: 'Delivery Failure Report', from: 'Postmaster@rcpt.test' },
    ),
  ],
  [
    'GroupWise',
    'hard',
    ANN,
    null,
    plain(
      `The message that you sent was undeliverable to the following:\n\tann (user not found)\n\nPossibly truncated original message follows:\n\n${ORIGINAL}`,
      { subject: 'Message status - undeliverable', from: 'Mailer-Daemon@rcpt.test' },
    ),
  ],
  [
    'GroupWise 2',
    'soft',
    ANN,
    null,
    plain(
      `The attached message that you sent was undeliverable to the following recipient:\n\t${ANN} (mailbox is full)\n`,
      { subject: 'Message status - undeliverable', from: '<>' },
    ),
  ],
  [
    'MDaemon',
    'hard',
    ANN,
    null,
    plain(
      `The attached message had PERMANENT fatal delivery errors!\n\nAfter one or more unsuccessful delivery attempts the attached message has\nbeen removed from the mail queue on this server.  The number and frequency\nof delivery attempts are determined by local configuration parameters.\n\nYOUR MESSAGE WAS NOT DELIVERED TO ONE OR MORE OF ITS RECIPIENTS!\n\nFailed address: ${ANN}\n\n--- Session Transcript ---\n Mon 2024-05-06 09:10:11: Session 0012; child 0001\n Mon 2024-05-06 09:10:11: [12:1] Attempting SMTP connection to [198.51.100.25:25]\n Mon 2024-05-06 09:10:12: [12:1] <-- 220 mx.rcpt.test ESMTP\n Mon 2024-05-06 09:10:12: [12:1] --> RCPT To:<${ANN}>\n Mon 2024-05-06 09:10:12: [12:1] <-- 550 Address ${ANN} unknown\n Mon 2024-05-06 09:10:12: [12:1] --> QUIT\n--- End Transcript ---\n\n: Message contains [1] file attachments\n`,
      { from: 'MDaemon@mail.acme.test', subject: 'Permanent Delivery Failure' },
    ),
  ],
  [
    'MDaemon: no answer',
    'soft',
    ANN,
    null,
    plain(
      `The attached message had PERMANENT fatal delivery errors!\n\nFailed address: ${ANN}\n\n--- Session Transcript ---\n Mon 2024-05-06 09:10:11: [12:1] Attempting SMTP connection to [198.51.100.25:25]\n Mon 2024-05-06 09:10:32: [12:1] Winsock Error 10060 The connection timed out.\n--- End Transcript ---\n`,
      { from: 'MDaemon@mail.acme.test', subject: 'Permanent Delivery Failure' },
    ),
  ],
  [
    'MDaemon: warning',
    'soft',
    ANN,
    null,
    plain(
      `The attached message had TRANSIENT non-fatal delivery errors!\n\nThis is a warning message. There is no need to resend the message, delivery attempts will continue for 3 days.\n\nFailed address: ${ANN}\n\n--- Session Transcript ---\n Mon 2024-05-06 09:10:12: [12:1] <-- 452 4.2.2 Over quota\n--- End Transcript ---\n`,
      { from: 'MDaemon@mail.acme.test', subject: 'Warning: Transient Delivery Failure' },
    ),
  ],
  [
    'hMailServer',
    'soft',
    ANN,
    null,
    plain(
      `Your message did not reach some or all of the intended recipients.\n\n   Sent: Mon, 6 May 2024 09:10:11 +0000\n   Subject: Your order\n\nThe following recipient(s) could not be reached:\n\n${ANN}\n   Error Type: SMTP\n   Connection to recipients server failed.\n   Error: Host name: mx.rcpt.test, message: Connection timed out\n   Tried 4 time(s)\n\nhMailServer\n`,
      { from: 'mailer-daemon@mail.acme.test', subject: 'Message undeliverable: Your order' },
    ),
  ],
  [
    'hMailServer: no MX',
    'hard',
    ANN,
    null,
    plain(
      `Your message did not reach some or all of the intended recipients.\n\n   Sent: Mon, 6 May 2024 09:10:11 +0000\n   Subject: Your order\n\nThe following recipient(s) could not be reached:\n\n${ANN}\n   Error Type: SMTP\n   No mail servers appear to exists for the recipient's address.\n   Additional information: Please check that you have not misspelled the recipient's email address.\n\nhMailServer\n`,
      { from: 'mailer-daemon@mail.acme.test', subject: 'Message undeliverable: Your order' },
    ),
  ],
  [
    'IceWarp',
    'hard',
    ANN,
    null,
    plain(
      `This message was created automatically by mail delivery software (IceWarp).\n\nA message that you sent could not be delivered to one or more of its recipients. This is a permanent error. The following address(es) failed:\n\n<${ANN}>; Unknown user\n\n--- This is a copy of the message, including all the headers. ---\n\n${ORIGINAL}`,
      {
        from: 'Mail Delivery System <mailer-daemon@mail.acme.test>',
        subject: 'Mail delivery failed: returning message to sender',
      },
    ),
  ],
  [
    'Kerio',
    'hard',
    ANN,
    null,
    report(
      `This message was created automatically by mail system Kerio Connect.\n\nYour message could not be delivered to following recipients:\n\n<${ANN}>\n   550 5.1.1 User not found\n`,
      fieldsOf('failed', '5.1.1', '550 5.1.1 User not found'),
      { from: 'Kerio Connect <postmaster@mail.rcpt.test>', subject: 'Undeliverable mail: Your order' },
    ),
  ],
  [
    'SmarterMail',
    'soft',
    ANN,
    null,
    plain(
      `Could not deliver message to the following recipient(s):\n\nFailed Recipient: ${ANN}\nReason: The recipient's mailbox is full.\n\n   -- The header and top 20 lines of the message follows --\n\n${ORIGINAL}`,
      { from: '"System Administrator" <postmaster@mail.rcpt.test>', subject: 'Delivery Failure' },
    ),
  ],
  [
    'SmarterMail: domain',
    'hard',
    ANN,
    null,
    plain(
      `Could not deliver message to the following recipient(s):\n\nFailed Recipient: ${ANN}\nReason: The domain name 'rcpt.test' could not be found in DNS (does not exist)\n\n   -- The header and top 20 lines of the message follows --\n\n${ORIGINAL}`,
      { from: '"System Administrator" <postmaster@mail.acme.test>', subject: 'Delivery Failure' },
    ),
  ],
  [
    'IMail',
    'hard',
    ANN,
    null,
    plain(`Unknown user: ${ANN}\n\nOriginal message follows.\n\n${ORIGINAL}`, {
      from: 'Postmaster <postmaster@mail.rcpt.test>',
      subject: 'Undeliverable Mail',
      fields: 'X-Mailer: <SMTP32 v8.22>\n',
    }),
  ],
  [
    'IMail: no answer',
    'soft',
    ANN,
    null,
    plain(`Delivery failed 20 attempts: ${ANN}\n\nOriginal message follows.\n\n${ORIGINAL}`, {
      from: 'Postmaster <postmaster@mail.acme.test>',
      subject: 'Undeliverable Mail',
      fields: 'X-Mailer: <SMTP32 v8.22>\n',
    }),
  ],
  [
    'IMail: full',
    'soft',
    ANN,
    null,
    plain(`User mailbox exceeds allowed size: ${ANN}\n\nOriginal message follows.\n\n${ORIGINAL}`, {
      from: 'Postmaster <postmaster@mail.rcpt.test>',
      subject: 'Undeliverable Mail',
      fields: 'X-Mailer: <SMTP32 v8.22>\n',
    }),
  ],
  [
    'MailEnable',
    'hard',
    ANN,
    null,
    plain(
      `MailEnable: Message Delivery Failure.\n\nThe following recipient(s) could not be reached:\n\nRecipient: [SMTP:${ANN}]\nReason: The user name is not known at the destination server.\n\nMessage headers follow:\n\n${ORIGINAL}`,
      { from: 'Postmaster <postmaster@mail.acme.test>', subject: 'Message Delivery Failure' },
    ),
  ],
  [
    'Mercury',
    'hard',
    ANN,
    null,
    plain(
      `With reference to your message with the subject:\n   "Your order"\n\nOne or more addresses in your message have failed with the following\nresponses from Mercury transport agents:\n\n<${ANN}>:\nUser not known at this site.\n`,
      { from: 'Electronic Postmaster <postmaster@mail.rcpt.test>', subject: 'Postmaster notify: delivery failure.' },
    ),
  ],
  [
    'WinRoute',
    'hard',
    ANN,
    null,
    plain(
      `WinRoute Pro was unable to deliver your message.\n\nThe following recipients failed:\n${ANN}\n   Remote server said: 550 No such user\n`,
      { from: 'MAILER-DAEMON@mail.acme.test', subject: 'Delivery failed' },
    ),
  ],
  [
    'ArGoSoft',
    'hard',
    ANN,
    null,
    plain(
      `Your message was not delivered to ${ANN} for the following reason:\n\nUser ann does not exist on this server\n`,
      { from: 'postmaster@mail.rcpt.test', subject: 'Undeliverable Message' },
    ),
  ],
  [
    'FirstClass',
    'hard',
    ANN,
    '5.1.1',
    plain(
      `We had trouble delivering your message. Full details follow:\n\nSubject: 'Your order'\nDate: 'Mon, 06 May 2024 09:10:11 +0000'\n\n1 error(s):\n\nSMTP Server <mx.rcpt.test> rejected recipient <${ANN}> (Error following RCPT command). It responded as follows: [550 5.1.1 unknown user]\n`,
      { from: 'MAILER-DAEMON@mail.acme.test', subject: 'There was an error sending your mail' },
    ),
  ],
  [
    'MailMarshal',
    'block',
    ANN,
    null,
    plain(
      `Your message:\n   From:    news@acme.test\n   Subject: Your order\n\nCould not be delivered because of\n\n554 5.7.1 Message refused by policy: SpamProfiler\n\nThe following recipients were affected: \n    ${ANN}\n`,
      { from: 'MailMarshal <postmaster@mail.rcpt.test>', subject: 'Undeliverable Mail: Your order' },
    ),
  ],
  [
    'InterScan',
    'hard',
    ANN,
    null,
    plain(
      `Sent >>> RCPT TO:<${ANN}>\nReceived <<< 550 5.1.1 <${ANN}>... user unknown\n\nUnable to deliver message to <${ANN}>\n`,
      { from: 'InterScan MSS <imss@mail.acme.test>', subject: 'Mail could not be delivered' },
    ),
  ],
  [
    'Barracuda',
    'block',
    ANN,
    null,
    report(
      `Your message to:\n${ANN}\nwas blocked by our Spam Firewall. The email you sent with the following subject has NOT BEEN DELIVERED:\n\nSubject: Your order\n`,
      `Reporting-MTA: dns; filter.rcpt.test\n\nFinal-Recipient: rfc822; ${ANN}\nAction: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 550 5.7.1 Message content rejected, UBE, id=3212-05\n`,
      { from: 'postmaster@filter.rcpt.test', subject: '**Message you sent blocked by our bulk email filter**' },
    ),
  ],
  [
    'amavis: spam',
    'block',
    ANN,
    null,
    report(
      `A message from <news@acme.test> to:\n-> ${ANN}\n\nwas considered unsolicited bulk e-mail (UBE).\n\nOur internal reference code for your message is 04213-08/uWRb\n\nDelivery of the email was stopped!\n`,
      `Reporting-MTA: dns; filter.rcpt.test\nReceived-From-MTA: smtp; filter.rcpt.test ([127.0.0.1])\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.7.0\nDiagnostic-Code: smtp; 554 5.7.0 Reject, id=04213-08 - SPAM\n`,
      {
        from: '"Content-filter at filter.rcpt.test" <postmaster@filter.rcpt.test>',
        subject: 'Considered UNSOLICITED BULK EMAIL, apparently from you',
      },
    ),
  ],
  [
    'amavis: banned',
    'block',
    ANN,
    null,
    plain(
      `BANNED CONTENTS ALERT\n\nOur content checker found\n    banned name: invoice.exe\n\nin email presumably from you <news@acme.test>\nto the following recipient:\n-> ${ANN}\n\nDelivery of the email was stopped!\n`,
      {
        from: '"Content-filter at filter.rcpt.test" <postmaster@filter.rcpt.test>',
        subject: 'BANNED contents from you (invoice.exe)',
      },
    ),
  ],
  [
    'virus notice',
    'block',
    null,
    null,
    plain(`Your message to ${ANN} was not delivered: it contained a virus (Eicar-Test-Signature) and was deleted.\n`, {
      from: 'postmaster@filter.rcpt.test',
      subject: 'VIRUS IN YOUR MAIL',
    }),
  ],
  [
    'Proofpoint',
    'hard',
    ANN,
    '5.1.1',
    report(
      `This is the Proofpoint mail gateway.\n\nThe following recipient could not be reached: ${ANN}`,
      fieldsOf('failed', '5.1.1', `550 5.1.1 <${ANN}>: Recipient address rejected: Unknown user`),
    ),
  ],
  [
    'Mimecast',
    'block',
    ANN,
    null,
    plain(
      `The message you sent requires that you know:\n\nYour message to ${ANN} was rejected.\n\nReason: Email rejected due to security policies - https://community.mimecast.com/docs/DOC-1369#554\n\n--- Message headers follow ---\n${ORIGINAL}`,
      { from: 'Postmaster <postmaster@rcpt.test>', subject: '[Postmaster] Email Delivery Failure' },
    ),
  ],
  [
    'IronPort',
    'hard',
    ANN,
    null,
    report(
      `The following message to <${ANN}> was undeliverable.\nThe reason for the problem:\n5.1.0 - Unknown address error 550-'#5.1.0 Address rejected.'`,
      `Reporting-MTA: dns; esa1.acme.test\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.0.0 (permanent failure)\nRemote-MTA: dns; [198.51.100.25]\nDiagnostic-Code: smtp; 5.1.0 - Unknown address error 550-'#5.1.0 Address rejected.' (delivery attempts: 0)\n`,
      {
        from: 'Mail Delivery System <MAILER-DAEMON@esa1.acme.test>',
        subject: 'Delivery Status Notification (Failure)',
      },
    ),
  ],
  [
    'IronPort: bad host',
    'hard',
    ANN,
    null,
    report(
      `The following message to <${ANN}> was undeliverable.\nThe reason for the problem:\n5.1.2 - Bad destination host 'DNS Hard Error looking up rcpt.test (MX):  NXDomain'`,
      `Reporting-MTA: dns; esa1.acme.test\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.0.0 (permanent failure)\nDiagnostic-Code: smtp; 5.1.2 - Bad destination host 'DNS Hard Error looking up rcpt.test (MX):  NXDomain' (delivery attempts: 0)\n`,
      { subject: 'Delivery Status Notification (Failure)' },
    ),
  ],
  [
    'IronPort: given up',
    'soft',
    ANN,
    null,
    report(
      `The following message to <${ANN}> was undeliverable.\nThe reason for the problem:\n5.4.7 - Delivery expired (message too old) 'timeout'`,
      `Reporting-MTA: dns; esa1.acme.test\n\nFinal-Recipient: rfc822;${ANN}\nAction: failed\nStatus: 5.0.0 (permanent failure)\nDiagnostic-Code: smtp; 5.4.7 - Delivery expired (message too old) 'timeout' (delivery attempts: 45)\n`,
      { subject: 'Delivery Status Notification (Failure)' },
    ),
  ],
  [
    'MessageLabs',
    'hard',
    ANN,
    null,
    report(
      `This is the mail delivery agent at messagelabs.com.\nI was not able to deliver your message to the following addresses.\n\n<${ANN}>:\n550 No such recipient\n\n--- Below this line is a copy of the message.`,
      `Reporting-MTA: dns; server-3.bemta-5.messagelabs.com\n\nFinal-Recipient: rfc822; ${ANN}\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 No such recipient\n`,
      { subject: 'Mail Delivery Failure' },
    ),
  ],
  [
    'Trend Micro',
    'soft',
    ANN,
    null,
    plain(
      `Sent >>> DATA\nReceived <<< 452 4.2.2 user mailbox is over quota\n\nUnable to deliver message to <${ANN}> after 3 days, giving up\n`,
      { from: '"InterScan Messaging" <postmaster@imsva.acme.test>', subject: 'Message delivery delayed: giving up' },
    ),
  ],
  [
    'Sophos',
    'block',
    ANN,
    null,
    plain(
      `Your message could not be delivered to ${ANN}:\n\n550 5.7.1 Message rejected by Sophos Email Security: spam\n`,
      { from: 'postmaster@sophos.rcpt.test', subject: 'Delivery failure' },
    ),
  ],
  [
    'McAfee',
    'hard',
    ANN,
    null,
    plain(
      `    --The following addresses had delivery problems--\n\n<${ANN}>   (User unknown ${ANN})\n\nThe following message was received by the gateway:\n${ORIGINAL}`,
      { from: 'postmaster@mcafee.rcpt.test', subject: 'Delivery Status' },
    ),
  ],
  [
    'SpamTitan',
    'soft|block',
    ANN,
    null,
    plain(
      `<${ANN}>: host mx.rcpt.test[198.51.100.25] said: 550 Rejected by SpamTitan: recipient is rate limited (in reply to RCPT TO command)\n`,
      { subject: 'Undelivered Mail Returned to Sender' },
    ),
  ],
  [
    'Mailman: not a member',
    'block|soft',
    'talk@lists.rcpt.test',
    null,
    plain(
      `You are not allowed to post to this mailing list, and your message has\nbeen automatically rejected.  If you think that your messages are\nbeing rejected in error, contact the mailing list owner at\ntalk-owner@lists.rcpt.test.\n`,
      {
        from: 'talk-bounces@lists.rcpt.test',
        subject: 'Your order',
        fields: 'X-BeenThere: talk@lists.rcpt.test\nPrecedence: list\n',
      },
    ),
  ],
  [
    'Mailman: held',
    'auto_reply',
    null,
    null,
    plain(
      `Your mail to 'Talk' with the subject\n\n    Your order\n\nIs being held until the list moderator can review it for approval.\n\nThe reason it is being held:\n\n    Post by non-member to a members-only list\n\nEither the message will get posted to the list, or you will receive\nnotification of the moderator's decision.\n`,
      {
        from: 'talk-bounces@lists.rcpt.test',
        subject: 'Your message to Talk awaits moderator approval',
        fields: 'X-BeenThere: talk@lists.rcpt.test\nPrecedence: bulk\nX-List-Administrivia: yes\n',
      },
    ),
  ],
  [
    'ezmlm',
    'block|soft',
    null,
    null,
    plain(
      `Hi! This is the ezmlm program. I'm managing the\ntalk@lists.rcpt.test mailing list.\n\nI'm sorry, the list moderators for the talk list have failed to act on\nyour post. Thus, I'm returning it to you.\n\n--- Below this line is a copy of the message.\n\n${ORIGINAL}`,
      { from: 'talk-help@lists.rcpt.test', subject: 'Returned post for talk@lists.rcpt.test' },
    ),
  ],
  [
    'Majordomo',
    'block|soft',
    null,
    null,
    plain(
      `Your message to talk@lists.rcpt.test was rejected: you are not a member of this list <talk@lists.rcpt.test>.\n\n${ORIGINAL}`,
      { from: 'Majordomo@lists.rcpt.test', subject: 'Majordomo: post rejected' },
    ),
  ],
  [
    'Sympa',
    'block|soft',
    null,
    null,
    plain(
      `Your message for list 'talk' (attached below) was rejected.\nYou are not allowed to send this message for the following reason:\n\nMessage distribution in this list is restricted to list subscribers.\n`,
      { from: 'SYMPA <sympa@lists.rcpt.test>', subject: 'Message rejected by talk' },
    ),
  ],
];
