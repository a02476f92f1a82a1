// How rules decide: which fits, in which order, and what follows when a rule says nothing of it.
import t from 'tap';
import { classifyReply, type ServerReply } from '../../src/classify/classify-reply.ts';
import { parseBounceRules } from '../../src/classify/load-rules.ts';

const LAST = '[[rule]]\nid = "last"\nclass = "soft"\nlabel = "refused"\nsamples = ["550 No"]\n';

/** Rules of a test, each given as the lines that differ from a plain one. */
function rulesOf(...rules: string[]) {
  const tables = rules.map((lines, index) => {
    const defaults = ['class = "block"', 'label = "policy"'].filter((line) => !lines.includes(line.split(' ')[0]!));
    return `[[rule]]\nid = "r${index + 1}"\n${lines}\n${defaults.join('\n')}\nsamples = ["550 No"]\n`;
  });
  return parseBounceRules(`${tables.join('\n')}\n${LAST}`, 'rules.toml');
}

function said(smtpCode: number | null, enhancedCode: string | null, response: string, more: Partial<ServerReply> = {}) {
  return { smtpCode, enhancedCode, response, ...more };
}

t.test('the first rule that fits decides', async (t) => {
  const rules = rulesOf('text = "no entry"', 'text = "entry"');
  t.equal(classifyReply(said(550, null, 'No entry'), rules).rule, 'r1');
  t.equal(classifyReply(said(550, null, 'Entry? No!'), rules).rule, 'r2');
  t.equal(classifyReply(said(550, null, 'Go away'), rules).rule, 'last');
});

t.test('codes, classes of codes and enhanced codes', async (t) => {
  const rules = rulesOf(
    'codes = "552"',
    'codes = "4xx"',
    'enhanced = "5.1.1"',
    'enhanced = "*.7.*"',
    'enhanced = "5.4.60x"',
  );
  const rule = (smtpCode: number | null, enhancedCode: string | null, text = 'No') =>
    classifyReply(said(smtpCode, enhancedCode, text), rules).rule;
  t.equal(rule(552, '5.1.1'), 'r1');
  t.equal(rule(450, '4.1.1'), 'r2');
  t.equal(rule(null, '4.1.1'), 'r2', 'a report without a reply code');
  t.equal(rule(550, '5.1.1'), 'r3');
  t.equal(rule(550, '5.1.10'), 'last');
  t.equal(rule(550, '5.7.999'), 'r4');
  t.equal(rule(550, '5.4.606'), 'r5');
  t.equal(rule(550, '5.4.60'), 'last');
  t.equal(rule(550, null, 'sorry (#5.1.1)'), 'r3', 'as qmail writes it');
  t.equal(rule(550, null, 'host 5.1.1.7 says no'), 'last', 'an address is no code');
  t.equal(rule(550, null, '4.7.1 no'), 'last', 'RFC 2034: its class must be that of the reply');
});

t.test('unless, stage and host', async (t) => {
  const rules = rulesOf('text = "blocked"\nunless = ["sender*"]', 'stage = ["mail", "rcpt"]', 'mx = "mail.example"');
  t.equal(classifyReply(said(550, null, 'Blocked.'), rules).rule, 'r1');
  t.equal(classifyReply(said(550, null, 'Senders are blocked.'), rules).rule, 'last');
  t.equal(classifyReply(said(550, null, 'No', { stage: 'rcpt' }), rules).rule, 'r2');
  t.equal(classifyReply(said(550, null, 'No', { stage: 'dot' }), rules).rule, 'last');
  t.equal(classifyReply(said(550, null, 'No', { mx: 'MX1.Mail.Example' }), rules).rule, 'r3');
  t.equal(classifyReply(said(550, null, 'No', { mx: 'notmail.example' }), rules).rule, 'last');
});

t.test('a provider is known by the hosts of its group or by its id, and never by a text', async (t) => {
  const rules = rulesOf('mx = ["mail.example", "example-mail"]');
  const rule = (mx: string | null, text = 'No') => classifyReply(said(550, null, text, { mx }), rules).rule;
  t.equal(rule('example-mail'), 'r1', 'the name of a group is the id of a provider');
  t.equal(rule('mx1.mail.example,mx2.mail.example'), 'r1');
  t.equal(rule('mx1.mail.example,mx.there.test'), 'last', 'a strange host does not speak for it');
  t.equal(rule(null, 'mx1.mail.example says no, example-mail too'), 'last');
});

