// The rules that are shipped: every sample is decided by its own rule, so that a rule that others
// keep from ever deciding is noticed, and the labels are those of the registry.
import t from 'tap';
import type { BounceType, SmtpStage } from '../../src/base/outcome.ts';
import type { BounceRule } from '../../src/classify/bounce-rule.ts';
import { classifyReply } from '../../src/classify/classify-reply.ts';
import { LABELS } from '../../src/classify/labels.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { readReply } from '../../src/classify/read-reply.ts';
import { wordsOf } from '../../src/classify/words.ts';
import { ProcessorTime } from '../support/patience.ts';

const rules = loadBounceRules(SHIPPED_RULES);

/** A sample as the server would say it: at a stage and from a host that the rule asks for. */
function saidBy({ mx, stages }: BounceRule, sample: string) {
  const [domain] = mx;
  const [stage] = stages;
  return { ...readReply(sample), mx: domain ? `mx1.${domain}` : null, ...(stage && { stage }) };
}

t.test('every sample is decided by its own rule', async (t) => {
  for (const rule of rules.all) {
    for (const sample of rule.samples) {
      const verdict = classifyReply(saidBy(rule, sample), rules);
      const { class: bounce, label } = rule;
      t.match(verdict, { rule: rule.id, class: bounce, label, suspend: rule.suspend }, sample);
    }
  }
});

t.test('a sample is a reply: without its code no rule could be meant', async (t) => {
  for (const rule of rules.all.slice(0, -1)) {
    for (const sample of rule.samples) t.ok(readReply(sample).smtpCode, `${rule.id}: ${sample}`);
  }
});

t.test('there are enough rules, and every label is in use', async (t) => {
  t.ok(rules.all.length >= 200, `${rules.all.length} rules`);
  const used = new Set(rules.all.map(({ label }) => label));
  t.same(
    Object.keys(LABELS).filter((label) => !used.has(label as keyof typeof LABELS)),
    [],
  );
});

t.test('only words of absence, or codes of absence, make a bounce hard', async (t) => {
  // RFC 3463 section 3.2, RFC 7505, and the one of Exchange Online for a domain that is not in DNS.
  const codes = new Set(['*.1.1', '*.1.2', '*.1.3', '*.1.6', '*.1.10', '5.4.310']);
  for (const rule of rules.all.filter((each) => each.class === 'hard')) {
    const byEnhanced = rule.enhanced.length > 0 && rule.enhanced.every((code) => codes.has(code.join('.')));
    // RFC 7504: 556 has no other meaning.
    const byCode = byEnhanced || (rule.codes.length === 1 && rule.codes[0] === '556');
    t.ok(rule.text.length > 0 || byCode, rule.id);
    t.not(rule.action, 'retry', rule.id);
  }
});

t.test('policy codes are never hard by themselves', async (t) => {
  for (let detail = 0; detail < 1000; detail++) {
    const said = { smtpCode: 550, enhancedCode: `5.7.${detail}`, response: 'The mailbox owner or its server says no' };
    t.not(classifyReply(said, rules).class, 'hard', said.enhancedCode);
  }
});

t.test('nothing temporary is hard, and nothing before the recipient was named', async (t) => {
  for (const rule of rules.all) {
    for (const sample of rule.samples) {
      const said = saidBy(rule, sample);
      const later = { ...said, smtpCode: 450, enhancedCode: said.enhancedCode?.replace(/^5/, '4') ?? null };
      t.not(classifyReply(later, rules).class, 'hard', `4xx: ${sample}`);
      const early = classifyReply({ ...said, stage: 'mail' }, rules);
      t.not(early.class, 'hard', `at MAIL: ${sample}`);
    }
  }
});

t.test('what is said before the recipient was named is not about it', async (t) => {
  const about = ['no_mailbox', 'no_domain', 'recipient_refused'];
  for (const rule of rules.all) {
    for (const sample of rule.samples.filter((each) => each.startsWith('5'))) {
      for (const stage of ['greeting', 'ehlo', 'mail'] as const) {
        const { class: bounce, label } = classifyReply({ ...saidBy(rule, sample), stage }, rules);
        t.not(bounce, 'hard', `${stage}: ${sample}`);
        t.notOk(about.includes(label) || label.startsWith('mailbox_'), `${stage}, ${label}: ${sample}`);
      }
    }
  }
});

