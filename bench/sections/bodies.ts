// What one tenant's worst bodies do to another's calls: one key of the first tier sends them as fast as
// it may, in three sizes, while another tenant sends mail quietly.
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpAnswer, HttpCaller } from '../http-caller.ts';
import type { Postrider } from '../postrider.ts';
import type { RunContext } from '../run-context.ts';
import type { Sink } from '../sinks.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { atMost, latencyRow, type Row, showMs, withLimit } from '../table.ts';
import { sendTraffic } from '../traffic.ts';
import { withPostrider } from '../with-postrider.ts';
import { worstBodies } from '../worst-bodies.ts';

const TWICE = 2;
const P99_MS = 250;
/** Some 150 messages per second: what is measured is the time of each, not how many fit. */
const STREAM = { connections: 4, inFlight: 4, pauseMs: 20, warmUpMs: 2000, measuredMs: 10_000 };
const CALLERS = 8;

const KIB = 1024;
const SIZES: Record<string, number> = {
  '5 MiB': 5 * KIB * KIB,
  '65 KiB': 65 * KIB,
  'just under 64 KiB': 64 * KIB - 1,
};

interface Scene {
  run: RunContext;
  postrider: Postrider;
  sink: Sink;
}

export function measureBodies(run: RunContext): Promise<Row[]> {
  return withPostrider(run, { section: 'bodies' }, async ({ postrider, sink }) => {
    const scene = { run, postrider, sink };
    await quietCalls(scene);
    const quiet = await quietCalls(scene);
    const rows = [latencyRow('POST /emails, nothing else going on', quiet.spread, mainThread(quiet))];
    for (const [size, bytes] of Object.entries(SIZES)) {
      const { beside, calls, refused } = await besideFlood(scene, bytes);
      const about = `${calls} of them read, ${refused} refused by the rate; ${mainThread(beside)}`;
      rows.push(
        withLimit(
          latencyRow(`  beside bodies of ${size}`, beside.spread, about),
          atMost(beside.spread.p50, quiet.spread.p50 * TWICE, (ms) => `${showMs(ms)} ms`),
          atMost(beside.spread.p99, P99_MS, (ms) => `${showMs(ms)} ms`),
        ),
      );
    }
    return rows;
  });
}

interface Quiet {
  spread: Spread;
  /** Of the daemon's main thread; null where that cannot be known. It says more than the times on a busy machine. */
  mainThreadCores: number | null;
}

function mainThread({ mainThreadCores }: Quiet): string {
  return mainThreadCores === null ? '' : `main thread: ${mainThreadCores.toFixed(2)} cores`;
}

async function quietCalls({ run, postrider, sink }: Scene): Promise<Quiet> {
  const { calls, fromMs, toMs, cores } = await sendTraffic({ ...STREAM, postrider, sink, folder: run.folder });
  const measured = calls.filter(({ answeredAtMs }) => answeredAtMs >= fromMs && answeredAtMs < toMs);
  const spread = spreadOf(measured.map(({ calledAtMs, answeredAtMs }) => answeredAtMs - calledAtMs));
  return { spread, mainThreadCores: cores?.mainThread ?? null };
}

interface Flood {
  beside: Quiet;
  calls: number;
  refused: number;
}

/** A tenant of its own for each size: its bucket is full when the flood begins, with the measured time. */
async function besideFlood(scene: Scene, bytes: number): Promise<Flood> {
  const { httpPort, addSender } = scene.postrider;
  const domain = `flood${bytes}.test`;
  const token = await addSender(domain, '1k');
  const requests = worstBodies(`a@${domain}`, bytes).map((body) => requestOf(token, body.bytes));
  const flood: FloodState = { flooding: true, calls: 0, refused: 0 };
  const callers = Array.from({ length: CALLERS }, async (_, at) => {
    await pause(STREAM.warmUpMs);
    const caller = new HttpCaller(httpPort, (why) => {
      if (flood.flooding) throw new Error(`the flood broke off: ${why}`);
    });
    for (let turn = at; flood.flooding; turn++) await sendOne(caller, requests[turn % requests.length]!, flood);
    caller.close();
  });
  const beside = await quietCalls(scene);
  flood.flooding = false;
  await Promise.all(callers);
  return { beside, calls: flood.calls, refused: flood.refused };
}

async function sendOne(caller: HttpCaller, request: Buffer, flood: FloodState): Promise<void> {
  const answer = await new Promise<HttpAnswer>((resolve) => caller.call(request, resolve));
  if (answer.status !== 429) {
    flood.calls++;
    return;
  }
  flood.refused++;
  const { retry_after_secs: seconds } = JSON.parse(answer.body) as { retry_after_secs: number };
  for (const until = Date.now() + seconds * 1000; flood.flooding && Date.now() < until; ) await pause(LOOK_EVERY_MS);
}

interface FloodState {
  flooding: boolean;
  calls: number;
  refused: number;
}

const LOOK_EVERY_MS = 50;

function requestOf(token: string, body: Buffer): Buffer {
  const head = [
    'POST /emails HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '\r\n',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), body]);
}
