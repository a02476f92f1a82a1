// config/machine-opens.toml: every sample is told by its own rule, people are told by none, and a file
// with a mistake says where it is.
import t from 'tap';
import {
  findMachineRule,
  loadMachineRules,
  parseMachineRules,
  SHIPPED_MACHINE_RULES,
} from '../../src/links/machine-rules.ts';

const rules = loadMachineRules(SHIPPED_MACHINE_RULES);

t.test('every sample is told by its own rule', async (t) => {
  for (const rule of rules.rules) {
    for (const { agent, ip } of rule.samples) {
      for (const kind of rule.on) {
        const found = findMachineRule(rules, kind, { ip, userAgent: agent });
        t.equal(found?.id, rule.id, `${kind} by ${agent} from ${ip}`);
      }
    }
  }
});

const PEOPLE = [
  'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.2.0',
  'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/8.0; .NET4.0C; Microsoft Outlook 16.0.5197; ms-office; MSOffice 16)',
];

t.test('people are told by none', async (t) => {
  for (const userAgent of PEOPLE) {
    for (const ip of ['192.0.2.77', '2001:db8::77', '']) {
      for (const kind of ['open', 'click'] as const) {
        t.equal(findMachineRule(rules, kind, { ip, userAgent }), null, `${kind} by ${userAgent} from ${ip}`);
      }
    }
  }
});

t.test('what a rule is not for', async (t) => {
  const bare = { ip: '192.0.2.1', userAgent: 'Mozilla/5.0' };
  t.equal(findMachineRule(rules, 'open', bare)?.id, 'apple-mail-privacy');
  t.equal(findMachineRule(rules, 'click', bare), null, 'Apple fetches images, it follows no links');
  t.equal(findMachineRule(rules, 'click', { ip: '40.107.3.4', userAgent: PEOPLE[0]! })?.id, 'microsoft-safe-links');
  t.equal(findMachineRule(rules, 'open', { ip: '40.107.3.4', userAgent: PEOPLE[0]! }), null);
  t.equal(findMachineRule(rules, 'click', { ip: '192.0.2.1', userAgent: null })?.id, 'no-agent');
  t.equal(
    findMachineRule(rules, 'click', { ip: '2a01:111:f400::1', userAgent: PEOPLE[0]! })?.id,
    'microsoft-safe-links',
  );
});

const GOOD = `
[timing]
before_delivery = "1s"
burst_links = 3
burst_within = "5s"
burst_after_delivery = "5m"
[[rule]]
id = "one"
on = "click"
reason = "A program."
agent_has = ["X/"]
networks = ["192.0.2.0/24"]
samples = [{ agent = "x/1", ip = "192.0.2.1" }]
`;

t.test('the edges of networks, and what is not an address', async (t) => {
  const networks = '["192.0.2.128/25", "240.0.0.1/32", "2001:db8::/32"]';
  const read = parseMachineRules(GOOD.replace('["192.0.2.0/24"]', networks), 'f.toml');
  const matches = (ip: string) => findMachineRule(read, 'click', { ip, userAgent: 'X/1' }) !== null;
  const inside = [
    '192.0.2.128',
    '192.0.2.255',
    '240.0.0.1',
    '::ffff:192.0.2.200',
    '2001:db8:ffff::1',
    '2001:DB8:0:0::',
  ];
  t.strictSame(inside.filter(matches), inside);
  const outside = ['192.0.2.127', '192.0.3.0', '192.0.1.255', '240.0.0.0', '::ffff:192.0.2.1', '2001:db9::'];
  const odd = [
    '',
    '192.0.2',
    '192.0.2.',
    '192.0.2.200.',
    '192.0.2.200.1',
    '192.0.2.456',
    '192.0.2.0200',
    'x',
    '192..2.200',
  ];
  t.strictSame([...outside, ...odd].filter(matches), []);
  const all = parseMachineRules(GOOD.replace('192.0.2.0/24', '0.0.0.0/0'), 'f.toml');
  t.ok(findMachineRule(all, 'click', { ip: '255.255.255.255', userAgent: 'X/1' }));
});

t.test('a rule with agents and networks wants both', async (t) => {
  const read = parseMachineRules(GOOD, 'f.toml');
  t.strictSame(read.timing, {
    beforeDeliveryMs: 1000,
    burstLinks: 3,
    burstWithinMs: 5000,
    burstAfterDeliveryMs: 300_000,
  });
  const find = (ip: string, userAgent: string) => findMachineRule(read, 'click', { ip, userAgent });
  t.equal(find('192.0.2.9', 'ax/2')?.reason, 'A program.');
  t.equal(find('192.0.3.9', 'ax/2'), null);
  t.equal(find('192.0.2.9', 'ay/2'), null);
});

t.test('every mistake is named', async (t) => {
  const cases: [from: string | RegExp, to: string, problem: RegExp][] = [
    ['id = "one"', 'id = "One"', /rule 1: id is missing or not in kebab-case/],
    ['on = "click"', 'on = "clicks"', /one: on must be/],
    ['"A program."', '"a program"', /one: reason must be a sentence/],
    ['agent_has', 'agents', /one: unknown key agents/],
    ['["X/"]', '[""]', /one: agent_has: an empty text/],
    ['["X/"]', '"X/"', /one: agent_has must be a list/],
    ['192.0.2.0/24', '192.0.2.0/33', /one: 192\.0\.2\.0\/33 is not a network/],
    ['192.0.2.0/24', 'x', /one: x is not a network/],
    [/samples.*/, '', /one: at least one sample is required/],
    ['ip = "192.0.2.1"', 'ip = ""', /one: a sample needs/],
    [/agent_has.*\nnetworks.*/, '', /one: without agents and networks/],
    ['"1s"', '"1h"', /timing: before_delivery must be a duration/],
    ['burst_links = 3', 'burst_links = 1', /timing: burst_links/],
    ['[timing]', '[timing]\nmore = 1', /timing: unknown key more/],
    ['[timing]', 'x = 1\n[timing]', /x: only \[timing\] and \[\[rule\]\]/],
    ['[timing]', '[timing', /f\.toml cannot be used/],
    [/\[\[rule\]\].*/s, '', /at least one \[\[rule\]\] is required/],
  ];
  for (const [from, to, problem] of cases)
    t.throws(() => parseMachineRules(GOOD.replace(from, to), 'f.toml'), { message: problem });
  const twice = `${GOOD}${GOOD.slice(GOOD.indexOf('[[rule]]'))}`;
  t.throws(() => parseMachineRules(twice, 'f.toml'), { message: /one: is defined twice/ });
});
