// Inside the process of a test file: notes each step that the tests make, and gives the file up when it makes none for
// too long; the runner kills a file whose process cannot do that. The limit is for one step, not for the file, and grows
// with the load of the machine: it only ends what hangs.
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { RUN_FOLDER_VARIABLE, readPace } from './test-pace.ts';
import { keepErrorOutput, readWhereabouts, WhereaboutsLog } from './test-whereabouts.ts';

/** Milliseconds on a quiet machine that a file may take for one step. */
export const STEP_LIMIT_VARIABLE = 'POSTRIDER_TEST_STEP_LIMIT_MS';
const LOOK_EVERY_MS = 1000;

type Watched = Pick<Test, 'name' | 'fullname'> & {
  parent?: unknown;
  on(event: 'subtestStart' | 'subtestEnd', listener: (test: Watched) => void): unknown;
  /** `res` as a rule, `result` for what jumps the queue. */
  on(event: 'res' | 'result', listener: (point: { ok: boolean; message: string }) => void): unknown;
};

/** Does nothing in processes that a test starts, and in a file that is run without the runner. */
export async function watchFile(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { [RUN_FOLDER_VARIABLE]: folder, [STEP_LIMIT_VARIABLE]: limit } = env;
  if (folder === undefined || limit === undefined || !file.endsWith('.test.ts') || process.send === undefined) return;
  const name = path.relative(process.cwd(), file);
  const log = new WhereaboutsLog(folder, name, Date.now());
  keepErrorOutput(folder, name);
  process.once('exit', (code) => log.note({ exitCode: code }));
  const { default: t } = await import('tap');
  noteSteps(t as unknown as Watched, log);
  giveUpWhenStuck(t, log, () => Number(limit) * (readPace(folder) ?? 1));
}

/**
 * In the runner: kills what should have given itself up and has not, for an endless loop never looks at the time.
 * Twice the limit, so that the file's own process is first where it can be.
 */
export function endDeafFiles(folder: string, files: readonly string[], stepLimitMs: number): void {
  const limitMs = 2 * stepLimitMs * (readPace(folder) ?? 1);
  for (const file of files) {
    const found = readWhereabouts(folder, file);
    if (found === null || found.exitCode !== null || Date.now() - found.steppedAt < limitMs) continue;
    if (!runs(found.pid, file)) continue;
    try {
      process.kill(found.pid, 'SIGKILL');
    } catch {
      // It has ended in the meantime, or was killed a moment ago.
    }
  }
}

/** Not another process that has got the number of a dead one. */
function runs(pid: number, file: string): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(file);
  } catch {
    return process.platform !== 'linux';
  }
}

function noteSteps(root: Watched, log: WhereaboutsLog): void {
  const running = new Set<Watched>();
  /** Those within which no other one runs. */
  const names = () => {
    const outer = new Set([...running].map(({ parent }) => parent));
    return [...running]
      .filter((test) => !outer.has(test))
      .map(({ fullname }) => fullname.slice(root.fullname.length + 3));
  };
  const step = (change: Parameters<WhereaboutsLog['note']>[0] = {}) =>
    log.note({ ...change, running: names(), steppedAt: Date.now() });
  const watch = (test: Watched) => {
    const noteAssertion = ({ ok, message }: { ok: boolean; message: string }) =>
      step({ assertions: log.state.assertions + 1, lastAssertion: `${ok ? 'ok' : 'not ok'}: ${message}` });
    test.on('res', noteAssertion);
    test.on('result', noteAssertion);
    test.on('subtestStart', (inner) => {
      running.add(inner);
      watch(inner);
      step();
    });
    test.on('subtestEnd', (inner) => {
      running.delete(inner);
      step();
    });
  };
  watch(root);
}

function giveUpWhenStuck(t: typeof import('tap').default, log: WhereaboutsLog, limitMs: () => number): void {
  let lastLookAt = Date.now();
  const look = setInterval(() => {
    const now = Date.now();
    // Time in which this process did not get to look is none that its test has had.
    const lostMs = Math.max(0, now - lastLookAt - 2 * LOOK_EVERY_MS);
    lastLookAt = now;
    if (lostMs > 0) log.note({ steppedAt: Math.min(now, log.state.steppedAt + lostMs) });
    const sinceMs = now - log.state.steppedAt;
    if (sinceMs < limitMs()) return;
    clearInterval(look);
    log.note({ stuck: { sinceMs, resources: process.getActiveResourcesInfo() } });
    t.timeout({ expired: log.state.running.join('; ') });
  }, LOOK_EVERY_MS);
  look.unref();
}
