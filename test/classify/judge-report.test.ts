// What reports mean: refusals as relays quote them, and texts of servers that write no fields. None
// of them is a sample of a rule or a mail of the corpus.
import t from 'tap';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';

const rules = loadBounceRules(SHIPPED_RULES);

/** As Postfix writes it, twice: for people and for programs. */
function reportOf(status: string, diagnostic: string, command = 'RCPT TO'): Buffer {
  return Buffer.from(`From: MAILER-DAEMON@mx.test (Mail Delivery System)
To: s@acme.test
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

This is the mail system at host mx.test.

<ann@rcpt.test>: host mx.rcpt.test[192.0.2.1] said: ${diagnostic} (in reply to ${command} command)

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

Final-Recipient: rfc822; ann@rcpt.test
Action: failed
Status: ${status}
Remote-MTA: dns; mx.rcpt.test
Diagnostic-Code: smtp; ${diagnostic}

--b--
`);
}

const ANY = 'hard|soft|block';

const REFUSALS: [kinds: string, status: string, diagnostic: string, command?: string][] = [
  ['hard', '5.1.1', '550 5.1.1 <ann@rcpt.test> User Unknown'],
  ['hard', '5.0.0', '550 Unknown user ann@rcpt.test'],
  ['hard', '5.1.0', '550 5.1.0 Address rejected.'],
  ['hard', '5.2.1', '550 5.2.1 <ann@rcpt.test>... User Unknown'],
  ['hard', '5.0.0', '550 Invalid recipient <ann@rcpt.test>'],
  ['hard', '5.0.0', '550 Recipient not found.'],
  ['hard', '5.1.1', '550 5.1.1 unknown user account'],
  ['hard', '5.0.0', '551 not our customer'],
  ['hard', '5.4.4', 'unable to look up host rcpt.test: Name or service not known'],
  ['hard', '5.4.4', 'Host or domain name not found. Name service error for name=rcpt.test type=AAAA: Host not found'],
  ['hard', '5.1.0', 'Domain rcpt.test does not accept mail (nullMX)'],
  ['hard', '5.4.4', 'Domain rcpt.test does not accept mail (nullMX)'],
  [
    'hard',
    '5.1.10',
    '556 5.1.10 <ann@rcpt.test>: Recipient address rejected: Domain rcpt.test does not accept mail (nullMX)',
  ],
  ['hard', '5.1.10', '556 5.1.10 Delivery not allowed'],
  ['hard', '5.0.0', '556 Rejected'],
  [
    'block',
    '5.7.27',
    '550 5.7.27 <s@acme.test>: Sender address rejected: Domain acme.test does not accept mail (nullMX)',
  ],
  ['soft', '4.4.1', 'connect to rcpt.test[192.0.2.1]:25: Connection timed out'],
  ['soft', '4.4.1', 'connect to rcpt.test[192.0.2.1]:25: Connection refused'],
  ['soft', '5.4.6', 'mail for rcpt.test loops back to myself'],
  ['soft', '4.4.2', 'conversation with rcpt.test[192.0.2.1] timed out while receiving the initial server greeting'],
  ['soft', '5.2.2', '552 5.2.2 Over quota'],
  [
    'soft',
    '5.2.0',
    "maildir delivery failed: Sorry, the user's maildir has overdrawn his diskspace quota, please try again later",
  ],
  ['soft', '5.3.4', '552 5.3.4 Message size exceeds fixed limit'],
  ['soft', '5.3.0', 'Command died with status 127: "/bin/x". Command output: not found'],
  ['soft|hard', '5.2.0', "can't create user output file"],
  ['soft', '5.7.10', 'TLS is required, but was not offered by host mx.rcpt.test[192.0.2.1]'],
  ['soft', '4.7.5', 'Cannot start TLS: handshake failure'],
  ['soft', '5.7.4', '550 5.7.4 TLS required'],
  ['block', '5.7.1', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using bl.test'],
  ['block', '5.0.0', '550 Administrative prohibition'],
  ['block', '5.0.0', '554 Transaction Failed Spam Message not queued.', 'end of DATA'],
  ['block', '5.0.0', '550 This message scored 10 spam points.', 'end of DATA'],
  ['block', '5.7.1', '550 5.7.1 Message contains a virus', 'end of DATA'],
  ['block', '5.0.0', '554 Message rejected because of unacceptable content', 'end of DATA'],
  ['block', '5.0.0', '550 Mail rejected: your IP is listed in our RBL'],
  ['block', '5.7.0', '550 5.7.0 Local Policy Violation'],
  ['block', '5.0.0', '553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)', 'MAIL FROM'],
  ['block', '5.0.0', '554 5.7.1 You are not allowed to use this relay: sender domain must exist', 'MAIL FROM'],
  ['block', '5.1.8', '501 5.1.8 Domain of sender address s@acme.test does not exist', 'MAIL FROM'],
  ['block', '5.0.0', '550 Access denied - Invalid HELO name'],
  ['block', '5.7.23', '550 5.7.23 SPF validation failed'],
  ['block', '5.0.0', '550 SPF: 192.0.2.1 is not allowed to send mail from acme.test'],
  ['block', '5.7.1', "550 5.7.1 Unauthenticated email is not accepted due to domain's DMARC policy"],
  ['block', '5.0.0', '521 Blocked by AOL: RLY:BD'],
  [
    'block',
    '5.7.1',
    '550 5.7.1 Connections not accepted from servers without a valid sender domain. (KDDI) Fix reverse DNS for 192.0.2.1',
  ],
  [
    'block',
    '5.7.1',
    '554 5.7.1 This message has been blocked because it contains a executable attachment',
    'end of DATA',
  ],
  ['block', '5.0.0', '550 Requested action not taken: message refused. 5.7.1 bulk mail'],
  ['block', '5.0.0', '550 5.7.1 Email rejected per DMARC policy'],
  ['block', '5.0.0', '541 The recipient address rejected your message (spam)'],
  ['block', '5.0.0', "554 Your access to this mail system has been rejected due to the sending MTA's poor reputation."],
  ['block', '5.0.0', '550 5.7.1 Mail from 192.0.2.1 has been rejected: see http://bl.test'],
  ['block', '5.0.0', '553 5.3.0 Rejected - see http://abuse.test/'],
  ['block|soft', '5.6.0', '554 5.6.0 Message contains invalid header', 'end of DATA'],
  ['soft|hard', '5.2.1', '550 5.2.1 The mailbox is suspended'],
  ['soft', '5.0.0', '452 4.3.1 Insufficient system storage'],
  ['soft', '4.3.1', '452 4.3.1 Insufficient system storage'],
  ['soft', '4.2.0', '450 4.2.0 greylisted, please come back later'],
  ['soft', '5.4.7', 'Delivery expired (message too old)'],
  ['hard', '5.1.2', '550 5.1.2 <ann@rcpt.test>... Host unknown (Name server: b.test.: host not found)'],
  ['hard', '5.1.6', '551 5.1.6 Recipient has moved'],
  ['hard', '5.0.0', "550 RCPT ERROR. Mailbox doesn't exist"],
  ['hard', '5.0.0', '550 sorry, no mailbox here by that name (#5.1.1 - chkuser)'],
  ['hard', '5.0.0', '511 sorry, no mailbox here by that name (#5.1.1 - chkusr)'],
  ['hard', '5.0.0', '550 5.1.1 Mailbox "ann" does not exist'],
  ['hard', '5.0.0', '553 5.3.0 <ann@rcpt.test>... Addressee unknown, relay=[192.0.2.1]'],
  ['hard', '5.0.0', '550 #5.1.0 Address rejected ann@rcpt.test'],
  [
    'hard',
    '5.0.0',
    "554 delivery error: dd This user doesn't have a yahoo.com account (ann@yahoo.com) [0] - mta1.mail",
  ],
  ['hard', '5.0.0', '550 5.1.1 User does not exist: ann@rcpt.test'],
  ['hard', '5.0.0', '550 Requested mail action not taken: mailbox unavailable (user not found)'],
  ['hard', '5.2.1', '550 5.2.1 The email account that you tried to reach is disabled.'],
  [
    'hard',
    '5.1.1',
    '550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking',
  ],
  ['hard', '5.0.0', '550 ann@rcpt.test... No such user'],
  ['hard', '5.0.0', '550 MAILBOX NOT FOUND'],
  ['hard', '5.0.0', '550 no such address here'],
  ['hard', '5.0.0', '550 Recipient rejected: unknown user'],
  [
    'hard',
    '5.0.0',
    '554 5.1.1 <ann@rcpt.test>: Recipient address rejected: undeliverable address: host x said: 550 unknown user (in reply to RCPT TO command)',
  ],
  [
    'hard',
    '5.0.0',
    '550-Callout verification failed: 550 550 No such person at this address. 550 Recipient verify failed',
  ],
  ['hard', '5.0.0', '550 5.1.1 Unknown local part ann in <ann@rcpt.test>'],
  ['block', '5.0.0', '550 Verification failed for <s@acme.test> 550-No Such User Here 550 Sender verify failed'],
  ['block', '5.0.0', '550-Verification failed for <s@acme.test> 550-Called: 192.0.2.1 550 Sender verify failed'],
  [
    'block',
    '5.1.7',
    '550 5.1.7 <b1@bounces.test>: Sender address rejected: undeliverable address: host in.post.test[192.0.2.7] said: 550 5.1.1 User unknown (in reply to RCPT TO command)',
  ],
  ['hard', '5.0.0', 'user unknown'],
  ['hard', '5.1.1', 'unknown user: "ann"'],
  ['hard', '5.1.1', 'User unknown in virtual alias table'],
];

const TEXTS: [kinds: string, text: string][] = [
  [
    'hard|soft',
    `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the destination computer refused\nto accept it (the error message is reproduced below).\n\n     RCPT TO <ann@rcpt.test> generated following response:\n     550 5.1.1 unknown user\n\nPlease reply to Postmaster@mx.test\nif you feel this message to be in error.`,
  ],
  [
    'soft',
    `This Message was undeliverable due to the following reason:\n\nOne or more of the recipients of your message did not receive it\nbecause they would have exceeded their mailbox size limit.\n\n     <ann@rcpt.test>\n\nPlease reply to Postmaster@mx.test`,
  ],
  [
    ANY,
    `This is a delivery failure notification message indicating that\nan email you addressed to email address :\n-- ann@rcpt.test\n\ncould not be delivered. The problem appears to be :\n-- Recipient email address not known at this site\n\nAdditional information follows :\n-- 550 No such user`,
  ],
  [
    ANY,
    `Your message to ann@rcpt.test was rejected.\nI said:\nRCPT To:<ann@rcpt.test>\nAnd mx.rcpt.test [192.0.2.1] responded with\n550 <ann@rcpt.test>, Recipient unknown`,
  ],
  [
    ANY,
    `The following message to <ann@rcpt.test> was undeliverable.\nThe reason for the problem:\n5.1.0 - Unknown address error 550-'5.1.1 <ann@rcpt.test>: Recipient address rejected: User unknown'`,
  ],
  [ANY, `The following recipients haven't received this message:\n\n   ann@rcpt.test\n\nReason: no such user`],
  [
    ANY,
    `Sorry, we could not deliver your message to one or more of the following destinations:\n\nann@rcpt.test (account disabled)\n`,
  ],
  [ANY, `The user account: ann@rcpt.test does not exist.\nPlease contact postmaster@rcpt.test for help`],
  [ANY, `This email has been returned: could not deliver to ann@rcpt.test. The mailbox is full.`],
  [ANY, `  ----- The following addresses had delivery problems -----\n<ann@rcpt.test>  (unrecoverable error)\n\n`],
  [ANY, `Delivery to the following recipients has been failed:\n- ann@rcpt.test\n`],
  [
    ANY,
    `Your message cannot be delivered to the following recipients:\n\n  Recipient address: ann@rcpt.test\n  Reason: Illegal host/domain name found\n`,
  ],
  [ANY, `The mail you sent to <ann@rcpt.test> could not be delivered: unknown user`],
  [ANY, `Unable to deliver mail to the following user(s):\n\tann@rcpt.test -- no such user here\n`],
  [ANY, `Undeliverable mail to: ann@rcpt.test\nReason: 550 no mailbox`],
  [ANY, `Mail could not be delivered:\n[ann@rcpt.test] 550 User unknown\n`],
  [
    ANY,
    `I'm sorry to have to inform you that the message returned\nbelow could not be delivered to one or more destinations.\n\n<ann@rcpt.test> (expanded from <bob@rcpt.test>): unknown user: "ann"\n`,
  ],
  [ANY, `MDaemon has detected that recipient ann@rcpt.test\nhas no mailbox on this server\n`],
  [ANY, `Error: ann@rcpt.test - mailbox not found\n`],
  [ANY, `Your e-mail message was not delivered to 'Ann' <ann@rcpt.test> because the account is inactive.`],
  [
    ANY,
    `ann@rcpt.test\n\n    SMTP error from remote mail server after RCPT TO:<ann@rcpt.test>:\n    host mx [192.0.2.1]: 550 unknown user\n`,
  ],
  [ANY, `Su mensaje no pudo ser entregado a: ann@rcpt.test\nMotivo: El usuario no existe`],
  [ANY, `Votre message n'a pas pu être remis à ann@rcpt.test\nUtilisateur inconnu`],
  [ANY, `以下收件人无法送达:\n\n    ann@rcpt.test\n\n原因: 550 Mailbox not found`],
  [ANY, `メールを配信できませんでした。\n宛先: <ann@rcpt.test>\n理由: 550 User unknown`],
  [ANY, `Failed to deliver to domain rcpt.test after 3 tries.\nRecipients: ann@rcpt.test;\n`],
  [ANY, `Mail Delivery Status: recipient=ann@rcpt.test code=550 no such user`],
];

t.test('refusals in the fields of a report', async (t) => {
  for (const [kinds, status, diagnostic, command] of REFUSALS) {
    const { kind, rule, recipient } = explainMail(reportOf(status, diagnostic, command), rules);
    t.ok(kinds.split('|').includes(kind), `${diagnostic}: ${kind} by ${rule}`);
    t.equal(recipient, 'ann@rcpt.test');
  }
});

t.test('texts without fields', async (t) => {
  for (const [kinds, text] of TEXTS) {
    const head = 'From: MAILER-DAEMON@mx.test\nTo: s@acme.test\nSubject: Undeliverable mail\n';
    const mail = `${head}Content-Type: text/plain; charset=utf-8\n\n${text}\n`;
    const { kind, rule, recipient } = explainMail(Buffer.from(mail), rules);
    t.ok(kinds.split('|').includes(kind), `${text}: ${kind} by ${rule}`);
    t.equal(recipient, 'ann@rcpt.test', text);
  }
});

t.test('words that stand in every report decide last', async (t) => {
  const mail = 'From: MAILER-DAEMON@mx.test\nTo: s@acme.test\nSubject: Undeliverable mail\n\n';
  const text = 'The following address does not exist:\n\n  ann@rcpt.test\n\nYour message was rejected.\n';
  t.match(explainMail(Buffer.from(mail + text), rules), { kind: 'hard', recipient: 'ann@rcpt.test' });
  const alone = text.replace('The following address does not exist', 'Delivery report for');
  t.match(explainMail(Buffer.from(mail + alone), rules), { kind: 'block', rule: 'denied-without-more' });
});

t.test('the words of who passes a reply on are not those of the reply', async (t) => {
  const mail = reportOf('5.0.0', '550 HTML without text is not what we read', 'RCPT TO');
  t.match(explainMail(mail, rules), { kind: 'soft', rule: 'unknown-5xx' });
});

t.test('a reply is judged without the words around it', async (t) => {
  const head = 'From: postmaster@mx.test\nTo: s@acme.test\nSubject: Delivery Notification: Delivery has failed\n\n';
  const told = (reply: string) =>
    `${head}Your message cannot be delivered to the following recipients:\n\n  Recipient address: ann@rcpt.test\n  Reason: Remote SMTP server has rejected address\n  Diagnostic code: smtp;${reply}\n  Remote system: dns;mx.rcpt.test (TCP|192.0.2.7|4711|198.51.100.25|25)\n`;
  const kindOf = (mail: string) => explainMail(Buffer.from(mail), rules).kind;
  // "address … not known" goes across both, `dns;` is no word about our host.
  t.equal(kindOf(told('550 Client is not known here')), 'block');
  t.equal(kindOf(told('550 5.1.1 <ann@rcpt.test>... User Unknown')), 'hard');
  t.equal(kindOf(told('550 ann@rcpt.test...User unknown')), 'hard');
  const announced =
    'The message could not be delivered because of\n\nDomain rcpt.test does not exist\n\nThe following recipients were affected:\n    ann@rcpt.test\n\nAdditional Information\n======\nOriginal Sender: <s@acme.test>\n';
  t.equal(kindOf(`${head}${announced}`), 'hard');
});

t.test('a refusal without words is about us at the door, and about the content behind it', async (t) => {
  t.match(explainMail(reportOf('5.0.0', '550 Not today', 'MAIL FROM'), rules), { kind: 'block' });
  t.match(explainMail(reportOf('5.0.0', '554 No, thank you', 'end of DATA'), rules), { kind: 'block' });
  t.match(explainMail(reportOf('5.0.0', '550 Not today', 'RCPT TO'), rules), { kind: 'soft' });
});

t.test('a delay is soft, whatever the server said', async (t) => {
  for (const said of ['450 4.1.1 User unknown', '550 5.1.1 User unknown', '451 4.7.1 blocked by policy']) {
    const mail = reportOf('4.1.1', said).toString().replace('Action: failed', 'Action: delayed');
    t.match(explainMail(Buffer.from(mail), rules), { kind: 'soft', action: 'delayed' }, said);
  }
});

t.test('nothing before the recipient was named is hard', async (t) => {
  for (const command of ['MAIL FROM', 'EHLO']) {
    const { kind } = explainMail(reportOf('5.0.0', '550 5.1.1 User unknown', command), rules);
    t.not(kind, 'hard', command);
  }
});

t.test('a rule about one provider asks where the message went, and no name in a text', async (t) => {
  const said = '550 Requested action not taken: mailbox unavailable';
  const mail = Buffer.from(
    reportOf('5.0.0', said).toString().replaceAll('mx.rcpt.test', 'mx.olc.protection.outlook.com'),
  );
  t.match(explainMail(mail, rules), { kind: 'soft', rule: 'mailbox-unavailable-alone' });
  t.match(explainMail(mail, rules, 'mx.rcpt.test'), { kind: 'soft', rule: 'mailbox-unavailable-alone' });
  for (const mx of ['outlook', 'mx.olc.protection.outlook.com']) {
    t.match(explainMail(mail, rules, mx), { kind: 'hard', rule: 'hotmail-mailbox-unavailable' }, mx);
  }
});
