// A file to many recipients: what leaves per second, beside a bare loop that sends the same bytes to the same sink, and
// the daemon's memory with few recipients and with many.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import Database from 'better-sqlite3';
import type { BareAttachmentJob, BareAttachmentReport } from '../bare-attachment.ts';
import { peakMemoryMiB } from '../cpu-time.ts';
import { monotonicMs } from '../monotonic.ts';
import { startProcess } from '../processes.ts';
import type { RunContext } from '../run-context.ts';
import { startSink } from '../sinks.ts';
import { atLeast, atMost, factRow, type Row, showShare, withLimit } from '../table.ts';
import { drain } from '../traffic.ts';
import { type Setting, withPostrider } from '../with-postrider.ts';

const MIB = 1024 * 1024;
const FILE = randomBytes(MIB);
const CALLS = 40;
const CALLS_AT_ONCE = 4;
const MANY_RECIPIENTS = 50;
/** As many as sessions to the four providers are opened at the same time. */
const FEW_RECIPIENTS = 5;
const BARE_CONNECTIONS = 10;
/** Compiles code and opens connections. */
const WARM_UP_CALLS = 2;

const WANTED_SHARE = 0.6;
const MOST_MEMORY = 1.2;

export async function measureAttachments(run: RunContext): Promise<Row[]> {
  const bareBefore = await bareLoop(run);
  const few = await sendFiles(run, FEW_RECIPIENTS);
  const many = await sendFiles(run, MANY_RECIPIENTS);
  const bareAfter = await bareLoop(run);
  const bare = (bareBefore + bareAfter) / 2;
  const share = many.mibPerS / bare;
  const size = `1 MiB to ${MANY_RECIPIENTS} recipients`;
  return [
    factRow(
      'bare loop, 1 MiB files',
      showMiB(bare),
      { mib_per_s: bare },
      `${showMiB(bareBefore)}, ${showMiB(bareAfter)}`,
    ),
    withLimit(
      factRow(size, showMiB(many.mibPerS), { mib_per_s: many.mibPerS, share }, `${showShare(share)} of the bare loop`),
      atLeast(share, WANTED_SHARE, showShare),
    ),
    memoryRow(few.peakMiB, many.peakMiB),
  ];
}

function memoryRow(few: number | null, many: number | null): Row {
  const what = '  memory at most';
  if (few === null || many === null) return factRow(what, 'not known', {});
  const beside = `${Math.round(few)} MiB with ${FEW_RECIPIENTS} recipients`;
  const row = factRow(what, `${Math.round(many)} MiB`, { many_mib: many, few_mib: few }, beside);
  return withLimit(
    row,
    atMost(many / few, MOST_MEMORY, (times) => `${times.toFixed(1)} ×`),
  );
}

function showMiB(perSecond: number): string {
  return `${Math.round(perSecond)} MiB/s`;
}

async function bareLoop({ folder }: RunContext): Promise<number> {
  const databaseFile = path.join(folder, 'files.db');
  const db = new Database(databaseFile);
  db.exec('CREATE TABLE IF NOT EXISTS files (content BLOB); DELETE FROM files');
  db.prepare('INSERT INTO files VALUES (?)').run(FILE);
  db.close();
  const sink = await startSink({ kind: 'own', folder });
  const url = new URL('../bare-attachment.ts', import.meta.url);
  const sender = startProcess<BareAttachmentJob, BareAttachmentReport>(url);
  try {
    const job = { smtpPort: sink.smtpPort, databaseFile, connections: BARE_CONNECTIONS };
    await sender.ask({ ...job, messages: WARM_UP_CALLS * MANY_RECIPIENTS });
    const before = (await sink.bytes())!;
    const { ms } = await sender.ask({ ...job, messages: CALLS * MANY_RECIPIENTS });
    return perSecond((await sink.bytes())! - before, ms);
  } finally {
    await sender.stop();
    await sink.stop();
  }
}

function perSecond(bytes: number, ms: number): number {
  return bytes / MIB / (ms / 1000);
}

interface Sent {
  mibPerS: number;
  peakMiB: number | null;
}

function sendFiles(run: RunContext, recipients: number): Promise<Sent> {
  const own = { ...run, options: { ...run.options, sink: 'own' as const } };
  return withPostrider(own, { section: `attachments-${recipients}` }, async (setting) => {
    await post(setting, recipients, WARM_UP_CALLS);
    await drain(setting.sink, recipients * WARM_UP_CALLS);
    const before = (await setting.sink.bytes())!;
    const startedAtMs = monotonicMs();
    await post(setting, recipients, CALLS);
    const wanted = recipients * (WARM_UP_CALLS + CALLS);
    const arrived = await drain(setting.sink, wanted);
    const ms = monotonicMs() - startedAtMs;
    if (arrived !== wanted) throw new Error(`${arrived} of ${wanted} messages have arrived`);
    return {
      mibPerS: perSecond((await setting.sink.bytes())! - before, ms),
      peakMiB: peakMemoryMiB(setting.postrider.pid),
    };
  });
}

async function post({ postrider }: Setting, recipients: number, calls: number): Promise<void> {
  const { httpPort, token, from, domains } = postrider;
  const to = Array.from({ length: recipients }, (_, index) => `r${index}@${domains[index % domains.length]}`);
  const attachments = [{ filename: 'file.bin', content: FILE.toString('base64') }];
  const body = JSON.stringify({ from, to, subject: 'A file', text: 'Here it is.', attachments });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  let left = calls;
  const caller = async () => {
    while (left-- > 0) {
      const answer = await fetch(`http://127.0.0.1:${httpPort}/emails`, { method: 'POST', headers, body });
      if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller));
}
