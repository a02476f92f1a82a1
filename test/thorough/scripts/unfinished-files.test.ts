// A test file that does not come to its end says where it was, and one that never ran says why: the real runner, with
// files that hang, loop, die, and die before their first test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { RUN_FOLDER_VARIABLE } from '../../../scripts/test-pace.ts';
import { STEP_LIMIT_VARIABLE } from '../../../scripts/watch-test-file.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

const FILES = {
  hangs: `t.test('outer', async (t) => {
    t.ok(true, 'fine so far');
    await t.test('inner', async (t) => {
      t.ok(true, 'still fine');
      setInterval(() => {}, 100_000);
      await new Promise(() => {});
    });
  });`,
  loops: `t.test('outer', (t) => t.test('inner', async (t) => {
    t.ok(true, 'fine');
    await new Promise(setImmediate);
    for (;;);
  }));`,
  dies: `t.test('it dies', async (t) => {
    t.ok(true, 'alive');
    process.stderr.write('through Node\\n');
    fs.writeSync(2, 'why it dies\\n');
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => {});
  });`,
  'dies-early': `process.kill(process.pid, 'SIGKILL'); t.ok(true);`,
  steps: `t.test('slow, but it moves', async (t) => {
    for (let step = 1; step <= 4; step++) {
      await new Promise((resolve) => setTimeout(resolve, 400));
      t.ok(true, 'step ' + step);
    }
  });`,
};

t.test('what is told of files that do not come to their end', async (t) => {
  // Within the project, where they find the test runner.
  const parent = path.join(ROOT, '.tap');
  fs.mkdirSync(parent, { recursive: true });
  const folder = fs.mkdtempSync(path.join(parent, 'unfinished-'));
  t.teardown(() => fs.rmSync(folder, { recursive: true }));
  for (const [name, source] of Object.entries(FILES))
    fs.writeFileSync(
      path.join(folder, `${name}.test.ts`),
      `import fs from 'node:fs';\nimport t from 'tap';\n${source}\n`,
    );
  const { code, output } = await runThem(folder);
  t.equal(code, 1);
  /** From the line about the file up to that about the next one. */
  const told = (name: string) => output.match(new RegExp(`^\\S+ +\\S*/${name}\\.test\\.ts.*\\n(?: .*\\n)*`, 'm'))?.[0];

  t.match(told('hangs'), /^FAIL/);
  t.match(told('hangs'), /it was in: outer > inner\n/);
  t.match(told('hangs'), /last assertion, number 2: ok: still fine\n/);
  t.match(told('hangs'), /no step for [\d.]+ s, waiting for: .*Timeout/);

  t.match(told('loops'), /^FAIL/);
  t.match(told('loops'), /it was in: outer > inner\n.*last assertion, number 1: ok: fine\n/);

  t.match(told('dies'), /^FAIL/);
  t.match(
    told('dies'),
    /it was in: it dies\n.*last assertion, number 1: ok: alive\n(?:.*\n)*.*it wrote: through Node\n.*it wrote: why it dies\n/,
  );

  t.match(told('dies-early'), /^FAIL/);
  t.match(told('dies-early'), /it had not begun its first test\n/);

  t.match(told('steps'), /^ok .* 4 passed/, 'the limit is for one step, not for all together');
  t.match(output, /\d+ passed, 4 failed\n/);
});

/** As a person runs them: nothing of this run is known to theirs. */
async function runThem(folder: string): Promise<{ code: number; output: string }> {
  const isOfThisRun = (name: string) =>
    name.startsWith('TAP') || name.startsWith('_TAPJS') || name === RUN_FOLDER_VARIABLE;
  const inherited = Object.entries(process.env).filter(([name]) => !isOfThisRun(name));
  const env = { ...Object.fromEntries(inherited), [STEP_LIMIT_VARIABLE]: '1000' };
  const child = spawn(process.execPath, ['scripts/run-tests.ts', folder], { cwd: ROOT, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  const [code] = await once(child, 'close');
  return { code, output };
}
