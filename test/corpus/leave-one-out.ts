// How the rules do on mails of a source that they were not written for: each source of real mails is scored
// without the phrases that only this source proves. History lets no more be told: what was in the rules before any mail was seen (phrases-before-the-corpus.txt) counts as nobody's, and
// whatever came later, for whichever mail, is left out unless a mail of another source has it too. The parser
// of reports is the same for all: it cannot be divided like that.
import fs from 'node:fs';
import type { BounceRule } from '../../src/classify/bounce-rule.ts';
import { type BounceRules, compileRules } from '../../src/classify/classify-reply.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { wordsOf } from '../../src/classify/words.ts';
import { readInboundMail } from '../../src/protocol/mail/inbound/read-inbound-mail.ts';
import { type CorpusMail, readCorpus } from './read-corpus.ts';
import { type Score, scoreOf } from './score.ts';

const BEFORE_THE_CORPUS = new URL('./phrases-before-the-corpus.txt', import.meta.url);

export interface LeftOut {
  source: string;
  mails: number;
  /** Phrases and rules without phrases that were left out. */
  without: number;
  score: Score;
}

export function leaveOneOut(): LeftOut[] {
  const rules = loadBounceRules(SHIPPED_RULES);
  const old = new Set(fs.readFileSync(BEFORE_THE_CORPUS, 'utf8').split('\n'));
  const mails = readCorpus('bounces');
  const proved = new Map(mails.map((mail) => [mail, provedBy(mail, rules)]));
  const sources = [...new Set(mails.map(sourceOf))];
  return sources.map((source) => {
    const own = mails.filter((mail) => sourceOf(mail) === source);
    const others = mails.filter((mail) => sourceOf(mail) !== source);
    const elsewhere = new Set(others.flatMap((mail) => [...proved.get(mail)!]));
    const touched = new Set(
      own.flatMap((mail) => [...proved.get(mail)!]).filter((id) => !elsewhere.has(id) && !old.has(id)),
    );
    return { source, mails: own.length, without: touched.size, score: scoreOf(own, withoutPhrases(rules, touched)) };
  });
}

function sourceOf({ file }: CorpusMail): string {
  return file.split('/')[1]!;
}

/** The phrases that are in the texts of a mail, and the ids of rules that need none. */
function provedBy({ octets }: CorpusMail, rules: BounceRules): Set<string> {
  const mail = readInboundMail(octets);
  if (mail.kind !== 'report') return new Set();
  const phrases = new Map(
    rules.all.flatMap(({ text, unless }) => [...text, ...unless]).map((phrase) => [rules.finder.add(phrase), phrase]),
  );
  const texts = mail.recipients.flatMap(({ diagnostics, context }) => [...diagnostics, context ?? '']);
  return new Set(texts.flatMap((text) => rules.finder.find(wordsOf(text))).map((number) => phrases.get(number)!));
}

function withoutPhrases(rules: BounceRules, touched: ReadonlySet<string>): BounceRules {
  const kept = rules.all.flatMap((rule): BounceRule[] => {
    const text = rule.text.filter((phrase) => !touched.has(phrase));
    // A rule that has no phrase left would fit every text.
    if (text.length === 0 && rule.text.length > 0) return [];
    return [{ ...rule, text, unless: rule.unless.filter((phrase) => !touched.has(phrase)) }];
  });
  return compileRules(kept, (problem) => {
    throw new Error(problem);
  });
}

export function sourceTable(results: readonly LeftOut[]): string[] {
  const columns = ['source', 'mails', 'left out', 'exact kinds', 'all kinds', 'recipients', 'wrongly hard'];
  const rows = results.map(({ source, mails, without, score }) => [source, mails, without, ...figuresOf([score])]);
  const all = [
    'together',
    results.reduce((sum, { mails }) => sum + mails, 0),
    '',
    ...figuresOf(results.map(({ score }) => score)),
  ];
  return [columns, ...rows, all].map((row) => row.map((cell) => String(cell).padStart(18)).join(''));
}

function figuresOf(scores: readonly Score[]): string[] {
  const share = (of: (score: Score) => { right: number; of: number }) => {
    const right = scores.reduce((sum, score) => sum + of(score).right, 0);
    const all = scores.reduce((sum, score) => sum + of(score).of, 0);
    return all === 0 ? '-' : `${right}/${all} ${((100 * right) / all).toFixed(1)} %`;
  };
  const wrong = scores.reduce((sum, { notHard }) => sum + notHard.wrong.length, 0);
  return [
    share(({ exactKinds }) => exactKinds),
    share(({ kinds }) => kinds),
    share(({ recipients }) => recipients),
    String(wrong),
  ];
}
