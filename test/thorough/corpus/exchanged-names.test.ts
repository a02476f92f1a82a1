// The names of hosts and mailboxes must not decide anything: in each mail of the corpus, and in each reply that is a
// sample of a rule, names are exchanged for others that sound like a reason, and every verdict stays as it was.
import t from 'tap';
import { classifyReply } from '../../../src/classify/classify-reply.ts';
import { type ExplainedMail, explainMail } from '../../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../../src/classify/load-rules.ts';
import { readReply } from '../../../src/classify/read-reply.ts';
import { exchangeHosts, exchangeNames, NAMES, SUFFIXES } from '../../corpus/exchange-names.ts';
import { compareMisses } from '../../corpus/misses.ts';
import { readCorpus } from '../../corpus/read-corpus.ts';

const rules = loadBounceRules(SHIPPED_RULES);
/** What a name could change. */
function verdictOf({ kind, recipients }: ExplainedMail, nameOf = (address: string) => address) {
  const each = recipients.map(({ recipient, kind: own, status, action, rule }) => ({
    recipient: recipient === null ? null : nameOf(recipient.toLowerCase()).toLowerCase(),
    kind: own,
    status,
    action,
    rule,
  }));
  return { kind, recipients: each };
}

/** For the many mails that were made up, not every name in every mail. */
function namesFor(place: number): (typeof NAMES)[number][] {
  return [0, 3].map((step) => NAMES[(place + step) % NAMES.length]!);
}

function suffixFor(place: number): string {
  return SUFFIXES[place % SUFFIXES.length]!;
}

t.test('names in mails', async (t) => {
  /** With what the verdict was and is. */
  const changed = new Map<string, unknown>();
  const compare = (miss: string, was: unknown, is: unknown) => {
    if (JSON.stringify(was) !== JSON.stringify(is)) changed.set(miss, { was, is });
  };
  for (const folder of ['bounces', 'made'] as const) {
    for (const [place, { file, octets }] of readCorpus(folder).entries()) {
      const before = explainMail(octets, rules);
      for (const [turn, name] of (folder === 'bounces' ? NAMES : namesFor(place)).entries()) {
        const suffix = suffixFor(place + turn);
        const { octets: other, of } = exchangeNames(octets, name, suffix);
        compare(`${name}, ${suffix}: ${folder}/${file}`, verdictOf(before, of), verdictOf(explainMail(other, rules)));
      }
      const [name] = namesFor(place);
      const hosts = exchangeHosts(octets, name!);
      compare(`hosts, ${name}: ${folder}/${file}`, verdictOf(before), verdictOf(explainMail(hosts, rules)));
    }
  }
  compareMisses(t, 'exchanged-names', changed.keys(), changed);
});

t.test('names alone', async (t) => {
  for (const suffix of SUFFIXES) {
    for (const name of [...NAMES, 'Phishing.mail', 'Trojan.mail', 'RESOLVER.MAIL', 'unknownException.mail']) {
      const { rule } = classifyReply(readReply(`550 ${name}.${suffix}: no way`), rules);
      t.equal(rule, 'unknown-5xx', `${name}.${suffix}`);
    }
  }
});

t.test('names in replies', async (t) => {
  const names = /[\w.-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w.])(?:[a-z\d-]+\.)+(?:test|com|net|org|de|fr|ru|edu|live)\b/g;
  for (const [place, { samples, id }] of rules.all.entries()) {
    for (const sample of samples) {
      const was = classifyReply(readReply(sample), rules);
      for (const [turn, name] of NAMES.entries()) {
        const host = `${name}.${suffixFor(place + turn)}`;
        const other = sample.replace(names, (old) => (old.includes('@') ? `${name}@${host}` : host));
        const is = classifyReply(readReply(other), rules);
        t.same([is.class, is.rule], [was.class, was.rule], `${id}: ${other}`);
      }
    }
  }
});
