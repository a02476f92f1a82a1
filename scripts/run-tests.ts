// `npm test`: runs the test files with tap and ends with `N passed, N failed`.
// Arguments (files or folders) choose a subset. Without them it runs all but two folders: `--thorough` runs
// test/thorough/, which takes long and is run by CI and on request; `--nightly` runs test/nightly/, which takes hours.
// Where CI=true a skipped test is a failure: everything that a test needs is installed there, so a skip hides something.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { keepPace, RUN_FOLDER_VARIABLE } from './test-pace.ts';
import { TestReport } from './test-report.ts';
import { lastWords, readWhereabouts, tellWhereabouts } from './test-whereabouts.ts';
import { endDeafFiles, STEP_LIMIT_VARIABLE } from './watch-test-file.ts';

const ROOT = path.join(import.meta.dirname, '..');
const BIN = path.join(ROOT, 'node_modules/.bin');
const TAP = path.join(BIN, 'tap');
/** What takes long: `npm run thorough`, which CI runs too. */
const THOROUGH = 'test/thorough';
/** What takes hours, or programs that nothing else needs: `npm run nightly`. */
const NIGHTLY = 'test/nightly';
const APART = new RegExp(`^(?:${THOROUGH}|${NIGHTLY})/`);
/** How long a test may take for one step on a quiet machine; a step is an assertion, or the begin of a test. */
const STEP_LIMIT_MS = 120_000;
const NIGHTLY_STEP_LIMIT_MS = 4 * 3_600_000;
const LOOK_FOR_DEAF_MS = 5000;
/** Loaded before each test file. */
const ALONE = path.join(import.meta.dirname, 'tests-alone.ts');
/** Loaded before that: without it, each file would spend more time on taking the types out of sources than on its tests. */
const SOURCE_CACHE = path.join(import.meta.dirname, 'source-cache.cjs');
/** Loaded before that, and before what the test runner loads. */
const NO_COVERAGE = path.join(import.meta.dirname, 'no-coverage.cjs');
const LEFT_OUT = /"@tapjs\/(?:typescript|mock)"/;
const TAP_CLASS = path.join(ROOT, 'node_modules/@tapjs/test/test-built/dist/esm/index.js');

/** The pinned Node first, for tap and for what tests start. */
const env = { ...process.env, PATH: `${BIN}${path.delimiter}${process.env.PATH ?? ''}` };

process.exitCode = await main(process.argv.slice(2));

async function main(selection: string[]): Promise<number> {
  const files = findTests(selection);
  if (typeof files === 'string') {
    process.stderr.write(`run-tests: ${files}\n`);
    return 2;
  }
  if (!(await buildRunner())) {
    process.stderr.write('run-tests: tap could not be built\n');
    return 1;
  }
  const folder = mkdtempSync(path.join(os.tmpdir(), 'postrider-tests-'));
  const pace = await keepPace(folder);
  const { factor, reason } = pace.first;
  if (factor > 1.5)
    console.log(`This machine is busy (${reason}): waiting limits begin ${factor.toFixed(1)} times as long.`);
  const whereabouts = (file: string) => [
    ...tellWhereabouts(readWhereabouts(folder, file), Date.now()),
    ...lastWords(folder, file),
  ];
  const report = new TestReport((line) => process.stdout.write(`${line}\n`), whereabouts);
  await runTap(files, report, folder);
  if (report.again.size > 0) await runTap([...report.again], report, folder);
  report.failMissing(files);
  pace.stop();
  rmSync(folder, { recursive: true });
  const { failed, skipped } = report.counts;
  const skipsForbidden = process.env.CI === 'true' && skipped > 0;
  if (skipsForbidden) console.log('A skipped test is a failure where CI=true.');
  for (const line of [...report.slowest(), ...report.failures()]) console.log(line);
  console.log(report.summary());
  return failed > 0 || skipsForbidden ? 1 : 0;
}

/** The chosen test files, or what is wrong with the choice. */
function findTests(selection: string[]): string[] | string {
  const files = new Set<string>();
  const names = chosenNames(selection);
  for (const name of names.length > 0 ? names : ['test']) {
    const absolute = path.resolve(name);
    if (!existsSync(absolute)) return `${name}: no such file or folder`;
    const found = statSync(absolute).isDirectory() ? globSync('**/*.test.ts', { cwd: absolute }) : [''];
    for (const file of found) files.add(path.relative(ROOT, path.join(absolute, file)));
  }
  if (names.length === 0) {
    for (const file of files) if (APART.test(file)) files.delete(file);
  }
  return files.size > 0 ? [...files].sort() : `no test files in ${names.join(', ')}`;
}

/** Names after `--thorough` or `--nightly` choose a subset; `--nightly` gives each step more time. */
function chosenNames([first, ...rest]: string[]): string[] {
  if (first === '--thorough') return rest.length > 0 ? rest : [THOROUGH];
  if (first === '--nightly') return rest.length > 0 ? rest : [NIGHTLY];
  return first === undefined ? [] : [first, ...rest];
}

/**
 * tap puts its plugins together once per installation. Before that it loads two that `.taprc` leaves out: the one for
 * TypeScript knows no TypeScript 7 and is not needed, since Node strips the types; the one for mocks, of which we have
 * none, passes each module through a thread.
 */
async function buildRunner(): Promise<boolean> {
  if (existsSync(TAP_CLASS) && !LEFT_OUT.test(readFileSync(TAP_CLASS, 'utf8'))) return true;
  process.stderr.write('run-tests: preparing the test runner (once)\n');
  const child = spawn(process.execPath, [TAP, 'build'], { cwd: ROOT, env, stdio: ['ignore', 2, 2] });
  const [code] = await once(child, 'close');
  return code === 0;
}

async function runTap(files: string[], report: TestReport, folder: string): Promise<void> {
  const isNightly = process.argv[2] === '--nightly';
  const usualMs = isNightly ? NIGHTLY_STEP_LIMIT_MS : STEP_LIMIT_MS;
  const limitMs = Number(process.env[STEP_LIMIT_VARIABLE] ?? usualMs);
  // tap's own time limit is off (`.taprc`): when it has ended one file, it loses the results of others.
  const loaded = [`--node-arg=--require=${SOURCE_CACHE}`, `--node-arg=--import=${ALONE}`];
  const args = [TAP, '--reporter=jsonstream', ...loaded, ...files];
  // They make the load that they need themselves.
  if (isNightly) args.splice(1, 0, '--jobs=1');
  const child = spawn(process.execPath, args, {
    ...{ cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
    env: {
      ...{ ...env, NODE_OPTIONS: `--require=${JSON.stringify(NO_COVERAGE)}` },
      ...{ [RUN_FOLDER_VARIABLE]: folder, [STEP_LIMIT_VARIABLE]: String(limitMs) },
    },
  });
  const closed = once(child, 'close');
  const fence = setInterval(() => endDeafFiles(folder, files, limitMs), LOOK_FOR_DEAF_MS);
  for await (const line of createInterface({ input: child.stdout!, crlfDelay: Number.POSITIVE_INFINITY })) {
    report.read(line);
  }
  const [code, signal] = await closed;
  clearInterval(fence);
  if (code !== 0 && report.counts.failed === 0 && report.again.size === 0)
    report.fail(`tap ended with ${signal ?? `exit code ${code}`}`);
}
