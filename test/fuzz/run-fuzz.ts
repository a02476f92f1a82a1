// Sends generated calls to the target over kept connections, and holds every answer to what an
// answer may be. Each call is made from the seed and its own number alone, so that one that
// fails can be made again without the others.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Answer, ContractClient } from '../contract/contract-client.ts';
import { type FuzzedCall, generateCall } from './body-generator.ts';
import type { Order, Report } from './fuzz-target.ts';
import { SeededRandom } from './seeded-random.ts';

const TARGET = fileURLToPath(new URL('./fuzz-target.ts', import.meta.url));
const CONNECTIONS = 32;
/** How often memory is looked at. */
const MEASUREMENTS = 10;

export interface FuzzOptions {
  requests: number;
  seed: number;
  engine?: 'uws' | 'node';
  /** Only this call, for a look at what failed. */
  only?: number | undefined;
}

export interface Measurement {
  requests: number;
  rssBytes: number;
  heapBytes: number;
}

export interface FuzzResult {
  /** How many answers had which status and error code. */
  answers: Map<string, number>;
  /** What went wrong, each with how to make it again. */
  failures: string[];
  memory: Measurement[];
  elapsedMs: number;
}

type Ready = Extract<Report, { kind: 'ready' }>;

/** Stops at the first few failures: one cause fails many calls. */
const ENOUGH_FAILURES = 5;

export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const target = await startTarget(options.engine ?? 'uws');
  const client = new ContractClient({ port: target.ready.port });
  const result: FuzzResult = { answers: new Map(), failures: [], memory: [], elapsedMs: 0 };
  const startedAt = performance.now();
  let next = options.only ?? 0;
  const end = options.only === undefined ? options.requests : options.only + 1;
  const work = async (until: number) => {
    while (next < until && result.failures.length < ENOUGH_FAILURES) {
      const number = next++;
      const call = generateCall(callRandom(options.seed, number), target.ready);
      const problem = await attempt(client, { call, key: target.ready.key, answers: result.answers });
      if (problem !== null) result.failures.push(describeFailure(options.seed, number, { call, problem }));
    }
  };
  const first = next;
  for (let part = 1; part <= MEASUREMENTS && result.failures.length < ENOUGH_FAILURES; part++) {
    const until = first + Math.ceil(((end - first) * part) / MEASUREMENTS);
    await Promise.all(Array.from({ length: CONNECTIONS }, () => work(until)));
    const { failures, ...memory } = await target.measure();
    result.memory.push({ requests: next, ...memory });
    for (const failure of failures) result.failures.push(`the log has a failure: ${failure}`);
  }
  result.elapsedMs = performance.now() - startedAt;
  client.close();
  await target.stop();
  return result;
}

function callRandom(seed: number, number: number): SeededRandom {
  return new SeededRandom((seed * 1_000_003 + number) | 0);
}

/** What is wrong with the answer, or null. */
async function attempt(
  client: ContractClient,
  { call, key, answers }: { call: FuzzedCall; key: string; answers: Map<string, number> },
): Promise<string | null> {
  let answer: Answer;
  try {
    // Holds the answer to the shape that all have, and to the API description.
    answer = await client.call('POST /emails', { key, body: call.body, headers: call.headers });
  } catch (error) {
    return String(error);
  }
  const replayed = answer.body?.replayed === true ? 'replayed' : 'accepted';
  const outcome = `${answer.status} ${answer.body?.error ?? replayed}`;
  answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
  return problemOf(call, answer, outcome);
}

const POSSIBLE = [
  ...['202 accepted', '202 replayed', '400 invalid_json', '400 validation_failed', '413 request_too_large'],
  ...['415 unsupported_media_type', '422 all_recipients_suppressed', '422 domain_not_verified'],
];

function problemOf({ body, headers, untouched }: FuzzedCall, { status }: Answer, outcome: string): string | null {
  if (!POSSIBLE.includes(outcome)) return `answered ${outcome}`;
  if (untouched && status !== 202) return `a good call was answered ${outcome}`;
  // A replay ignores the body, and what stands before it hides it.
  if (outcome === '202 replayed' || status === 413 || status === 415 || headers['Idempotency-Key'] !== undefined)
    return null;
  const json = isJson(body);
  if (json !== (outcome !== '400 invalid_json')) return `${json ? 'JSON' : 'what is no JSON'} was answered ${outcome}`;
  return null;
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

const SHOWN_BYTES = 2000;

function describeFailure(
  seed: number,
  number: number,
  { call, problem }: { call: FuzzedCall; problem: string },
): string {
  const shown = call.body.subarray(0, SHOWN_BYTES).toString();
  const headers = JSON.stringify(call.headers);
  const again = `npm run fuzz -- --target api-body --seed ${seed} --only ${number}`;
  return `${problem}\n  again: ${again}\n  headers: ${headers}\n  body (${call.body.length} bytes): ${shown}`;
}

async function startTarget(engine: 'uws' | 'node') {
  const child = fork(TARGET, [engine], { execArgv: ['--expose-gc'] });
  const ready = (await nextReport(child)) as Ready;
  const ask = (order: Order) => child.send(order);
  return {
    ready,
    async measure() {
      const report = nextReport(child);
      ask('measure');
      const { kind: _, ...memory } = (await report) as Extract<Report, { kind: 'memory' }>;
      return memory;
    },
    async stop(): Promise<void> {
      if (child.exitCode !== null) return;
      const ended = once(child, 'close');
      ask('stop');
      await ended;
    },
  };
}

/** Rejects when the target ends instead. */
function nextReport(child: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null, signal: string | null) => {
      child.off('message', reported);
      reject(new Error(`the target ended with ${signal ?? `code ${code}`}`));
    };
    const reported = (report: unknown) => {
      child.off('close', ended);
      resolve(report as Report);
    };
    child.once('close', ended);
    child.once('message', reported);
  });
}
