// Each source of real mails, scored without the phrases that only this source proves (leave-one-out.ts). What is
// known to be wrong then is in misses/leave-one-out.txt; `node test/corpus/print-scores.ts` prints the table.
import t from 'tap';
import { leaveOneOut } from '../../corpus/leave-one-out.ts';
import { compareMisses } from '../../corpus/misses.ts';

const WANTED_EXACT_KINDS = 0.93;
const WANTED_RECIPIENTS = 0.97;
const MAX_WRONGLY_HARD = 0.01;

t.test('each source without the rules that were touched for it', async (t) => {
  const results = leaveOneOut();
  const found = results.flatMap(({ score }) => [...score.kinds.wrong, ...score.recipients.wrong]);
  compareMisses(t, 'leave-one-out', found);
  const share = (part: 'exactKinds' | 'recipients') => {
    const sum = (of: 'right' | 'of') => results.reduce((total, { score }) => total + score[part][of], 0);
    return sum('right') / sum('of');
  };
  t.ok(share('exactKinds') >= WANTED_EXACT_KINDS, `exact kinds: ${share('exactKinds')}`);
  t.ok(share('recipients') >= WANTED_RECIPIENTS, `recipients: ${share('recipients')}`);
  const hard = results.reduce((total, { score }) => total + score.notHard.wrong.length, 0);
  const notHard = results.reduce((total, { score }) => total + score.notHard.of, 0);
  t.ok(hard / notHard <= MAX_WRONGLY_HARD, `wrongly hard: ${hard} of ${notHard}`);
});
