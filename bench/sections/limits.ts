// What the machine can do at most at each of the things that a message needs.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { measureInserts } from '../bare-inserts.ts';
import { monotonicMs } from '../monotonic.ts';
import { startProcess } from '../processes.ts';
import type { RunContext } from '../run-context.ts';
import { findSmtpSink, startSink } from '../sinks.ts';
import type { FloodJob, FloodReport } from '../smtp-flood.ts';
import { findSmtpSource, sendWithSmtpSource } from '../smtp-source.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { factRow, latencyRow, type Row, rateRow, showRate } from '../table.ts';

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
  const debianRow = await smtpSourceToSink();
  run.limits = { signaturesPerS, fsync, insertsPerS };
  const signed = showRate(signaturesPerS / SIGNATURES_PER_MESSAGE);
  return [
    opensslRow(),
    rateRow('RSA-2048 signatures, one core', signaturesPerS, `two per message: messages ${signed} and core`),
    latencyRow('fsync of a 4 KB append, p50 / p99', fsync, 'in the folder of the databases'),
    rateRow('bare SQLite, accepted messages', insertsPerS, `synchronous=FULL, ${INSERTS_PER_COMMIT} to a commit`),
    rateRow('bare SMTP client to the sink', floodPerS, `${FLOOD_CONNECTIONS} connections, ready-made message`),
    debianRow,
  ];
}

/** What the processor signs without Node. */
function opensslRow(): Row {
  const what = 'openssl speed rsa2048, one core';
  try {
    const args = ['speed', '-seconds', String(EACH_MS / 1000), 'rsa2048'];
    const output = execFileSync('openssl', args, { encoding: 'latin1', stdio: ['ignore', 'pipe', 'ignore'] });
    // rsa 2048 bits 0.000367s 0.000011s 2724.3 93412.1
    const perSecond = /^rsa 2048 bits +[\d.]+s +[\d.]+s +([\d.]+)/m.exec(output)?.[1];
    return rateRow(what, Number(perSecond), 'signatures');
  } catch {
    return factRow(what, 'not measured', {}, 'openssl is not installed');
  }
}

const SOURCE_MESSAGES = 20_000;

/** Postfix' load generator to its sink: neither is ours. */
async function smtpSourceToSink(): Promise<Row> {
  const what = 'bare smtp-source to smtp-sink';
  if (findSmtpSource() === null || findSmtpSink() === null) {
    return factRow(what, 'not measured', {}, 'Debian package postfix is not installed');
  }
  const sink = await startSink({ kind: 'smtp-sink', folder: '' });
  try {
    const startedAtMs = monotonicMs();
    const sending = { port: sink.smtpPort, connections: FLOOD_CONNECTIONS, messageBytes: MESSAGE_BYTES };
    await sendWithSmtpSource({ ...sending, messages: SOURCE_MESSAGES });
    const perSecond = (SOURCE_MESSAGES * 1000) / (monotonicMs() - startedAtMs);
    return rateRow(what, perSecond, `${FLOOD_CONNECTIONS} connections, no pipelining`);
  } finally {
    await sink.stop();
  }
}

export function signaturesPerSecond(): number {
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
