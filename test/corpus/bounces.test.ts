// The parser and the bounce rules on 272 real mails. Coarse labels allow several kinds, so the
// table shows them off its diagonal where they are right all the same. CRLF or LF must not matter.
import t from 'tap';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { percent, readCorpus, scoreOf, tableOf } from './bounce-corpus.ts';

const rules = loadBounceRules(SHIPPED_RULES);
const mails = readCorpus();

t.test('kinds, recipients and statuses', async (t) => {
  t.equal(mails.length, 272);
  const score = scoreOf(mails, rules);
  for (const line of tableOf(score)) t.pass(`note: ${line}`);
  const held: [name: string, share: typeof score.kinds, least: number][] = [
    ['exact kinds', score.exactKinds, 97],
    ['kinds, coarse ones included', score.kinds, 97],
    ['recipients', score.recipients, 97],
    ['statuses', score.statuses, 98],
    ['not hard and not called hard', score.notHard, 99.5],
  ];
  for (const [name, share, least] of held) {
    const found = percent(share);
    t.ok(found >= least, `note: ${name}: ${share.right} of ${share.of}, ${found.toFixed(1)} %`, { wrong: share.wrong });
  }
});

t.test('line ends do not matter', async (t) => {
  for (const { file, octets } of mails) {
    const lf = octets.toString('latin1').replaceAll('\r\n', '\n');
    const asRead = (text: string) => {
      const { diagnostic: _, recipients: __, ...rest } = explainMail(Buffer.from(text, 'latin1'), rules);
      return rest;
    };
    t.same(asRead(lf.replaceAll('\n', '\r\n')), asRead(lf), file);
  }
});
