// bounce reply and bounce explain, from outside.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { leastOf } from '../support/processor-time.ts';
import { PROGRAM, PROGRAM_ARGUMENTS, runInThisProcess } from '../support/program.ts';
import { testFolder } from '../support/test-folder.ts';

t.test('bounce reply says what a reply means and what decided', async (t) => {
  const asJson = async (...args: string[]) => {
    const { code, stdout } = await runInThisProcess(['bounce', 'reply', ...args, '--json']);
    t.equal(code, 0);
    return JSON.parse(stdout);
  };
  t.same(await asJson('550 5.1.1 <ann@rcpt.test>: User unknown'), {
    class: 'hard',
    label: 'no_mailbox',
    action: 'give_up',
    rule: 'no-such-mailbox',
    reason: 'the mailbox does not exist',
    suspend: null,
  });
  t.match(await asJson('421 4.7.28 Gmail has detected an unusual rate of mail originating from your IP address'), {
    class: 'block',
    action: 'suspend',
    suspend: { first_secs: 3600, for_secs: 3600, scope: 'source' },
  });
  t.match(await asJson('450 4.7.1 Error: too much mail from 192.0.2.1'), {
    suspend: { first_secs: 60, for_secs: 900, scope: 'group' },
  });
  const unavailable = '550 Requested action not taken: mailbox unavailable';
  t.match(await asJson(unavailable), { class: 'soft', rule: 'mailbox-unavailable-alone' });
  t.match(await asJson(unavailable, '--mx', 'mx00.gmx.net'), { class: 'hard', rule: 'gmx-mailbox-unavailable' });
});

t.test('bounce reply for people', async (t) => {
  const { code, stdout } = await runInThisProcess([
    'bounce',
    'reply',
    '554 Client host blocked using zen.spamhaus.org',
  ]);
  t.equal(code, 0);
  t.match(stdout, /class: +block\n/);
  t.match(stdout, /rule: +dns-block-list\n/);
  t.match(stdout, /pause: +14400 s, of the source\n/);
  const temporary = await runInThisProcess(['bounce', 'reply', '450 too much mail']);
  t.match(temporary.stdout, /pause: +60 to 900 s, of the group\n/);
  const coded = await runInThisProcess(['bounce', 'reply', '4.7.1 too much mail']);
  t.match(coded.stdout, /pause: +60 to 900 s, of the group\n/, 'by its enhanced code alone');
  const final = await runInThisProcess(['bounce', 'reply', '5.7.1 Client host blocked using zen.spamhaus.org']);
  t.match(final.stdout, /pause: +14400 s, of the source\n/);
});

t.test('bounce reply without a reply', async (t) => {
  t.match(await runInThisProcess(['bounce', 'reply']), { code: 2, stderr: /REPLY is missing/ });
  t.match(await runInThisProcess(['bounce', 'reply', ' ']), { code: 2, stderr: /must not be empty/ });
  const wrong = { code: 2, stdout: '' };
  for (const reply of ['250 ok', '250 2.0.0 queued', '2.0.0 ok', '354 go on', '250-first']) {
    const stderr = /^postrider: REPLY: "[^"]+" does not reject anything; expected a 4xx or 5xx reply, such as "550/;
    t.match(await runInThisProcess(['bounce', 'reply', reply]), { ...wrong, stderr }, reply);
  }
  for (const reply of ['foo', 'User unknown', '55 5.1.1', '750 x']) {
    const stderr = /^postrider: REPLY: "[^"]+" is not an SMTP reply; expected a 4xx or 5xx reply/;
    t.match(await runInThisProcess(['bounce', 'reply', reply]), { ...wrong, stderr }, reply);
  }
  for (const reply of ['550', '5.1.1 User unknown', 'smtp; 450 4.2.2 full', '550-5.1.1 gone']) {
    t.equal((await runInThisProcess(['bounce', 'reply', reply])).code, 0, reply);
  }
});

const TWO_RECIPIENTS = `From: Mailer Daemon <MAILER-DAEMON@mx.test>
To: s@acme.test
Subject: Delivery status notification: error

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

ann@rcpt.test: 550 5.1.1 <ann@rcpt.test>... User Unknown
bob@rcpt.test: 550 5.2.2 <bob@rcpt.test>... Mailbox Full

    Below is a copy of the original message:

Received: from x
Message-ID: <1234@acme.test>
`;

