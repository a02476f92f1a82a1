// Checkouts in turns: this one against itself, so that the figures are of one kind, and what is asked wrongly.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { patience } from '../../support/patience.ts';
import { testFolder } from '../../support/test-folder.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

/** `npm run bench`, without npm. */
async function bench(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const call = [path.join(ROOT, 'bench/run.ts'), ...args];
    return { code: 0, ...(await promisify(execFile)(process.execPath, call, { timeout: patience(240_000) })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

t.test('a checkout beside itself', async (t) => {
  // On a machine with much else to do, two seconds may pass before the first answer.
  const seconds = Math.ceil(patience(2_000) / 1_000);
  const { code, stdout, stderr } = await bench('--against', ROOT, '--seconds', `${seconds}`, '--rounds', '1');
  t.equal(code, 0, stderr);
  const name = path.basename(ROOT);
  for (const what of ['accept, delivery held', 'end to end']) {
    const [first, other] = ['this checkout', name].map((side) =>
      stdout.split('\n').find((line) => line.startsWith(`${what}: ${side}`)),
    );
    t.match(first, / [\d,]{2,} \/s +main thread \d+ µs, all others \d+$/);
    t.match(
      other,
      / [\d,]{2,} \/s \(\d+\.\d+ ×\) +main thread \d+ µs \(\d+\.\d+ ×\), all others .*, together \d+\.\d+ ×$/,
    );
  }
});

t.test('what cannot be compared is said before anything is measured', async (t) => {
  const empty = testFolder(t);
  const { code, stderr } = await bench('--against', empty);
  t.equal(code, 2);
  t.match(stderr, `--against: ${empty} has no src/main.ts: name the folder of a checkout in which npm ci has run`);
  const unnamed = await bench('--only', 'turns');
  t.equal(unnamed.code, 2);
  t.match(unnamed.stderr, '--only turns: --against says with which checkouts');
});
