// npm run fuzz -- [--target NAME] [--inputs N] [--seed S] [--only NUMBER] [--engine uws|node] [--record]
// Fuzzes one target, or all of them one after the other: a million inputs each unless told otherwise.
// Prints seed, date and what went wrong; the exit code is 1 when anything was. `--record` notes the
// runs down in runs.jsonl.
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ALL_TARGETS } from './all-targets.ts';
import { fuzzParser } from './fuzz-parser.ts';
import { growthProblem } from './memory-growth.ts';
import { type FuzzResult, runFuzz } from './run-fuzz.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    target: { type: 'string' },
    inputs: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    engine: { type: 'string', default: 'uws' },
    record: { type: 'boolean', default: false },
  },
});

/** Answered over HTTP by a process of its own. */
const API_BODY = 'api-body';
const DEFAULT_INPUTS = 1_000_000;
const RECORD = new URL('./runs.jsonl', import.meta.url);

const inputs = wholeNumber('--inputs', values.inputs ?? positionals[0]) ?? DEFAULT_INPUTS;
const seed = wholeNumber('--seed', values.seed) ?? Date.now() % 1_000_000;
const only = wholeNumber('--only', values.only);
const names = [API_BODY, ...ALL_TARGETS.map(({ name }) => name)];
if (values.target !== undefined && !names.includes(values.target)) {
  console.error(`fuzz: no target ${values.target}; there are ${names.join(', ')}`);
  process.exit(2);
}
if (only !== undefined && values.target === undefined) {
  console.error('fuzz: --only needs a --target');
  process.exit(2);
}

for (const name of values.target === undefined ? names : [values.target]) {
  const date = new Date().toISOString();
  console.log(`${name}: ${only === undefined ? `${inputs} inputs` : `input ${only}`}, seed ${seed}, ${date}`);
  const { failures, facts } = name === API_BODY ? await fuzzApi() : await fuzzOne(name);
  console.log(`  ${failures.length === 0 ? 'nothing wrong' : 'WRONG'}, ${JSON.stringify(facts)}`);
  for (const failure of failures) console.log(`WRONG: ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
  if (!values.record || only !== undefined) continue;
  const line = { target: name, inputs, seed, date, node: process.version, failures: failures.length, ...facts };
  appendFileSync(RECORD, `${JSON.stringify(line)}\n`);
}

interface Outcome {
  failures: string[];
  facts: Record<string, number>;
}

async function fuzzOne(name: string): Promise<Outcome> {
  const target = ALL_TARGETS.find((one) => one.name === name)!;
  const { failures, slowest, slowestMs, elapsedMs, reached } = await fuzzParser(target, { inputs, seed, only });
  return {
    failures,
    facts: {
      seconds: Math.round(elapsedMs / 1000),
      slowest_ms: Math.round(slowestMs),
      slowest_input: slowest,
      ...reached,
    },
  };
}

async function fuzzApi(): Promise<Outcome> {
  const engine = values.engine === 'node' ? 'node' : 'uws';
  const result = await runFuzz({ requests: inputs, seed, only, engine });
  print(result);
  const growth = only === undefined ? growthProblem(result.memory) : null;
  const failures = growth === null ? result.failures : [...result.failures, growth];
  return { failures, facts: { seconds: Math.round(result.elapsedMs / 1000) } };
}

function print({ answers, memory }: FuzzResult): void {
  for (const [outcome, count] of [...answers].sort()) console.log(`${String(count).padStart(8)}  ${outcome}`);
  const inMib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;
  for (const { requests, rssBytes, heapBytes } of memory) {
    console.log(`  after ${requests} calls: ${inMib(rssBytes)} resident, ${inMib(heapBytes)} on the heap`);
  }
}

function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  console.error(`fuzz: ${option} takes a whole number, not ${text}`);
  return process.exit(2);
}
