// `npm test` passes three times running beside `stress-ng --cpu 4 --io 2`. Needs stress-ng, which `npm run nightly` installs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import t from 'tap';
import { RUN_FOLDER_VARIABLE } from '../../scripts/test-pace.ts';
import { failuresIn } from '../../scripts/test-report.ts';
import { STEP_LIMIT_VARIABLE } from '../../scripts/watch-test-file.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const RUNS = 3;
const LOAD = ['--cpu', '4', '--io', '2'];

const isMissing = spawnSync('stress-ng', ['--version']).error !== undefined;
const skip = isMissing && 'needs stress-ng: apt-get install stress-ng';

t.test('npm test beside stress-ng', { skip }, async (t) => {
  const load = spawn('stress-ng', LOAD, { stdio: 'ignore' });
  await once(load, 'spawn');
  t.teardown(async () => {
    const ended = once(load, 'exit');
    load.kill('SIGTERM');
    await ended;
  });
  for (let run = 1; run <= RUNS; run++) {
    const { code, output, minutes } = await runTests();
    const summary = /^\d+ passed, \d+ failed.*$/m.exec(output)?.[0] ?? 'no summary';
    t.equal(load.exitCode, null, 'the load lasted to its end');
    const note = `note: run ${run}: ${summary}, ${minutes.toFixed(0)} minutes`;
    t.equal(code, 0, note, { failures: failuresIn(output) });
  }
});

/** As a person runs them: nothing of this run is known to theirs, and what is missing is skipped. */
async function runTests(): Promise<{ code: number; output: string; minutes: number }> {
  const isOfThisRun = (name: string) =>
    name.startsWith('TAP') ||
    name.startsWith('_TAPJS') ||
    [RUN_FOLDER_VARIABLE, STEP_LIMIT_VARIABLE, 'CI'].includes(name);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfThisRun(name)));
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['scripts/run-tests.ts'], { cwd: ROOT, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  const [code] = await once(child, 'close');
  return { code, output, minutes: (performance.now() - startedAt) / 60_000 };
}
