// Mutated mails through parser and rules, with a seed of its own every time: no throw, none takes a
// second, and what comes out is one of the kinds. FUZZ_MAILS and
// FUZZ_SEED make other runs (docs/development.md).
import t from 'tap';
import { explainMail } from '../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { KINDS, readCorpus } from '../corpus/bounce-corpus.ts';
import { mutateMail } from './mail-mutations.ts';
import { SeededRandom } from './seeded-random.ts';

const MAILS = Number(process.env.FUZZ_MAILS ?? 20_000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
const LIMIT_MS = 1_000;

t.test('mutated mails', { timeout: 0 }, async (t) => {
  const rules = loadBounceRules(SHIPPED_RULES);
  const mails = readCorpus().map(({ octets }) => octets);
  const kinds = new Set<string>(KINDS);
  const problems: string[] = [];
  let slowestMs = 0;
  for (let number = 0; number < MAILS && problems.length < 5; number++) {
    const mail = mutateMail(mails, new SeededRandom((SEED * 1_000_003 + number) | 0));
    const started = performance.now();
    try {
      const { kind } = explainMail(mail, rules);
      if (!kinds.has(kind)) problems.push(`mail ${number} is ${kind}`);
    } catch (error) {
      problems.push(`mail ${number}: ${(error as Error).stack}`);
    }
    const tookMs = performance.now() - started;
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > LIMIT_MS) problems.push(`mail ${number} took ${Math.round(tookMs)} ms`);
  }
  const about = `${MAILS} mutated mails, seed ${SEED}, slowest ${Math.round(slowestMs)} ms`;
  t.same(problems, [], `note: ${about}, ${new Date().toISOString()}`);
});