t.test('bounce explain says what a mail is, and of whom', async (t) => {
  const file = path.join(testFolder(t, { 'bounce.eml': TWO_RECIPIENTS }), 'bounce.eml');
  const { code, stdout } = await runInThisProcess(['bounce', 'explain', file, '--json']);
  t.equal(code, 0);
  const first = {
    recipient: 'ann@rcpt.test',
    kind: 'hard',
    action: 'failed',
    status: '5.1.1',
    smtp_code: 550,
    label: 'no_mailbox',
    rule: 'no-such-mailbox',
    reason: 'the mailbox does not exist',
    remote_mta: null,
    diagnostic: '550 5.1.1 <ann@rcpt.test>... User Unknown',
  };
  t.match(JSON.parse(stdout), {
    ...first,
    reporting_mta: null,
    original_message_id: '1234@acme.test',
    feedback_type: null,
    recipients: [first, { recipient: 'bob@rcpt.test', kind: 'soft', status: '5.2.2', label: 'mailbox_full' }],
  });
  const forPeople = await runInThisProcess(['bounce', 'explain', file]);
  t.match(
    forPeople.stdout,
    /kind: +hard\n[\s\S]*reason: +the mailbox does not exist\n[\s\S]*also: bob@rcpt.test: soft 5.2.2, the mailbox is full/,
  );
});

const FORWARDED = `From: MAILER-DAEMON@mx.test
To: s@acme.test
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

Original-Recipient: rfc822;ann@rcpt.test
Final-Recipient: rfc822; bob@elsewhere.test
Action: failed
Status: 5.0.0
Remote-MTA: dns; mx00.gmx.net
Diagnostic-Code: smtp; 550 Requested action not taken: mailbox unavailable

--b--
`;
const COMPLAINT = `From: fbl@mx.test
To: s@acme.test
Subject: complaint
Content-Type: multipart/report; report-type=feedback-report; boundary=b

--b
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: x/1
Version: 1
Original-Rcpt-To: <ann@rcpt.test>

--b
Content-Type: message/rfc822

Message-ID: <1234@acme.test>
Subject: x

x
--b--
`;
const OUT_OF_OFFICE =
  'From: ann@rcpt.test\nTo: s@acme.test\nSubject: Out of office\nAuto-Submitted: auto-replied\n\nI am away.\n';

const OF_RECIPIENT = ['recipient', 'original_recipient', 'kind', 'action', 'status', 'smtp_code', 'label', 'rule'];
const KEYS = [...OF_RECIPIENT, 'reason', 'remote_mta', 'diagnostic'];

t.test('bounce explain prints the same fields for every kind of mail', async (t) => {
  const mails = {
    forwarded: FORWARDED,
    bounce: TWO_RECIPIENTS,
    complaint: COMPLAINT,
    away: OUT_OF_OFFICE,
    no: 'words',
  };
  const folder = testFolder(t, mails);
  for (const name of Object.keys(mails)) {
    const { stdout } = await runInThisProcess(['bounce', 'explain', path.join(folder, name), '--json']);
    const found = JSON.parse(stdout);
    const ofMail = [...KEYS, 'file', 'reporting_mta', 'original_message_id', 'feedback_type', 'recipients'];
    t.same(Object.keys(found).sort(), ofMail.sort(), name);
    t.equal(found.recipients.length > 0, name !== 'no', name);
    for (const recipient of found.recipients) t.same(Object.keys(recipient).sort(), [...KEYS].sort(), name);
    t.equal(found.original_recipient, name === 'forwarded' ? 'ann@rcpt.test' : null, name);
  }
});

t.test('bounce explain and the provider that the message was sent to', async (t) => {
  const file = path.join(testFolder(t, { 'bounce.eml': FORWARDED }), 'bounce.eml');
  const explain = async (...args: string[]) => {
    const { stdout } = await runInThisProcess(['bounce', 'explain', file, '--json', ...args]);
    return JSON.parse(stdout);
  };
  t.match(await explain(), { kind: 'soft', rule: 'mailbox-unavailable-alone' }, 'no name in the mail is believed');
  t.match(await explain('--mx', 'mx00.gmx.net'), { kind: 'hard', rule: 'gmx-mailbox-unavailable' });
  t.match(
    await explain('--mx', 'mx00.gmx.net,mx.there.test'),
    { kind: 'soft' },
    'a group of which one host is strange',
  );
});

t.test('bounce explain reads standard input', async (t) => {
  const stdout = await new Promise<string>((resolve) => {
    const child = execFile(process.execPath, [...PROGRAM_ARGUMENTS, 'bounce', 'explain', '-', '--json'], (_, out) =>
      resolve(out),
    );
    child.stdin!.end(TWO_RECIPIENTS.replaceAll('\n', '\r\n'));
  });
  t.match(JSON.parse(stdout), { kind: 'hard', recipient: 'ann@rcpt.test' });
});

