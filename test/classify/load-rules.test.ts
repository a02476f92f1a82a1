// A file of rules with mistakes: each is named, with the rule it is in, and nothing is loaded.
import t from 'tap';
import { loadBounceRules, parseBounceRules } from '../../src/classify/load-rules.ts';

const GOOD = 'class = "soft"\nlabel = "refused"\nsamples = ["550 No"]\n';
const LAST = `[[rule]]\nid = "last"\n${GOOD}`;
const withRule = (lines: string) => `[[rule]]\n${lines}\n${LAST}`;

const WRONG: [toml: string, says: RegExp][] = [
  ['[[rule', /cannot be used:\n {2}Invalid TOML/],
  ['', /there is no \[\[rule\]\]/],
  ['rule = 3', /there is no \[\[rule\]\]/],
  [`[[rules]]\nid = "a"\n${LAST}`, /rules: only \[phrases\] and \[\[rule\]\] stand here/],
  [withRule(GOOD), /rule 1: id is missing/],
  [withRule(`id = "Not_Kebab"\n${GOOD}`), /rule 1: id is missing or not in kebab-case/],
  [`${LAST}${LAST}`, /last: there are two rules of this id/],
  [withRule(`id = "a"\ncode = "550"\n${GOOD}`), /a: unknown key code/],
  [withRule(`id = "a"\ncodes = "250"\n${GOOD}`), /a: codes is not what is expected/],
  [withRule(`id = "a"\ncodes = []\n${GOOD}`), /a: codes is not what is expected/],
  [withRule(`id = "a"\nenhanced = "5.1"\n${GOOD}`), /a: enhanced is not what/],
  [withRule(`id = "a"\ntext = 7\n${GOOD}`), /a: text is not what/],
  [withRule(`id = "a"\ntext = "(user"\n${GOOD}`), /a: "\(user": a bracket is not closed/],
  [withRule(`id = "a"\nunless = "@words"\n${GOOD}`), /a: there is no list @words in \[phrases\]/],
  [withRule(`id = "a"\nstage = "bye"\n${GOOD}`), /a: stage is not what/],
  [withRule(`id = "a"\nmx = "MX 1"\n${GOOD}`), /a: mx is not what/],
  [
    withRule('id = "a"\nclass = "mild"\nlabel = "refused"\nsamples = ["550 No"]'),
    /a: class is none of hard, soft, block/,
  ],
  [withRule('id = "a"\nclass = "soft"\nlabel = "odd"\nsamples = ["550 No"]'), /a: label "odd" is not in the registry/],
  [withRule('id = "a"\nclass = "soft"\nlabel = "refused"'), /a: there is no sample/],
  [withRule(`id = "a"\naction = "wait"\n${GOOD}`), /a: action is none of retry, give_up, suspend/],
  [withRule(`id = "a"\naction = "suspend"\n${GOOD}`), /a: action suspend needs suspend_for and suspend_scope/],
  [withRule(`id = "a"\nsuspend_for = "soon"\nsuspend_scope = "group"\n${GOOD}`), /a: suspend_for is no duration/],
  [
    withRule(`id = "a"\nsuspend_for = "1h"\nsuspend_from = "2"\nsuspend_scope = "source"\n${GOOD}`),
    /a: suspend_from is no duration/,
  ],
  [
    withRule(`id = "a"\nsuspend_for = "1h"\nsuspend_from = "2h"\nsuspend_scope = "source"\n${GOOD}`),
    /a: suspend_from is longer than suspend_for/,
  ],
  [withRule(`id = "a"\nsuspend_from = "2m"\n${GOOD}`), /a: suspend_for is no duration/],
  [
    withRule(`id = "a"\nsuspend_for = "1h"\nsuspend_scope = "all"\n${GOOD}`),
    /a: suspend_scope is none of group, source/,
  ],
  [withRule(`id = "a"\ngeneral = "yes"\n${GOOD}`), /a: general is true or left out/],
  [`[[rule]]\nid = "a"\ncodes = "550"\n${GOOD}`, /a: the last rule must fit every reply/],
];

t.test('every mistake is named', async (t) => {
  for (const [toml, says] of WRONG) t.throws(() => parseBounceRules(toml, 'rules.toml'), { message: says }, toml);
});

t.test('all of them at once', async (t) => {
  const toml = withRule(`id = "a"\ncodes = "1"\nenhanced = "1"\n${GOOD}`);
  t.throws(() => parseBounceRules(toml, 'rules.toml'), {
    message: /^rules\.toml cannot be used:\n {2}a: codes.*\n {2}a: enhanced.*$/,
  });
});

t.test('lists may hold lists that stand above them', async (t) => {
  const lists = '[phrases]\none = ["first"]\ntwo = ["@one", "second"]\n';
  const rules = parseBounceRules(`${lists}${withRule(`id = "a"\ntext = "@two"\n${GOOD}`)}`, 'rules.toml');
  t.same(rules.all[0]?.text, ['first', 'second']);
});

t.test('a file that is not there', async (t) => {
  t.throws(() => loadBounceRules('/nowhere/bounce-rules.toml'), { code: 'ENOENT' });
});
