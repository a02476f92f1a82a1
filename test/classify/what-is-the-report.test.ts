// What of a mail is the report, and what is not: the message that comes back, a quoted subject, the boilerplate
// of delays. And what belongs together: several groups about one recipient, the words of a Sieve script.
import t from 'tap';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';

const rules = loadBounceRules(SHIPPED_RULES);

function plain(text: string, subject = 'Undelivered mail'): Buffer {
  return Buffer.from(
    `From: MAILER-DAEMON@relay.test\nTo: s@acme.test\nSubject: ${subject}\nContent-Type: text/plain; charset=utf-8\n\n${text}`,
  );
}

const REASON = 'The message could not be delivered to\n\n  ann@rcpt.test\n\nbecause: 552 5.2.2 over quota\n\n';
/** Its words would make it hard, and name somebody else. */
const ORIGINAL = [
  'From: News <s@acme.test>',
  'To: ann@rcpt.test',
  'Subject: User unknown',
  'Date: Mon, 6 May 2024 09:10:11 +0000',
  'Message-ID: <1@acme.test>',
  'MIME-Version: 1.0',
  '',
  'bob@else.test: this user does not exist any more.',
  'My status: 550 5.1.1 User unknown',
];
const INTRODUCTIONS = [
  '',
  'Hier kommt zurück, was Sie geschrieben haben',
  '----- what the sender had to say -----',
  'For your records:',
  'Your text reads as follows:',
  'You wrote:',
  'Voici le courrier en question :',
  'これが元のメールです。',
  '========\n',
];

t.test('the message that comes back is not the report, whatever sentence introduces it', async (t) => {
  const shapes = {
    plain: ORIGINAL,
    quoted: ORIGINAL.map((line) => `> ${line}`),
    indented: ORIGINAL.map((line) => (line === '' ? line : `    ${line}`)),
  };
  for (const [shape, lines] of Object.entries(shapes)) {
    for (const introduction of INTRODUCTIONS) {
      const found = explainMail(plain(`${REASON}${introduction}\n\n${lines.join('\n')}\n`), rules);
      const name = `${shape}: ${introduction}`;
      t.match(found, { kind: 'soft', recipient: 'ann@rcpt.test', status: '5.2.2', label: 'mailbox_full' }, name);
      t.equal(found.recipients.length, 1, name);
      t.equal(found.original_message_id, '1@acme.test', name);
    }
  }
  const forPeople = ORIGINAL.filter((line) => !/^(?:Message-ID|MIME-Version):/.test(line)).join('\n');
  t.match(explainMail(plain(`${REASON}${forPeople}\n`), rules), { label: 'mailbox_full', recipients: { length: 1 } });
});

t.test('a list of the fields of a message is not the returned message', async (t) => {
  const list = 'From: s@acme.test\nTo: ann@rcpt.test\nSubject: hello\nDate: Mon, 6 May 2024 09:10:11 +0000\n\n';
  const found = explainMail(plain(`Your message\n\n${list}could not be delivered: 550 5.1.1 User unknown\n`), rules);
  t.match(found, { kind: 'hard', recipient: 'ann@rcpt.test' });
  const whole = ORIGINAL.slice(0, 6).join('\n');
  const greeted = explainMail(
    plain(`Dear s@acme.test,\n\n${whole}\n\ncould not be delivered to ann@rcpt.test: 550 5.1.1 User unknown\n`),
    rules,
  );
  t.match(greeted, { kind: 'hard', recipient: 'ann@rcpt.test' });
});

const QUOTES = [
  'Subject: Mailbox full',
  'The subject of the message is: Mailbox full',
  'with the subject "Mailbox full"',
  'titled “Mailbox full”',
  'Betreff: Postfach voll',
  'mit dem Betreff „Postfach voll“',
  'Objet : « Boite pleine »',
  '件名：メールボックス いっぱい',
];

t.test('a quoted subject is not a reason', async (t) => {
  for (const quote of QUOTES) {
    const text = `Your message\n${quote}\ncould not be delivered to\n\n  ann@rcpt.test\n\n554 Not today\n`;
    t.match(explainMail(plain(text), rules), { rule: 'unknown-5xx', recipient: 'ann@rcpt.test' }, quote);
  }
  const late = plain(REASON, 'Undeliverable: your parcel has been delayed');
  t.match(explainMail(late, rules), { action: 'failed' }, 'nor is the subject that Exchange repeats');
  const said = 'ann@rcpt.test: 554 Message subject "cheap pills" is not accepted\n';
  t.match(explainMail(plain(said), rules), { kind: 'block' }, 'the words around it stay');
});

const EXIM = `This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on relay.test.

The message identifier is:     1abCDe-0001Ab-2c
The subject of the message is: Your mailbox is full
The date of the message is:    Mon, 6 May 2024 09:10:11 +0000

The address to which the message has not yet been delivered is:

  ann@rcpt.test
REASON
No action is required on your part. Delivery attempts will continue for
some time, and this warning may be repeated at intervals if the message
remains undelivered. Eventually the mail delivery software will give up,
and when that happens, the message will be returned to you.
`;
const OPENSMTPD = `    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    A message is delayed for more than 4 hours for the following
    list of recipients:

ann@rcpt.test: REASON

    Please note that this is only a temporary failure report.
    The message is kept in the queue for up to 4 days.
    You DO NOT NEED to re-send the message to these recipients.

    Below is a copy of the original message:
`;

