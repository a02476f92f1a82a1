// What came to a return path without a sender: a report or an automatic reply, and never a person's mail.
import t from 'tap';
import { judgeInboundMail } from '../../../../src/classify/judge-report.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../../../src/classify/load-rules.ts';
import type { KnownEnvelope } from '../../../../src/protocol/mail/inbound/inbound-mail.ts';
import { readInboundMail } from '../../../../src/protocol/mail/inbound/read-inbound-mail.ts';
import { readCorpus } from '../../../corpus/read-corpus.ts';

const RECIPIENT = 'Jo.Doe@rcpt.test';
const RETURN_PATH = 'babcdef@bounces.acme.test';
const NULL_SENDER: KnownEnvelope = { hasNullSender: true, returnPath: { recipient: RECIPIENT } };
const PERSON: KnownEnvelope = { hasNullSender: false, returnPath: { recipient: RECIPIENT } };
const TO_ROLE: KnownEnvelope = { hasNullSender: true, returnPath: null };
const rules = loadBounceRules(SHIPPED_RULES);

function mail(fields: Record<string, string>, text: string): Buffer {
  const all = { To: RETURN_PATH, 'Message-ID': '<1@rcpt.test>', ...fields };
  const header = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${header.join('')}\r\n${text}\r\n`);
}

/** No message, so no MX group either. */
const NOTHING_KNOWN = { mx: null, sent: null };

t.test('nothing that anybody knows: a report of unknown cause, for the recipient of the message', async (t) => {
  for (const [name, octets] of Object.entries({
    'words of no known kind': mail({ From: 'x@gate.test', Subject: 'Zprava 77' }, 'Vase zprava: stav 77, kod Q.'),
    'no words': mail({ From: 'x@gate.test', Subject: '' }, ''),
    'only a file': mail({ From: 'x@gate.test', 'Content-Type': 'application/pdf' }, '%PDF'),
    'no header': Buffer.from('it did not work out\r\n'),
    'nothing at all': Buffer.alloc(0),
  })) {
    const found = readInboundMail(octets, NULL_SENDER);
    t.match(found, { kind: 'report', recipients: [{ address: RECIPIENT, action: 'failed' }], unrecognised: {} }, name);
    t.match(judgeInboundMail(found, rules, NOTHING_KNOWN), { kind: 'soft' }, `${name}: soft`);
    for (const envelope of [PERSON, TO_ROLE, undefined]) {
      t.match(readInboundMail(octets, envelope), { kind: /human|unreadable/ }, `${name}: otherwise a person's`);
    }
  }
});

t.test('words that are known decide as in any report', async (t) => {
  const read = (fields: Record<string, string>, text: string) => {
    const found = readInboundMail(mail(fields, text), NULL_SENDER);
    t.notOk(found.kind === 'report' && found.unrecognised, 'it is recognised');
    return judgeInboundMail(found, rules, NOTHING_KNOWN);
  };
  const gate = { From: 'gate@relay.test', Subject: 'Information about your message' };
  t.match(read(gate, 'Your message could not be delivered.\r\n550 5.1.1 User unknown'), {
    kind: 'hard',
    recipients: [{ recipient: RECIPIENT, status: '5.1.1' }],
  });
  t.match(read({ ...gate, Subject: 'Undeliverable' }, 'The mailbox is full.'), { kind: 'soft' });
  t.match(read({ ...gate, Subject: 'Delivery delayed' }, 'It will be retried for two days.'), {
    kind: 'soft',
    recipients: [{ action: 'delayed' }],
  });
  const named = read(
    gate,
    'Your message could not be delivered to the following recipients:\r\n<else@rcpt.test>: user unknown',
  );
  t.match(named.recipients, [{ recipient: 'else@rcpt.test' }], 'whom the report names is named');
});

t.test('what looks like an answer is an automatic reply', async (t) => {
  const words = 'Danke, wir melden uns. Your message could not be delivered to my phone.';
  const other = { From: 'x@gate.test', Subject: 'Zprava' };
  for (const [name, fields] of Object.entries({
    'a field of such programs': { ...other, 'Auto-Submitted': 'auto-replied' },
    'from the recipient': { From: '"Jo" <jo.doe@RCPT.test>', Subject: 'Danke' },
    'from the recipient, without the detail': { From: 'Jo.Doe@rcpt.test', Subject: 'Danke' },
  })) {
    const envelope = { ...NULL_SENDER, returnPath: { recipient: 'Jo.Doe+shop@rcpt.test' } };
    t.match(readInboundMail(mail(fields, words), envelope), { kind: 'auto_reply' }, name);
  }
  for (const [name, fields] of Object.entries({
    'the subject of an answer': { ...other, Subject: 'Re: Hello' },
    'it answers a message': { ...other, 'In-Reply-To': '<1234@acme.test>' },
  })) {
    const found = readInboundMail(mail(fields, 'Danke, wir melden uns.'), NULL_SENDER);
    t.match(found, { kind: 'auto_reply', evidence: /it has no sender/ }, name);
  }
});

