// The parser and the bounce rules on 272 real mails, and on 990 that were made up whole. Coarse labels allow
// several kinds, so the table shows them off its diagonal where they are right all the same. CRLF or LF must not matter.
import t from 'tap';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { checkScore, readCorpus, scoreOf, type Wanted } from './bounce-corpus.ts';

const rules = loadBounceRules(SHIPPED_RULES);
const mails = readCorpus('bounces');
const WANTED: Wanted = { kinds: 97, recipients: 97, statuses: 98, notHard: 99.5 };

t.test('kinds, recipients and statuses', async (t) => {
  t.equal(mails.length, 272);
  checkScore(t, scoreOf(mails, rules), WANTED);
});

t.test('mails that were made up whole', async (t) => {
  const made = readCorpus('made');
  t.equal(made.length, 990);
  checkScore(t, scoreOf(made, rules), WANTED);
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