t.test('a delay does not quote boilerplate as its reason', async (t) => {
  for (const [name, text] of Object.entries({ EXIM, OPENSMTPD })) {
    const bare = explainMail(plain(text.replace('REASON', '')), rules);
    t.match(bare, { kind: 'soft', action: 'delayed', recipient: 'ann@rcpt.test', diagnostic: null }, name);
    t.equal(bare.rule, 'unknown-4xx', `${name}: and no rule finds one in it`);
    const said = explainMail(plain(text.replace('REASON', '450 4.2.2 Mailbox is full')), rules);
    t.match(said, { diagnostic: '450 4.2.2 Mailbox is full', label: 'mailbox_full', status: '4.2.2' }, name);
  }
});

t.test('several groups about one recipient are one', async (t) => {
  const group = (address: string, action: string, status: string, said: string) =>
    `Final-Recipient: rfc822; ${address}\nAction: ${action}\nStatus: ${status}\nDiagnostic-Code: smtp; ${said}\n\n`;
  const mail = (...groups: string[]) =>
    Buffer.from(
      `From: MAILER-DAEMON@mx.test\nTo: s@acme.test\nSubject: Failure\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nFailed.\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.test\n\n${groups.join('')}--b--\n`,
    );
  const timeout = group('ann@rcpt.test', 'failed', '4.4.1', 'connection timed out');
  const unknown = group('Ann@RCPT.test', 'failed', '5.1.1', '550 5.1.1 User unknown');
  const other = group('bob@rcpt.test', 'failed', '5.2.2', '552 5.2.2 over quota');
  for (const groups of [
    [timeout, unknown, other],
    [unknown, timeout, other],
  ]) {
    const { kind, status, recipients } = explainMail(mail(...groups), rules);
    t.match({ kind, status }, { kind: 'hard', status: '5.1.1' });
    t.equal(recipients.length, 2);
  }
  const late = group('ann@rcpt.test', 'delayed', '4.2.2', '450 4.2.2 Mailbox full');
  t.match(explainMail(mail(late, unknown), rules), { kind: 'hard', action: 'failed', recipients: { length: 1 } });
  t.match(explainMail(mail(late, late), rules), { kind: 'soft', action: 'delayed', recipients: { length: 1 } });
});

const SENTENCES = [
  'Your message to <ann@rcpt.test> was automatically rejected:\n',
  'Your message to <ann@rcpt.test> was automatically rejected:\n\n',
  'Your message was automatically rejected by Dovecot Mail Delivery.\n\nThe following reason was given:\n',
  'Your message was automatically rejected by Sieve, a mail\nfiltering language.\n\nThe following reason was given:\n',
];
const WRITTEN = 'I read no newsletters.\n\nAsk me on the phone,\nthis is for friends.';

/** RFC 5429: a receipt (RFC 8098) or a report. */
function sieve(text: string, type: 'disposition-notification' | 'delivery-status'): Buffer {
  const fields =
    type === 'delivery-status'
      ? 'Action: failed\nStatus: 5.7.1\n'
      : 'Disposition: automatic-action/MDN-sent-automatically; deleted\n';
  return Buffer.from(
    `From: Mail Delivery Subsystem <postmaster@rcpt.test>\nTo: s@acme.test\nSubject: Automatically rejected mail\nAuto-Submitted: auto-replied (rejected)\nContent-Type: multipart/report; report-type=${type}; boundary=b\n\n--b\nContent-Type: text/plain\n\n${text}\n--b\nContent-Type: message/${type}\n\nReporting-UA: rcpt.test; Dovecot\nFinal-Recipient: rfc822; ann@rcpt.test\n${fields}\n--b\nContent-Type: message/rfc822\n\nFrom: s@acme.test\nTo: ann@rcpt.test\n\nhello\n--b--\n`,
  );
}

t.test("Sieve's reject keeps its reason", async (t) => {
  for (const sentence of SENTENCES) {
    for (const type of ['disposition-notification', 'delivery-status'] as const) {
      const found = explainMail(sieve(sentence + WRITTEN, type), rules);
      t.match(found, { kind: 'block', recipient: 'ann@rcpt.test', label: 'recipient_refused' }, sentence);
      t.match(found.diagnostic, /automatically rejected.*: I read no newsletters\. Ask me on the phone, this is/);
      const claimed = explainMail(sieve(`${sentence}There is no such user any more.`, type), rules);
      t.not(claimed.kind, 'hard', 'who runs a script has a mailbox');
    }
  }
  const full = `${SENTENCES[0]}Quota exceeded (mailbox for user is full)`;
  t.match(explainMail(sieve(full, 'disposition-notification'), rules), { kind: 'soft', label: 'mailbox_full' });
});

