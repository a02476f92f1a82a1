// The parser and the bounce rules on every corpus: real mails and made-up ones. What they get wrong is in misses/, and the
// shares must stay high enough. Coarse labels allow several kinds. CRLF or LF must not matter.
import fs from 'node:fs';
import t from 'tap';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { compareMisses } from './misses.ts';
import { type CorpusName, readCorpus } from './read-corpus.ts';
import { missesOf, type Share, scoreOf } from './score.ts';

const rules = loadBounceRules(SHIPPED_RULES);

interface Wanted {
  mails: number;
  /** Percent that must be right at least. */
  kinds: number;
  recipients: number;
  statuses: number;
  notHard: number;
}

const WANTED: Record<CorpusName, Wanted> = {
  bounces: { mails: 272, kinds: 97, recipients: 97, statuses: 98, notHard: 99.5 },
  made: { mails: 990, kinds: 97, recipients: 97, statuses: 98, notHard: 99.5 },
  formats: { mails: 863, kinds: 98, recipients: 99, statuses: 99, notHard: 99.8 },
  replies: { mails: 789, kinds: 97, recipients: 99, statuses: 0, notHard: 99.8 },
};

for (const [name, wanted] of Object.entries(WANTED) as [CorpusName, Wanted][]) {
  t.test(name, async (t) => {
    const mails = readCorpus(name);
    t.equal(mails.length, wanted.mails);
    const score = scoreOf(mails, rules);
    compareMisses(t, name, missesOf(score));
    const shares: [what: string, share: Share, least: number][] = [
      ['exact kinds', score.exactKinds, wanted.kinds],
      ['kinds, coarse ones included', score.kinds, wanted.kinds],
      ['recipients', score.recipients, wanted.recipients],
      ['statuses', score.statuses, wanted.statuses],
      ['not hard and not called hard', score.notHard, wanted.notHard],
    ];
    for (const [what, { right, of }, least] of shares) {
      const percent = of === 0 ? 100 : (100 * right) / of;
      t.ok(percent >= least, `note: ${what}: ${right} of ${of}, ${percent.toFixed(1)} %`);
    }
  });
}

t.test('every mail has its label', async (t) => {
  for (const name of ['bounces', 'made', 'formats'] as const) {
    const files = fs.globSync('eml/**/*.eml', { cwd: new URL(`./${name}/`, import.meta.url) });
    t.strictSame(
      files.sort(),
      readCorpus(name)
        .map(({ file }) => file)
        .sort(),
      name,
    );
  }
});

t.test('line ends do not matter', async (t) => {
  for (const { file, octets } of readCorpus('bounces')) {
    const lf = octets.toString('latin1').replaceAll('\r\n', '\n');
    const asRead = (text: string) => {
      const { diagnostic: _, recipients: __, ...rest } = explainMail(Buffer.from(text, 'latin1'), rules);
      return rest;
    };
    t.same(asRead(lf.replaceAll('\n', '\r\n')), asRead(lf), file);
  }
});
