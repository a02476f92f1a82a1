// A reply means the same in every frame that servers put around it, in one line or wrapped: the samples of all
// rules in all frames (frames.ts), against what the rules make of the bare reply. What is known to differ is in
// test/corpus/misses/framed-samples.txt, one per line: `shape, frame: reply`.
import t from 'tap';
import { classifyReply } from '../../../src/classify/classify-reply.ts';
import { explainMail } from '../../../src/classify/explain-mail.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../../src/classify/load-rules.ts';
import { readReply } from '../../../src/classify/read-reply.ts';
import { BOB, FRAMES } from '../../corpus/frames.ts';
import { compareMisses } from '../../corpus/misses.ts';

const rules = loadBounceRules(SHIPPED_RULES);
/** The recipient in the samples. */
const ANN = 'ann@rcpt.test';
const COLUMNS = 45;

const SHAPES: Readonly<Record<string, (reply: string) => string>> = {
  'one line': (reply) => reply,
  wrapped: (reply) => {
    const lines = [''];
    for (const word of reply.split(' ')) {
      if (`${lines.at(-1)} ${word}`.length > COLUMNS) lines.push(`    ${word}`);
      else lines.push(`${lines.pop()} ${word}`.trimStart());
    }
    return lines.join('\n');
  },
};

t.test('the samples in frames', async (t) => {
  const changed = new Set<string>();
  for (const { samples, mx, stages } of rules.all) {
    // What only fits at one provider or stage is not known from such a text.
    if (mx.length > 0 || stages.length > 0) continue;
    for (const sample of samples.filter((each) => /^5\d\d /.test(each))) {
      const { class: bare } = classifyReply({ ...readReply(sample), stage: 'rcpt' }, rules);
      for (const [shape, made] of Object.entries(SHAPES)) {
        for (const [frame, frameOf] of Object.entries(FRAMES)) {
          const { kind, recipient } = explainMail(Buffer.from(frameOf(made(sample.replaceAll(ANN, BOB)))), rules);
          if (kind !== bare || recipient !== BOB) changed.add(`${shape}, ${frame}: ${sample}`);
        }
      }
    }
  }
  compareMisses(t, 'framed-samples', changed);
});
