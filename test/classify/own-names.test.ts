// A refusal may name our sender instead of the recipient: the server called the return path back. Then an absent user
// is that one.
import t from 'tap';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { namingSender } from '../../src/classify/own-names.ts';
import { sampleReport } from './sample-report.ts';

const rules = loadBounceRules(SHIPPED_RULES);

const SENDERS = ['shop@acme.test', 'b1@bounces.acme.test'];

t.test('names of the sender become words', async (t) => {
  const named = (reply: string, recipient = 'ann@rcpt.test') =>
    namingSender(reply, { senders: SENDERS, recipients: [recipient] });
  t.equal(named('550 <B1@Bounces.Acme.Test>: User unknown'), '550 <sender address>: User unknown');
  t.equal(named('550 shop@acme.test... no such user'), '550 sender address no such user');
  t.equal(named('550 Domain acme.test does not exist'), '550 Domain sender domain does not exist');
});

t.test('nothing is changed if somebody else is named, too', async (t) => {
  for (const reply of [
    '550 <ann@rcpt.test>: User unknown, mail from <shop@acme.test>',
    '550 shop@acme.test wrote to bob@elsewhere.test, who is unknown',
    '550 User unknown',
    '550 mail.acme.test and acme.test.example are other hosts',
    '550 <other@acme.test>: User unknown',
  ]) {
    t.equal(namingSender(reply, { senders: SENDERS, recipients: ['ann@rcpt.test'] }), reply);
  }
});

t.test("the recipient's own address and domain are never the sender's", async (t) => {
  const toOneself = { senders: SENDERS, recipients: ['shop@acme.test'] };
  t.equal(namingSender('550 <shop@acme.test>: User unknown', toOneself), '550 <shop@acme.test>: User unknown');
  const toColleague = { senders: [...SENDERS, 'acme.test'], recipients: ['ann@acme.test'] };
  t.equal(namingSender('550 Domain acme.test is unknown', toColleague), '550 Domain acme.test is unknown');
  t.equal(namingSender('550 <ann@acme.test>: User unknown', toColleague), '550 <ann@acme.test>: User unknown');
});

t.test('a domain of ours has our addresses only', async (t) => {
  const parties = { senders: ['bounces.test'], recipients: ['ann@rcpt.test'] };
  t.equal(namingSender('<b7@bounces.test> unknown', parties), '<sender address> unknown');
  t.equal(namingSender('<b7@eu.bounces.test> unknown', parties), '<sender address> unknown');
  t.equal(namingSender('<b7@mybounces.test> unknown', parties), '<b7@mybounces.test> unknown');
});

/** As Postfix writes it, with the returned header. */
const ORIGINAL = `Return-Path: <b1@bounces.acme.test>
From: Shop <shop@acme.test>
To: ann@rcpt.test
Subject: Your order`;

function reportOf(reply: string): Buffer {
  const text = `<ann@rcpt.test>: host mx.rcpt.test[192.0.2.1] said: ${reply} (in reply to RCPT TO command)`;
  return sampleReport({ text, reply, original: ORIGINAL });
}

t.test('in a report, the returned header says who the sender is', async (t) => {
  for (const reply of [
    '550 5.1.0 <b1@bounces.acme.test>: User unknown',
    '550 shop@acme.test: no such user',
    '550 verify shop@acme.test: mailbox does not exist',
    '550 Callback to b1@bounces.acme.test failed: no such user',
    '550 Unknown user shop@acme.test',
  ]) {
    t.match(explainMail(reportOf(reply), rules), { kind: 'block', label: 'sender_refused' }, reply);
  }
  for (const reply of [
    '550 5.1.1 <ann@rcpt.test>: User unknown',
    '550 No such user here',
    '550 <ann@rcpt.test>: no such user (shop@acme.test wrote)',
  ]) {
    t.match(explainMail(reportOf(reply), rules), { kind: 'hard' }, reply);
  }
});