t.test('bounce explain and what is no mail', async (t) => {
  const folder = testFolder(t, { empty: '', noise: Buffer.from([0, 200, 201, 10, 13]), lines: 'just words' });
  const explain = (name: string) => runInThisProcess(['bounce', 'explain', path.join(folder, name), '--json']);
  const large = path.join(folder, 'large');
  fs.writeFileSync(large, '');
  fs.truncateSync(large, 50_000_000);
  t.match(await explain('missing'), { code: 1, stderr: /missing cannot be read: no such file/ });
  t.match(await explain('empty'), { code: 1, stderr: /empty is empty/ });
  t.match(await explain('.'), { code: 1, stderr: /cannot be read/ });
  t.match(await explain('large'), { code: 1, stderr: /larger than 32 MiB/ });
  for (const name of ['noise', 'lines']) {
    const { code, stdout } = await explain(name);
    t.equal(code, 0);
    t.match(JSON.parse(stdout), { kind: 'unknown', recipient: null, reason: 'it has no header, so it is no mail' });
  }
  t.match(await runInThisProcess(['bounce', 'explain']), { code: 2, stderr: /FILE is missing/ });
});

t.test('bounce explain reads many mails, each a line of JSON', async (t) => {
  const folder = testFolder(t, { 'bounce.eml': TWO_RECIPIENTS, 'away.eml': OUT_OF_OFFICE, 'empty.eml': '' });
  const named = (name: string) => path.join(folder, name);
  const files = ['bounce.eml', 'missing.eml', 'away.eml', 'empty.eml', 'bounce.eml'].map(named);
  const { code, stdout, stderr } = await runInThisProcess(['bounce', 'explain', ...files, '--json']);
  t.equal(code, 1, 'two could not be read');
  const lines = stdout.trimEnd().split('\n');
  t.match(
    lines.map((line) => JSON.parse(line)),
    [
      { file: files[0], kind: 'hard', recipient: 'ann@rcpt.test', recipients: [{}, { kind: 'soft' }] },
      { file: files[1], error: `${files[1]} cannot be read: no such file or folder` },
      { file: files[2], kind: 'auto_reply', recipient: 'ann@rcpt.test' },
      { file: files[3], error: `${files[3]} is empty` },
      { file: files[4], kind: 'hard' },
    ],
    'in the order of the arguments',
  );
  t.equal(
    stderr,
    `postrider bounce explain: ${files[1]} cannot be read: no such file or folder\npostrider bounce explain: ${files[3]} is empty\n`,
  );
  const good = await runInThisProcess(['bounce', 'explain', files[2]!, '--json', files[0]!]);
  t.match(good, { code: 0, stderr: '' });
  const alone = await runInThisProcess(['bounce', 'explain', files[1]!, '--json']);
  t.same(JSON.parse(alone.stdout), {
    file: files[1],
    error: `${files[1]} cannot be read: no such file or folder`,
  });
  t.equal(alone.code, 1);
});

t.test('bounce explain reads many mails, for people', async (t) => {
  const folder = testFolder(t, { 'a.eml': TWO_RECIPIENTS, 'b.eml': OUT_OF_OFFICE });
  const [a, b, missing] = ['a.eml', 'b.eml', 'missing.eml'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const one = (await runInThisProcess(['bounce', 'explain', a])).stdout;
  const other = (await runInThisProcess(['bounce', 'explain', b])).stdout;
  t.match(one, /^kind: /, 'one alone has no heading');
  t.match(await runInThisProcess(['bounce', 'explain', a, missing, b]), {
    code: 1,
    stdout: `==> ${a} <==\n${one}\n==> ${b} <==\n${other}`,
    stderr: `postrider bounce explain: ${missing} cannot be read: no such file or folder\n`,
  });
  t.match(await runInThisProcess(['bounce', 'explain', missing]), { code: 1, stdout: '' });
  const help = await runInThisProcess(['help', 'bounce', 'explain']);
  t.match(
    help.stdout,
    /^Usage: postrider bounce explain FILE… \[--mx HOST\]\n[\s\S]*FILE… +the raw mails.*; - reads standard input/,
  );
  t.match(help.stdout, /--json +print one line of JSON for each file/);
});

t.test('bounce explain reads the rules once', async (t) => {
  const folder = testFolder(t, { 'a.eml': TWO_RECIPIENTS });
  const files = (count: number) => Array.from({ length: count }, () => path.join(folder, 'a.eml'));
  const spent = await leastOf({
    one: [PROGRAM, 'bounce', 'explain', '--json', ...files(1)],
    thousand: [PROGRAM, 'bounce', 'explain', '--json', ...files(1000)],
  });
  t.comment(spent);
  t.ok(spent.thousand! < 20 * spent.one!, 'a thousand mails cost less than twenty calls');
});
