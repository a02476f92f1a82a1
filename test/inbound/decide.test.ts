// The decisions about reports and complaints, as tables.
import t from 'tap';
import type { JudgedRecipient } from '../../src/classify/judge-report.ts';
import { decideComplaint } from '../../src/inbound/decide-complaint.ts';
import { decideReport, type ReportFacts } from '../../src/inbound/decide-report.ts';
import { bareLineEndAt, lineAt } from '../../src/smtp-listener/line-ends.ts';
import type { ReportedMessage } from '../../src/store/inbound.ts';

const MESSAGE: ReportedMessage = {
  id: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e10',
  tenantId: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e11',
  submissionId: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e12',
  recipient: 'Jo@x.test',
  from: 'a@acme.test',
  fromDomain: 'acme.test',
  subject: 'Hello',
  labels: null,
  state: 'delivered',
  attempts: 1,
  createdAt: 0,
  mxGroup: 'mx.x.test',
  bouncesDomain: null,
};

function said(change: Partial<JudgedRecipient> = {}): JudgedRecipient {
  return {
    recipient: 'jo@x.test',
    originalRecipient: null,
    kind: 'hard',
    action: 'failed',
    status: '5.1.1',
    smtpCode: 550,
    label: 'no_mailbox',
    rule: 'no-such-mailbox',
    reason: 'the mailbox does not exist',
    remoteMta: 'mx.x.test',
    diagnostic: '550 5.1.1 No such user',
    ...change,
  };
}

t.test('reports', async (t) => {
  const decide = (
    recipients: JudgedRecipient[],
    message: ReportedMessage | null = MESSAGE,
    doubt: string | null = null,
    expansions: ReportFacts['expansions'] = [],
  ) => decideReport({ message, cameToReturnPath: true, recipients, expansions, isRecognised: true, doubt });
  t.match(decide([said()]), {
    decision: 'bounce',
    bounce: 'hard',
    suppress: true,
    reason: /No such user.*no-such-mailbox/,
  });
  t.match(decide([said({ kind: 'block' })]), { decision: 'bounce', bounce: 'block', suppress: false });
  t.match(decide([said({ kind: 'soft' })]), { bounce: 'soft', suppress: false });
  t.match(decide([said()], MESSAGE, 'they have leapt'), { bounce: 'soft', suppress: false, reason: /they have leapt/ });
  t.match(decide([said({ kind: 'soft', action: 'delayed' })]), { decision: 'delay_notice' });
  t.match(decide([said({ kind: 'delivered_notice', action: 'relayed' })]), {
    decision: 'nothing',
    reason: /not a failure/,
  });
  t.match(decide([said()], { ...MESSAGE, state: 'sending' }), { decision: 'later' });
  t.match(decide([said()], null), { decision: 'nothing', reason: /no longer stored/ });
  t.match(decide([]), { decision: 'nothing' });
  const facts = { message: MESSAGE, recipients: [said()], expansions: [], isRecognised: true, doubt: null };
  t.match(decideReport({ ...facts, cameToReturnPath: false }), { decision: 'nothing' });
  t.match(
    decideReport({ ...facts, cameToReturnPath: true, isRecognised: false }),
    { decision: 'bounce', bounce: 'soft', suppress: false, reason: /of unknown cause: .*nothing in it was recognised/ },
    'whatever the rules make of it',
  );
  const bounced: ReportedMessage = { ...MESSAGE, state: 'bounced' };
  t.match(
    decide([said({ recipient: 'JO+tag@x.test' })], bounced),
    { bounce: 'hard', suppress: true },
    'a second report',
  );
  t.match(decide([said({ recipient: 'other@x.test' })], bounced), { suppress: false }, 'a second one, about another');
  const other = said({ recipient: 'other@x.test', kind: 'block' });
  t.match(decide([other, said()]), { bounce: 'hard' }, 'the recipient of the message, whatever stands first');
  const elsewhere = { recipient: 'jo@home.test', originalRecipient: 'office@x.test' };
  t.match(
    decide([said(elsewhere)]),
    { bounce: 'soft', suppress: false, forwardedTo: 'jo@home.test', reason: /forwarded to jo@home.test/ },
    'a forwarded copy',
  );
  for (const originalRecipient of ['JO@X.test', 'jo+list@x.test', null]) {
    const own = decide([said({ ...elsewhere, originalRecipient })]);
    t.match(
      own,
      { bounce: 'hard', suppress: true, forwardedTo: undefined },
      `Original-Recipient: ${originalRecipient}`,
    );
  }
  const final = said({ ...elsewhere, recipient: 'jo+tag@x.test' });
  t.match(decide([said({ ...elsewhere, kind: 'block' }), final]), { bounce: 'hard' }, 'ours among several');
  const second = said({ recipient: 'second@x.test', kind: 'soft' });
  const former = said({ recipient: 'former@x.test' });
  const relayed = said({ recipient: 'active@x.test', kind: 'delivered_notice', action: 'relayed' });
  for (const members of [
    [former, second],
    [relayed, former],
    [
      { ...former, originalRecipient: 'jo@x.test' },
      { ...second, originalRecipient: 'jo@x.test' },
    ],
    [{ ...former, originalRecipient: 'jo@x.test' }, said({ kind: 'delivered_notice', action: 'delivered' })],
  ]) {
    t.match(
      decide(members),
      { bounce: 'soft', suppress: false, forwardedTo: 'former@x.test', reason: /forwarded to former@x.test/ },
      'a member of a group is gone',
    );
  }
  for (const alone of [
    [former],
    [former, { ...former, recipient: 'Former+tag@x.test' }],
    [{ ...former, originalRecipient: 'jo@x.test' }, second],
    [second, said()],
  ]) {
    t.match(decide(alone), { bounce: 'hard', suppress: true, forwardedTo: undefined }, 'no group');
  }
  const expansions = [{ from: 'JO@x.test', to: 'Former@x.test' }];
  for (const originalRecipient of ['jo@x.test', null]) {
    const expanded = [{ ...former, originalRecipient }];
    t.match(
      decide(expanded, MESSAGE, null, expansions),
      { bounce: 'soft', suppress: false, forwardedTo: 'former@x.test', reason: /forwarded to former@x.test/ },
      'the report says that ours was expanded to it',
    );
    for (const others of [[], [{ ...expansions[0]!, from: 'z@x.test' }], [{ ...expansions[0]!, to: 'z@x.test' }]]) {
      t.match(decide(expanded, MESSAGE, null, others), { bounce: 'hard', forwardedTo: undefined }, 'it does not');
    }
  }
  t.match(
    decide([said()], MESSAGE, null, [{ from: 'jo@x.test', to: 'jo+tag@x.test' }]),
    { bounce: 'hard', suppress: true, forwardedTo: undefined },
    'expanded to itself',
  );
  const good = said({ recipient: 'z@x.test', kind: 'delivered_notice', action: 'expanded' });
  t.match(decide([good, other]), { bounce: 'block' }, 'else the first that failed');
});

