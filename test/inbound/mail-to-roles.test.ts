// Mail that people write to postmaster and abuse reaches the operator, also when it quotes a bounce, attaches a mail or has
// the words of automatic replies; what says itself that a program wrote it does not.
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { PassOn } from '../../src/inbound/pass-on.ts';
import { type ProcessKit, processMail } from '../../src/inbound/process-mail.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { readInboundMail } from '../../src/protocol/mail/inbound/read-inbound-mail.ts';
import type { WaitingInboundMail } from '../../src/store/inbound.ts';
import { BOOK, processKit, RETURN_PATH, waitingMail } from './process-kit.ts';

const OPERATOR = 'operator@acme.test';

function kit() {
  const sent: string[] = [];
  const passOn = new PassOn({
    operatorAddress: OPERATOR,
    recipients: BOOK,
    clock: systemClock,
    log: silentLogger,
    async send({ to, subject, text }) {
      sent.push(`${to} ${subject}\n${text}`);
      return { kind: 'queued' };
    },
  });
  const take: ProcessKit['passOn'] = (mail, role, about) => passOn.take(mail, { role, ...about });
  return { sent, process: processKit(null, { passOn: take }) };
}

function written(content: string, change: Partial<WaitingInboundMail> = {}): WaitingInboundMail {
  return waitingMail(content, { mailFrom: 'bob@people.test', recipients: ['abuse@bounces.test'], ...change });
}

const ORIGINAL = 'From: App <app@acme.test>\nTo: ann@rcpt.test\nMessage-ID: <1@acme.test>\nSubject: Hi\n\nHello\n';
const parts = (type: string, text: string, more = '') =>
  `From: Bob <bob@people.test>\nSubject: Undelivered mail\nContent-Type: ${type}; boundary=b\n\n--b\n\n${text}\n${more}--b\nContent-Type: message/rfc822\n\n${ORIGINAL}--b--\n`;
const BOUNCE = '<ann@rcpt.test>: 550 5.1.1 Message could not be delivered, user unknown';

const BY_PEOPLE: [name: string, mail: string][] = [
  [
    'a quoted bounce',
    `From: bob@people.test\nSubject: Undelivered mail, again\n\nWhy does this happen?\n\n${BOUNCE}\n`,
  ],
  ['an attached mail', parts('multipart/mixed', `What is this?\n\n${BOUNCE}`)],
  ['a complaint that proves nothing', parts('multipart/mixed', 'Complaint about message from 192.0.2.7. Please stop.')],
];

const worded = (subject: string, text: string, field = '') =>
  `From: bob@people.test\nSubject: ${subject}\n${field}\n${text}\n`;
const IN_WORDS_OF_PROGRAMS: [subject: string, text: string, field?: string][] = [
  ['Phishing', 'Your customer writes to our users:\n\n> Please verify your e-mail within 24 hours.'],
  ['Spam: "Please confirm your email"', 'Nobody here has signed up.'],
  ['Vacation spam from your network', 'They sell holiday flats.'],
  ['Blocked', 'Your message to our users is being held by our gateway, since SPF fails.'],
  ['Former employee', 'Ann is no longer employed by the company. Please contact me instead.'],
  ['Question', 'What is this?', 'X-Auto-Response-Suppress: DR, OOF, AutoReply\n'],
  ['Question', 'What is this?', 'Auto-Submitted: no\nX-Autoreply: no\nPrecedence: normal\n'],
];

t.test('words of automatic replies do not make one of what people write', async (t) => {
  for (const [subject, text, field] of IN_WORDS_OF_PROGRAMS) {
    for (const to of ['abuse@bounces.test', 'postmaster@mail.postrider.test']) {
      const { sent, process } = kit();
      const outcome = await processMail(written(worded(subject, text, field), { recipients: [to] }), process, true);
      t.match(outcome, { update: { verdict: { kind: 'human', effect: 'forwarded' } } }, `${subject} ${field}, ${to}`);
      t.equal(sent.length, 1, `${subject}, ${to}`);
    }
  }
});

t.test('what people write is passed on', async (t) => {
  for (const [name, mail] of BY_PEOPLE) {
    t.match(readInboundMail(Buffer.from(mail)), { kind: /report|complaint/ }, `${name}, as its words alone tell`);
    for (const [to, role] of [
      ['abuse@bounces.test', 'abuse'],
      ['postmaster@mail.postrider.test', 'postmaster'],
    ] as const) {
      const { sent, process } = kit();
      const outcome = await processMail(written(mail, { recipients: [to] }), process, true);
      t.match(outcome, { update: { verdict: { kind: 'human', effect: 'forwarded' }, action: null } }, `${name}, ${to}`);
      t.match(sent, [RegExp(`^${OPERATOR} \\[${role}\\] .*Undelivered mail`)], `${name}, ${to}`);
    }
  }
});

t.test('what programs write is not', async (t) => {
  const status =
    'Reporting-MTA: dns; mx.test\n\nFinal-Recipient: rfc822; ann@rcpt.test\nAction: failed\nStatus: 5.1.1\n';
  const report = (type: string, text: string) => `--b\nContent-Type: message/${type}\n\n${text}\n`;
  const receipt = report('disposition-notification', 'Disposition: manual-action/MDN-sent-manually; displayed\n');
  const [, attached] = BY_PEOPLE[1]!;
  const [, complaint] = BY_PEOPLE[2]!;
  const cases: [name: string, kind: string, mail: WaitingInboundMail][] = [
    ['without a sender', 'report', written(attached, { mailFrom: '' })],
    ['a complaint without a sender', 'complaint', written(complaint, { mailFrom: '' })],
    ['Auto-Submitted', 'report', written(`Auto-Submitted: auto-generated\n${attached}`)],
    ['to fbl', 'complaint', written(complaint, { recipients: ['fbl@bounces.test'] })],
    ['to a return path', 'report', written(attached, { recipients: [RETURN_PATH] })],
    ['to a return path, too', 'report', written(attached, { recipients: ['abuse@bounces.test', RETURN_PATH] })],
    ['a typed report', 'report', written(parts('multipart/report; report-type=delivery-status', BOUNCE))],
    ['fields of a report', 'report', written(parts('multipart/mixed', BOUNCE, report('delivery-status', status)))],
    ['an automatic reply without a sender', 'auto_reply', written(worded('Away', 'I am away'), { mailFrom: '' })],
    ...[
      'Auto-Submitted: auto-replied (vacation)',
      'X-Autoreply: yes',
      'X-Autorespond: x',
      'Precedence: auto_reply',
      'X-Mailer: vacation 1.2',
    ].map((field): [string, string, WaitingInboundMail] => [
      field,
      'auto_reply',
      written(worded('Your mail', 'Hello', `${field}\n`)),
    ]),
    ['a receipt', 'auto_reply', written(parts('multipart/mixed', 'x', receipt))],
    ['ARF', 'complaint', written(parts('multipart/mixed', 'x', report('feedback-report', 'Feedback-Type: abuse\n')))],
  ];
  for (const [name, kind, mail] of cases) {
    const { sent, process } = kit();
    t.match(await processMail(mail, process, true), { update: { verdict: { kind, effect: 'none' } } }, name);
    t.strictSame(sent, [], name);
  }
});
