// The rules that are shipped: every sample is decided by its own rule, so that a rule that others
// keep from ever deciding is noticed, and the labels are those of the registry.
import t from 'tap';
import type { BounceRule } from '../../src/classify/bounce-rule.ts';
import { classifyReply } from '../../src/classify/classify-reply.ts';
import { LABELS } from '../../src/classify/labels.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { readReply } from '../../src/classify/read-reply.ts';

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
    const byCode = rule.enhanced.length > 0 && rule.enhanced.every((code) => codes.has(code.join('.')));
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

t.test('the samples are understood in a report too, where the codes stand in the text', async (t) => {
  for (const rule of rules.all.filter((each) => each.class === 'hard' && each.mx.length === 0)) {
    for (const sample of rule.samples) {
      const { smtpCode, enhancedCode } = readReply(sample);
      const verdict = classifyReply({ smtpCode, enhancedCode, response: sample }, rules);
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
  ];
  for (const response of texts) {
    const started = performance.now();
    classifyReply({ smtpCode: 550, enhancedCode: null, response }, rules);
    t.ok(performance.now() - started < 50, response.slice(0, 20));
  }
});
