// npm run fuzz -- [REQUESTS] [--seed S] [--only NUMBER] [--engine uws|node]
// Fuzzes POST /emails: 200,000 calls unless told otherwise. Prints what was answered, what went
// wrong and how memory went; the exit code is 1 when anything was wrong.
import { parseArgs } from 'node:util';
import { growthProblem } from './memory-growth.ts';
import { type FuzzResult, runFuzz } from './run-fuzz.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, only: { type: 'string' }, engine: { type: 'string', default: 'uws' } },
});
const requests = Number(positionals[0] ?? 200_000);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const only = values.only === undefined ? undefined : Number(values.only);
const engine = values.engine === 'node' ? 'node' : 'uws';

console.log(
  `POST /emails on ${engine}, ${only === undefined ? `${requests} calls` : `call ${only}`}, seed ${seed}, ${new Date().toISOString()}`,
);
const result = await runFuzz({ requests, seed, only, engine });
print(result);
const growth = only === undefined ? growthProblem(result.memory) : null;
if (growth !== null) console.log(`WRONG: ${growth}`);
process.exitCode = result.failures.length > 0 || growth !== null ? 1 : 0;

function print({ answers, failures, memory, elapsedMs }: FuzzResult): void {
  for (const [outcome, count] of [...answers].sort()) console.log(`${String(count).padStart(8)}  ${outcome}`);
  const inMib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;
  for (const { requests, rssBytes, heapBytes } of memory) {
    console.log(`after ${requests} calls: ${inMib(rssBytes)} resident, ${inMib(heapBytes)} on the heap`);
  }
  console.log(`${Math.round(elapsedMs / 1000)} s`);
  for (const failure of failures) console.log(`WRONG: ${failure}`);
}
