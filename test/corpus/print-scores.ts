// `node test/corpus/print-scores.ts`: for each corpus which kind was taken for which, and each source of real mails
// without the phrases that only this source proves. What was wrong is in misses/.
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { leaveOneOut, sourceTable } from './leave-one-out.ts';
import { CORPORA, readCorpus } from './read-corpus.ts';
import { scoreOf, tableOf } from './score.ts';

const rules = loadBounceRules(SHIPPED_RULES);
for (const name of CORPORA) console.log(`\n${name}\n${tableOf(scoreOf(readCorpus(name), rules)).join('\n')}`);
console.log(`\n${sourceTable(leaveOneOut()).join('\n')}`);
