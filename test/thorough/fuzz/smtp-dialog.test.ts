// The dialogs with our two SMTP listeners, over real sockets, with a seed of its own every time.
import t from 'tap';
import { fuzzParser } from '../../fuzz/fuzz-parser.ts';
import { smtpDialogTarget } from '../../fuzz/targets/smtp-dialog.ts';
import { submissionDialogTarget } from '../../fuzz/targets/submission-dialog.ts';

const INPUTS = 8_000;

const seed = Date.now() % 1_000_000;

for (const target of [smtpDialogTarget, submissionDialogTarget]) {
  const about = `${target.name}: ${INPUTS} inputs, seed ${seed}, ${new Date().toISOString()}`;
  t.test(about, async (t) => {
    const { failures, slowestMs, elapsedMs, reached } = await fuzzParser(target, { inputs: INPUTS, seed });
    const took = `${Math.round(elapsedMs)} ms, the slowest ${slowestMs.toFixed(1)} ms`;
    t.same(failures, [], `note: ${about}, ${took}`);
    for (const [where, times] of Object.entries(reached)) t.ok(times > 0, `${times} times ${where}`);
  });
}