t.test('complaints', async (t) => {
  const decide = (
    feedbackType: string,
    proof: 'feedback_id' | null = 'feedback_id',
    message: ReportedMessage | null = MESSAGE,
    ofService = false,
  ) => decideComplaint({ feedbackType, proof, message, ofService });
  t.match(decide('abuse'), { decision: 'complaint', suppressAs: 'complaint', reason: /CFBL-Feedback-ID/ });
  t.match(decide('fraud'), { decision: 'complaint', suppressAs: 'complaint' });
  t.match(decide('opt-out'), { decision: 'complaint', suppressAs: 'unsubscribe' });
  for (const type of ['abuse', 'opt-out']) {
    const own = decide(type, 'feedback_id', MESSAGE, true);
    t.match(
      own,
      { decision: 'complaint', suppressAs: null, reason: /no address is suppressed/ },
      'of a password reset',
    );
  }
  t.match(decide('not-spam'), { decision: 'nothing' });
  t.match(decide('auth-failure'), { decision: 'nothing' });
  t.match(decide('abuse', null), { decision: 'nothing', reason: /no address is suppressed/ });
  t.match(decide('abuse', 'feedback_id', null), { decision: 'nothing', reason: /no longer stored/ });
});

t.test('line ends', async (t) => {
  const at = (text: string) => bareLineEndAt(Buffer.from(text));
  for (const good of ['', 'a', 'a\r\n', '\r\n\r\na\r\nb']) t.equal(at(good), -1, JSON.stringify(good));
  for (const [bad, place] of [
    ['\n', 0],
    ['\r', 0],
    ['a\r\nb\n', 4],
    ['a\r\nb\rc\r\n', 4],
    ['\n\r\n', 0],
    ['\r\r\n', 0],
    ['\r\n\r', 2],
  ] as const) {
    t.equal(at(bad), place, JSON.stringify(bad));
  }
});

t.test('the line of a place', async (t) => {
  const octets = Buffer.from('a\r\n\r\nb\nc');
  t.equal(lineAt(octets, 0), 1);
  t.equal(lineAt(octets, 6), 3, 'a line end belongs to its line');
  t.equal(lineAt(octets, 7), 4);
});
