// Reports name the message by its subject, mostly without saying that it is one. The returned header has it too, so that
// its words are not taken for the reason.
import t from 'tap';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { withoutSubject } from '../../src/protocol/mail/inbound/quoted-subject.ts';
import { sampleReport } from './sample-report.ts';

const rules = loadBounceRules(SHIPPED_RULES);

t.test('the subject goes, as far as it was quoted', async (t) => {
  const subject = 'This account no longer exists, and neither does its mailbox';
  t.equal(withoutSubject(`Your mail "${subject}" failed`, subject), 'Your mail " " failed');
  t.equal(withoutSubject(`${subject}: ${subject}.`, subject), ' :  .');
  t.equal(withoutSubject('Mail "This account no longer exists, and neither..." failed', subject), 'Mail " ..." failed');
  t.equal(withoutSubject('This account no longer exists.', subject), 'This account no longer exists.');
  t.equal(withoutSubject('User unknown', 'User unknown'), 'User unknown', 'it may be the reason');
  t.equal(withoutSubject('nothing', ''), 'nothing');
});

function reportOf(text: string, reply: string, subject: string): Buffer {
  const original = `From: Shop <shop@acme.test>
To: ann@rcpt.test
Subject: ${subject}`;
  return sampleReport({ text, reply, original });
}

const QUOTING: [text: string, reply: string, subject: string][] = [
  [
    'Your document:  Invalid email address in your order\nwas not delivered to:  ann@rcpt.test\nbecause:  Router failure',
    '554 Router failure',
    'Invalid email address in your order',
  ],
  [
    'Your message "This account no longer exists" to ann@rcpt.test could not be delivered.',
    '554 delivery error',
    'This account no longer exists',
  ],
  [
    'Your message "Your mailbox does not exist any more unless you ..." to ann@rcpt.test could not be delivered.',
    '554 delivery error',
    'Your mailbox does not exist any more unless you sign in',
  ],
  [
    'Your message "Utilisateur inconnu à cette adresse" to ann@rcpt.test could not be delivered.',
    '554 delivery error',
    '=?utf-8?Q?Utilisateur_inconnu_=C3=A0_cette_adresse?=',
  ],
  ['Delivery to ann@rcpt.test failed.', '554 This account no longer exists: refused', 'This account no longer exists'],
];

t.test('its words are no reason', async (t) => {
  for (const [text, reply, subject] of QUOTING) {
    const { kind, rule } = explainMail(reportOf(text, reply, subject), rules);
    t.not(kind, 'hard', `${text}: ${rule}`);
    const stated = explainMail(reportOf(text, '550 5.1.1 <ann@rcpt.test>: User unknown', subject), rules);
    t.equal(stated.kind, 'hard', `${text}: ${stated.rule}`);
  }
});
