// Runs one target: each input is made from the seed and its own number alone, so that one that fails can be
// made again without the others. A throw, a hang and growth of memory are failures.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { ProcessorTime, patience } from '../support/patience.ts';
import { growthProblem } from './memory-growth.ts';
import type { Measurement } from './run-fuzz.ts';
import { SeededRandom } from './seeded-random.ts';
import type { FuzzTarget, OpenTarget } from './target.ts';

export interface ParserRun {
  inputs: number;
  seed: number;
  /** Only this input. */
  only?: number | undefined;
}

export interface ParserResult {
  failures: string[];
  slowestMs: number;
  /** The number of the input. */
  slowest: number;
  elapsedMs: number;
  reached: Record<string, number>;
}

const LIMIT_MS = 1_000;
/** Of inputs that wait for each other; an endless loop is told by the watcher all the same. */
const LIMIT_AT_ONCE_MS = 10_000;
const ENOUGH_FAILURES = 5;
const MEASUREMENTS = 10;
const SHOWN_CHARACTERS = 2_000;

export async function fuzzParser(target: FuzzTarget, { inputs, seed, only }: ParserRun): Promise<ParserResult> {
  const opened = await target.open();
  const { reached } = opened;
  const result: ParserResult = { failures: [], slowestMs: 0, slowest: 0, elapsedMs: 0, reached };
  const state: State = { target, opened, seed, result };
  const { failures } = result;
  const watch = watchForHang(target.name, seed);
  const first = only ?? 0;
  const count = only === undefined ? inputs : 1;
  const startedAt = performance.now();
  let next = first;
  const work = async (until: number) => {
    while (next < until && failures.length < ENOUGH_FAILURES) {
      const number = next++;
      watch.now(number);
      const pending = attempt(state, number);
      if (pending) await pending;
    }
  };
  const growthWithin = async (begin: number) => {
    const memory: Measurement[] = [];
    for (let part = 1; part <= MEASUREMENTS && failures.length < ENOUGH_FAILURES; part++) {
      const until = begin + Math.ceil((count * part) / MEASUREMENTS);
      await Promise.all(Array.from({ length: opened.atOnce ?? 1 }, () => work(until)));
      memory.push({ requests: next, ...memoryNow() });
    }
    return only === undefined && failures.length === 0 ? growthProblem(memory) : null;
  };
  // Buffers outside the heap are freed some time after the collection. What leaks grows again with as many inputs more.
  const seemed = await growthWithin(first);
  const growth = seemed === null ? null : await growthWithin(first + count);
  result.elapsedMs = performance.now() - startedAt;
  await watch.stop();
  await opened.close?.();
  if (growth !== null) failures.push(growth);
  return result;
}

interface State {
  target: FuzzTarget;
  opened: OpenTarget<unknown>;
  seed: number;
  result: ParserResult;
}

/** Without a promise where the target needs none: a turn of the event loop costs more than most inputs. */
function attempt(state: State, number: number): Promise<void> | null {
  const { opened, seed } = state;
  // As in run-fuzz.ts: inputs of neighbouring seeds are different ones.
  const input = opened.mutate(new SeededRandom((Math.imul(seed, 1_000_003) + number) | 0));
  const time = new ProcessorTime();
  const done = (problem: string | null) => settle(state, { number, input, problem, time });
  try {
    const outcome = opened.run(input);
    if (!(outcome instanceof Promise)) {
      done(outcome);
      return null;
    }
    return outcome.then(done, (error) => done(stackOf(error)));
  } catch (error) {
    done(stackOf(error));
    return null;
  }
}

function stackOf(error: unknown): string {
  return `threw ${error instanceof Error ? error.stack : String(error)}`;
}

interface Settled {
  number: number;
  input: unknown;
  problem: string | null;
  time: ProcessorTime;
}

function settle({ opened, seed, result, target }: State, { number, input, problem, time }: Settled): void {
  const tookMs = time.usedMs;
  if (tookMs > result.slowestMs) Object.assign(result, { slowestMs: tookMs, slowest: number });
  const limitMs = opened.atOnce === undefined ? LIMIT_MS : LIMIT_AT_ONCE_MS;
  const wrong = problem ?? (tookMs > limitMs ? `took ${Math.round(tookMs)} ms of processor time` : null);
  if (wrong === null) return;
  const shown = opened.show ? opened.show(input) : JSON.stringify(input);
  const again = `npm run fuzz -- --target ${target.name} --seed ${seed} --only ${number}`;
  result.failures.push(`${wrong}\n  again: ${again}\n  input: ${shown.slice(0, SHOWN_CHARACTERS)}`);
}

function memoryNow(): { rssBytes: number; heapBytes: number } {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, heapBytes: heapUsed + external };
}

/** Far beyond the limit: what takes two seconds is still told as a failure, with all others. */
const GIVEN_UP_AFTER_MS = 30_000;

/** Nothing in this thread can end an endless loop in this thread: another one says which input it was, and ends all. */
function watchForHang(name: string, seed: number) {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const watcher = new Worker(
    `const { workerData: { shared, text, pauseMs } } = require('node:worker_threads');
    let last = -1;
    setInterval(() => {
      if (shared[0] !== last) { last = shared[0]; return; }
      require('node:fs').writeSync(2, text + last + '\\n');
      process.kill(process.pid, 'SIGKILL');
    }, pauseMs);`,
    {
      eval: true,
      workerData: {
        shared,
        text: `HANGS, again: npm run fuzz -- --target ${name} --seed ${seed} --only `,
        pauseMs: patience(GIVEN_UP_AFTER_MS),
      },
    },
  );
  return {
    now: (number: number) => {
      shared[0] = number;
    },
    stop: () => watcher.terminate(),
  };
}