t.test('the subject that an automatic reply repeats says nothing about its writer', async (t) => {
  const words =
    'Jo has left the company and this mailbox is no longer in use.\r\nYour message was not delivered to anybody. Please write to\r\nbob@rcpt.test';
  const subject = 'Delivery failed - please choose a new date';
  const replied = { 'Auto-Submitted': 'auto-replied' };
  for (const [name, fields] of Object.entries({
    'from the recipient': { From: `Jo <${RECIPIENT}>`, Subject: `Automatic reply: ${subject}`, ...replied },
    'from the recipient, with only our subject': { From: RECIPIENT, Subject: subject, ...replied },
    'from the recipient, and no field for programs': { From: RECIPIENT, Subject: subject },
    'from an alias': { From: 'jd@rcpt.test', Subject: `Automatic reply: ${subject}`, ...replied },
    'from an alias, in German': { From: 'jd@rcpt.test', Subject: `Abwesenheitsnotiz: ${subject}` },
    'from somebody who is called almost like a virus scanner': {
      From: 'J. Sims <jsims@rcpt.test>',
      Subject: `Automatic reply: ${subject}`,
      ...replied,
    },
  })) {
    t.match(readInboundMail(mail(fields, words), NULL_SENDER), { kind: 'auto_reply' }, name);
    t.match(readInboundMail(mail(fields, words), PERSON), { kind: /auto_reply|human/ }, `${name}, with a sender`);
  }
  const scanner = { From: 'imss@rcpt.test', Subject: 'Notice' };
  t.match(readInboundMail(mail(scanner, words), NULL_SENDER), { kind: 'report' }, 'a scanner is one');
});

t.test('Auto-Submitted alone makes a mail no automatic reply, since reports have it, too (RFC 3834)', async (t) => {
  const daemon = { From: 'MAILER-DAEMON@mx.rcpt.test', Subject: 'Notice of the mail system' };
  const gate = { ...daemon, From: 'gate@rcpt.test' };
  for (const submitted of ['auto-replied', 'auto-generated (rejected)', 'no']) {
    const field = { 'Auto-Submitted': submitted };
    const read = (fields: Record<string, string>, text: string) =>
      judgeInboundMail(readInboundMail(mail({ ...fields, ...field }, text), NULL_SENDER), rules, NOTHING_KNOWN);
    const gone = `<${RECIPIENT}>: no such user here`;
    t.match(read(daemon, gone), { kind: 'hard', recipients: [{ recipient: RECIPIENT }] }, submitted);
    t.match(read(daemon, '<else@rcpt.test>: no such user here'), { kind: 'hard' }, `${submitted}, about another`);
    t.match(read(gate, `<${RECIPIENT}>: 550 5.1.1 no such user here`), { kind: 'hard' }, `${submitted}, with a reply`);
    t.match(read(gate, `<${RECIPIENT}>: 550 no such user here`), { kind: 'soft' }, `${submitted}, nobody knows whose`);
    for (const [name, fields] of Object.entries({
      'the subject of a reply': { ...daemon, Subject: 'Automatic reply: Hello' },
      'a field of such programs': { ...daemon, 'X-Autoreply': 'yes' },
    })) {
      t.match(read(fields, gone), { kind: 'auto_reply' }, `${submitted}, ${name}`);
    }
  }
  const submitted = { Subject: 'Ticket 4711', 'Auto-Submitted': 'auto-replied' };
  for (const [from, text] of [
    ['complaints@rcpt.test', 'Thank you. Somebody will look at it.'],
    ['complaints@rcpt.test', `Thank you. It came from\r\n${RETURN_PATH}`],
    ['desk@rcpt.test', `Thank you for the mail to:\r\n${RECIPIENT}\r\nOur room is number 550.`],
    ['desk@rcpt.test', '<else@rcpt.test>: 550 no such user here'],
  ] as const) {
    const found = readInboundMail(mail({ ...submitted, From: from }, text), NULL_SENDER);
    t.match(found, { kind: 'auto_reply', evidence: 'it says Auto-Submitted: auto-replied' }, `${from}: ${text}`);
  }
});

t.test('of all mails of the corpus none is human mail, and what was recognised is what it was', async (t) => {
  let recognised = 0;
  for (const { file, octets } of readCorpus('bounces')) {
    const [before, after] = [readInboundMail(octets), readInboundMail(octets, NULL_SENDER)];
    if (!/^(report|complaint|auto_reply)$/.test(after.kind)) t.fail(`${file}: ${after.kind}`);
    if (before.kind === 'human' || before.kind === 'unreadable') continue;
    recognised++;
    const judged = [before, after].map((found) => judgeInboundMail(found, rules, NOTHING_KNOWN).kind);
    if (before.kind !== after.kind || judged[0] !== judged[1]) t.fail(`${file}: ${judged.join(' became ')}`);
  }
  t.ok(recognised > 250, `${recognised} recognised`);
});