const RATES = [
  '550 5.7.1 Sending quota exceeded',
  '450 Relay quota of 100 exceeded for this host',
  '550 Daily relaying quota reached',
  '452 4.7.1 Your IP exceeded its quota',
  '550 5.7.1 Outgoing message quota per hour exceeded',
  '421 Connection quota exceeded',
];
const FULL = [
  '552 5.2.2 Quota exceeded',
  '550 User is over quota',
  '552 Mail quota exceeded',
  '452 4.2.2 Over disk quota',
];

t.test('a quota of sending is a rate, not a full mailbox', async (t) => {
  const of = (said: string) => explainMail(plain(`ann@rcpt.test: ${said}\n`), rules);
  for (const said of RATES) t.match(of(said), { kind: 'soft', label: 'rate_limited' }, said);
  for (const said of FULL) t.match(of(said), { kind: 'soft', label: 'mailbox_full' }, said);
});

t.test('a reply goes on where its lines are wrapped', async (t) => {
  const wrapped =
    'Delivery to ann@rcpt.test failed:\n\n550 5.2.1 The email account that you tried\n    to reach is disabled\n';
  t.match(explainMail(plain(wrapped), rules), { kind: 'hard', recipient: 'ann@rcpt.test' });
  const named =
    'undeliverable to ann@rcpt.test\n\n550 spam message rejected, report it to our office, which is\n  abuse@else.test. Error code: 58C2\n';
  t.match(explainMail(plain(named), rules), { kind: 'block', recipient: 'ann@rcpt.test', recipients: { length: 1 } });
});

t.test('the writer of the report names the recipient; a reply may name others', async (t) => {
  const text = 'Your message to <ann@rcpt.test> was not delivered:\n  550 Unknown user: bob@else.test\n';
  t.match(explainMail(plain(text), rules), { kind: 'hard', recipient: 'ann@rcpt.test' });
});

t.test('a recipient may be called like an office', async (t) => {
  for (const address of ['support@rcpt.test', 'contact@help.test', 'ann@postmaster-services.test']) {
    const found = explainMail(plain(`Could not be delivered:\n\n  ${address}\n\n550 No such user\n`), rules);
    t.match(found, { kind: 'hard', recipient: address });
  }
});

t.test('a reply that quotes another means what the other means', async (t) => {
  const of = (said: string) => explainMail(plain(`ann@rcpt.test: ${said}\n`), rules);
  t.match(of('550 5.0.350 Remote server returned an error -> 550 5.1.1 No such user'), { kind: 'hard' });
  t.match(of('550 5.0.350 Remote server returned an error -> 554 5.7.1 Spam'), { kind: 'block' });
  t.match(of("550 5.1.0 - Unknown address error 554-'Blocked using spam pattern'"), { kind: 'block' });
  t.match(of('550 5.1.1 User unknown -> 550 No'), { kind: 'hard' }, 'unless the other says nothing');
});

t.test('a report of success without fields is one, though it speaks of errors that may follow', async (t) => {
  const text =
    'This is the mail system at host mx.test.\n\nYour message was successfully delivered to the destination(s)\nlisted below. If the message was delivered to mailbox you will\nreceive no further notifications. Otherwise you may still receive\nnotifications of mail delivery errors from other systems.\n\n<ann@rcpt.test>: delivery via mx.rcpt.test[192.0.2.1]:25: 250 2.0.0 Ok: queued\n';
  t.match(explainMail(plain(text, 'Successful Mail Delivery Report'), rules), { kind: 'delivered_notice' });
});

t.test('that a server gave up is not the reason: what kept the message goes first', async (t) => {
  const given: [last: string, label: string][] = [
    [
      'mailbox is full (quota exceeded while writing to file /var/mail/ann):\n    retry timeout exceeded',
      'mailbox_full',
    ],
    ['host mx.rcpt.test [192.0.2.7]: 452 4.2.2 Over quota:\n    retry timeout exceeded', 'mailbox_full'],
    ['host mx.rcpt.test [192.0.2.7]: 451 4.7.1 Greylisted:\n    retry timeout exceeded', 'greylisted'],
    ['retry timeout exceeded', 'expired'],
    ['all hosts for rcpt.test have been failing for a long time\n    (and retry time not reached)', 'expired'],
  ];
  for (const [last, label] of given) {
    const text = `A message that you sent could not be delivered to one or more of its recipients. This is a\npermanent error. The following address(es) failed:\n\n  ann@rcpt.test\n    ${last}\n`;
    t.match(explainMail(plain(text), rules), { kind: 'soft', label, recipient: 'ann@rcpt.test' }, last);
  }
  for (const passing of ['host mx.rcpt.test [192.0.2.7]: 450 4.1.1 User unknown', 'user unknown']) {
    const text = `The following address(es) failed:\n\n  ann@rcpt.test\n    ${passing}:\n    retry timeout exceeded\n`;
    t.equal(explainMail(plain(text), rules).kind, 'soft', `refused for a time only: ${passing}`);
  }
});
