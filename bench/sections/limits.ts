// What the machine can do at most at each of the things that a message needs.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { measureInserts } from '../bare-inserts.ts';
import { monotonicMs } from '../monotonic.ts';
import { startProcess } from '../processes.ts';
import type { RunContext } from '../run-context.ts';
import { startSink } from '../sinks.ts';
import type { FloodJob, FloodReport } from '../smtp-flood.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { latencyRow, type Row, rateRow, showRate } from '../table.ts';

const EACH_MS = 2000;
const SIGNATURES_PER_MESSAGE = 2;
/** As the group of a daemon under the load of 50 connections. */
const INSERTS_PER_COMMIT = 50;
const FLOOD_CONNECTIONS = 10;
/** What the sample mail has on the wire, with header and two signatures. */
const MESSAGE_BYTES = 4500;
/** The header fields that a DKIM signature covers. */
const SIGNED_BYTES = 1000;
const PAGE_BYTES = 4096;

export async function measureLimits(run: RunContext): Promise<Row[]> {
  const signaturesPerS = signaturesPerSecond();
  const fsync = fsyncTimes(run.folder);
  const insertsPerS = await measureInserts({ folder: run.folder, group: INSERTS_PER_COMMIT, durationMs: EACH_MS });
  const floodPerS = await flood(run);
  run.limits = { signaturesPerS, fsync, insertsPerS };
  const signed = showRate(signaturesPerS / SIGNATURES_PER_MESSAGE);
  return [
    rateRow('RSA-2048 signatures, one core', signaturesPerS, `two per message: messages ${signed} and core`),
    latencyRow('fsync of a 4 KB append, p50 / p99', fsync, 'in the folder of the databases'),
    rateRow('bare SQLite, accepted messages', insertsPerS, `synchronous=FULL, ${INSERTS_PER_COMMIT} to a commit`),
    rateRow('bare SMTP client to the sink', floodPerS, `${FLOOD_CONNECTIONS} connections, ready-made message`),
  ];
}

function signaturesPerSecond(): number {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const data = randomBytes(SIGNED_BYTES);
  sign('sha256', data, privateKey); // the first use of a key sets it up
  const startedAtMs = monotonicMs();
  let count = 0;
  for (; monotonicMs() - startedAtMs < EACH_MS; count++) sign('sha256', data, privateKey);
  return (count * 1000) / (monotonicMs() - startedAtMs);
}

function fsyncTimes(folder: string): Spread {
  const file = fs.openSync(path.join(folder, 'fsync'), 'a');
  const page = randomBytes(PAGE_BYTES);
  const times: number[] = [];
  for (const endsAtMs = monotonicMs() + EACH_MS; monotonicMs() < endsAtMs; ) {
    const startedAtMs = monotonicMs();
    fs.writeSync(file, page);
    fs.fsyncSync(file);
    times.push(monotonicMs() - startedAtMs);
  }
  fs.closeSync(file);
  return spreadOf(times);
}

async function flood({ folder, options }: RunContext): Promise<number> {
  const sink = await startSink({ kind: options.sink, folder });
  const client = startProcess<FloodJob, FloodReport>(new URL('../smtp-flood.ts', import.meta.url));
  try {
    const { smtpPort } = sink;
    const job = { smtpPort, connections: FLOOD_CONNECTIONS, durationMs: EACH_MS, messageBytes: MESSAGE_BYTES };
    return (await client.ask(job)).perSecond;
  } finally {
    await client.stop();
    await sink.stop();
  }
}