const STAGES: [stage: SmtpStage, reply: string, kind: BounceType, mx?: string][] = [
  ['greeting', '550 5.1.1 User unknown', 'block'],
  ['ehlo', '550 No such user here', 'block'],
  ['mail', '550 5.1.1 <b1@bounces.test>: Sender address rejected: User unknown', 'block'],
  ['mail', '550 5.1.1 User unknown', 'block'],
  ['mail', '550 Requested action not taken: mailbox unavailable', 'block'],
  ['mail', '550 5.2.1 Mailbox disabled', 'block'],
  ['mail', '550 5.1.10 No', 'block'],
  ['greeting', '521 5.3.2 mx.there.test does not accept mail', 'soft'],
  ['greeting', '554 5.3.2 System not accepting network messages', 'soft'],
  ['greeting', '421 4.3.2 Service not available', 'soft'],
  ['rcpt', '556 No', 'hard'],
  ['rcpt', '556 5.1.10 Domain has a null MX', 'hard'],
  ['rcpt', '550 5.1.10 No', 'hard'],
  ['rcpt', '556 5.1.10 Relaying to this domain is refused', 'hard'],
  ['rcpt', '550 5.1.10 Delivery not allowed by policy', 'hard'],
  ['rcpt', '556 5.1.10 You are not allowed to send to this domain', 'hard'],
  ['rcpt', '550 5.1.10 User unknown, access denied', 'hard'],
  ['rcpt', '556 5.1.10 Sender domain has null MX', 'block'],
  [
    'rcpt',
    '550 5.1.10 <a@acme.test>: Sender address rejected: Domain acme.test does not accept mail (nullMX)',
    'block',
  ],
  [
    'rcpt',
    '550 5.7.27 <a@acme.test>: Sender address rejected: Domain acme.test does not accept mail (nullMX)',
    'block',
  ],
  ['dot', '556 Message rejected as spam', 'block'],
  ['rcpt', '451 4.1.10 Domain has a null MX', 'soft'],
  ['rcpt', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found by SMTP address lookup', 'hard'],
  ['rcpt', '521 5.3.2 mx.there.test does not accept mail', 'soft'],
  ['rcpt', '550 Unknown user ann@docomo.ne.jp', 'hard', 'mfsmax.docomo.ne.jp'],
  ['dot', '550 Unknown user ann@docomo.ne.jp', 'block', 'mfsmax.docomo.ne.jp'],
  ['dot', '550 <ann@ezweb.ne.jp>: User unknown', 'block', 'lsean.ezweb.ne.jp'],
  ['dot', '550 <ann@docomo.ne.jp>: User unknown', 'hard', 'mx.there.test'],
];

t.test('the stage goes before the words', async (t) => {
  for (const [stage, reply, kind, mx] of STAGES) {
    const verdict = classifyReply({ ...readReply(reply), stage, mx: mx ?? null }, rules);
    t.equal(verdict.class, kind, `${stage}: ${reply}: ${verdict.rule}`);
  }
});

t.test('whatever the words, 556 and 5.1.10 at RCPT mean that the domain takes no mail', async (t) => {
  const sender = rules.all.find(({ id }) => id === 'null-mx-by-code-at-rcpt')!.unless;
  const aboutSender = new Set(sender.map((phrase) => rules.finder.add(phrase)));
  for (const sample of rules.all.flatMap(({ samples }) => samples)) {
    const { response } = readReply(sample);
    const namesSender = rules.finder.find(wordsOf(response)).some((phrase) => aboutSender.has(phrase));
    // What quotes another reply is judged by that one.
    if (namesSender || /\b5\d\d[ -]/.test(response)) continue;
    for (const [smtpCode, enhancedCode] of [[556, null] as const, [556, '5.1.10'] as const, [550, '5.1.10'] as const]) {
      const verdict = classifyReply({ smtpCode, enhancedCode, response, stage: 'rcpt' }, rules);
      t.equal(verdict.class, 'hard', `${smtpCode} ${enhancedCode} ${response}: ${verdict.rule}`);
    }
  }
});

t.test('the samples are understood in a report too, where the codes stand in the text', async (t) => {
  for (const rule of rules.all.filter((each) => each.class === 'hard' && each.mx.length === 0)) {
    for (const sample of rule.samples) {
      const { smtpCode, enhancedCode } = readReply(sample);
      const [stage] = rule.stages;
      const verdict = classifyReply({ smtpCode, enhancedCode, response: sample, ...(stage && { stage }) }, rules);
      t.equal(verdict.class, 'hard', sample);
    }
  }
});

t.test('no text takes long', async (t) => {
  const texts = [
    'user account address mailbox recipient '.repeat(300),
    'mailbox is over the quota of the user '.repeat(300),
    `${'a'.repeat(10_240)}@`,
    '@'.repeat(10_240),
    '1.2.3.4.'.repeat(1_280),
    'a:'.repeat(5_120),
    '\u0000\u0007\u001b[31m'.repeat(1_500),
    'ß不é'.repeat(3_000),
    `${'user '.repeat(2_000)}unknown`,
    '[::1'.repeat(2_500),
    'user: ann@a.test - '.repeat(500),
    `address ${'is not '.repeat(1_500)}`,
    'rejected: '.repeat(1_000),
    '- a.test '.repeat(1_000),
  ];
  for (const response of texts) {
    const time = new ProcessorTime();
    classifyReply({ smtpCode: 550, enhancedCode: null, response }, rules);
    t.ok(time.usedMs < 100, `${response.slice(0, 20)}: ${time.usedMs} ms of processor time`);
  }
});