t.test('hard rules do not fit what is temporary or about the sender', async (t) => {
  const rules = rulesOf('text = "unknown"\nclass = "hard"\nlabel = "no_mailbox"');
  const bounce = (given: ServerReply) => classifyReply(given, rules).class;
  t.equal(bounce(said(550, null, 'unknown')), 'hard');
  t.equal(bounce(said(550, null, 'unknown', { stage: 'dot' })), 'hard');
  t.equal(bounce(said(null, null, 'unknown')), 'hard');
  t.equal(bounce(said(450, null, 'unknown')), 'soft');
  t.equal(bounce(said(null, '4.1.1', 'unknown')), 'soft');
  for (const stage of ['connect', 'greeting', 'ehlo', 'starttls', 'mail'] as const) {
    t.equal(bounce(said(550, null, 'unknown', { stage })), 'soft', stage);
  }
});

t.test('a quoted reply decides, unless the words before it are about the sender', async (t) => {
  const rules = rulesOf(
    'text = "unknown"\nclass = "hard"\nlabel = "no_mailbox"',
    'text = "return path"\nlabel = "sender_refused"',
    'text = "policy"',
  );
  const rule = (text: string) => classifyReply(said(550, null, text), rules).rule;
  t.equal(rule('Refused, the server said: 550 5.1.1 unknown'), 'r1');
  t.equal(rule('Policy of the server, it said: 550 5.1.1 unknown'), 'r1');
  t.equal(rule('No such return path, its server said: 550 5.1.1 unknown'), 'r2');
  t.equal(rule('Refused, the server said: 550 unknown return path'), 'r1', 'only what stands before it');
});

t.test('a hard rule asks for a statement, other rules take a guess', async (t) => {
  const rules = rulesOf(
    'text = "may be gone"\nclass = "hard"\nlabel = "no_mailbox"',
    'text = "unknown"\nclass = "hard"\nlabel = "no_mailbox"',
    'text = ["unknown", "blocked"]',
  );
  const rule = (text: string) => classifyReply(said(550, null, text), rules).rule;
  t.equal(rule('The user is unknown'), 'r2');
  t.equal(rule('The user may be unknown'), 'r3');
  t.equal(rule('You may be blocked'), 'r3');
  t.equal(rule('The user may be new; it is unknown'), 'r2', 'a guess ends with its clause');
  t.equal(rule('The user may be gone'), 'r1', 'a phrase that asks for the guess');
});

t.test('the action: that of the rule, else that of the first digit; unknown means temporary', async (t) => {
  const pause = 'action = "suspend"\nsuspend_for = "2h"\nsuspend_scope = "source"';
  const rules = rulesOf(
    'text = "greylisted"\naction = "retry"',
    'text = "large"\naction = "give_up"',
    `text = "slowly"\n${pause}`,
  );
  const verdict = (code: number | null, text: string) => classifyReply(said(code, null, text), rules);
  t.equal(verdict(550, 'greylisted').action, 'retry');
  t.equal(verdict(452, 'too large').action, 'give_up');
  t.match(verdict(550, 'slowly'), { action: 'suspend', suspend: { forMs: 7_200_000, scope: 'source' } });
  t.equal(verdict(450, 'no').action, 'retry');
  t.equal(verdict(550, 'no').action, 'give_up');
  t.equal(verdict(null, 'no').action, 'retry');
  t.same(verdict(550, 'no').suspend, null);
});

t.test('the verdict says what decided, for people too', async (t) => {
  const rules = rulesOf('text = "unknown"\nclass = "hard"\nlabel = "no_mailbox"');
  t.same(classifyReply(said(550, '5.1.1', 'unknown'), rules), {
    class: 'hard',
    label: 'no_mailbox',
    action: 'give_up',
    rule: 'r1',
    reason: 'the mailbox does not exist',
    suspend: null,
  });
});

t.test('what writing does to words makes no difference', async (t) => {
  const rules = rulesOf(
    'text = "user does not have a mailbox"',
    'text = "doesnt exist"',
    'text = ["atlas", "users list"]',
  );
  const rule = (text: string) => classifyReply(said(550, null, text), rules).rule;
  t.equal(rule('USER <ann@rcpt.test> does not\thave a "mailbox"'), 'r1');
  t.equal(rule('user does not 550-5.1.1 have a mailbox'), 'r1', 'codes repeated on every line');
  t.equal(rule('user does not 550-have a mailbox'), 'r1');
  t.equal(rule('doesn’t exist'), 'r2');
  t.equal(rule("doesn't-exist"), 'r2');
  t.equal(rule("It is on Atlas's list"), 'r3');
  t.equal(rule('It is on ATLAS’S list'), 'r3');
  t.equal(rule("It is on the user's list"), 'r3');
  t.equal(rule('user <does@not.test> have a mailbox'), 'last', 'addresses say nothing');
  t.equal(rule(`${'x '.repeat(2_000)} doesnt exist`), 'last', 'nor does what comes after the first 2,000 characters');
});
