// What a queue costs that cannot be delivered: memory, the start, and the rate of fresh mail to a
// healthy destination, first with an empty queue, then with a million messages for a dead one, in the
// same database. They have been tried once; their next tries are spread over four hours, so that some
// seventy a second come due while the fresh mail is measured.
import path from 'node:path';
import { ownMemoryMiB, peakMemoryMiB } from '../cpu-time.ts';
import { fillBacklog } from '../fill-backlog.ts';
import { type Postrider, startPostrider } from '../postrider.ts';
import type { RunContext } from '../run-context.ts';
import { type Sink, startSink } from '../sinks.ts';
import { atLeast, atMost, factRow, type Row, rateRow, showRate, showShare, withLimit } from '../table.ts';
import { sendTraffic } from '../traffic.ts';

const WARM_UP_MS = 3000;
const MEASURED_MS = 10_000;
const MORE_MEMORY_MIB = 60;
const MEMORY_MIB = 400;
const START_MS = 3000;
const SHARE = 0.9;

interface Measured {
  token: string;
  perSecond: number;
  memoryMiB: number;
  peakMiB: number;
  readyAfterMs: number;
}

export async function measureBacklog(run: RunContext): Promise<Row[]> {
  const folder = path.join(run.folder, 'backlog');
  const sink = await startSink({ kind: 'own', folder: run.folder });
  try {
    const empty = await measureOnce(run, { folder, sink });
    const databaseFile = path.join(folder, 'data', 'postrider.db');
    await fillBacklog(databaseFile, run.options.backlog);
    const full = await measureOnce(run, { folder, sink, token: empty.token });
    return rowsOf(run, empty, full);
  } finally {
    await sink.stop();
  }
}

async function measureOnce(run: RunContext, at: { folder: string; sink: Sink; token?: string }): Promise<Measured> {
  const { folder, sink, token } = at;
  const postrider = await startPostrider({
    ...{ folder, smtpPort: sink.smtpPort, domainCount: run.options.domains },
    watch: run.watch(token === undefined ? 'backlog-empty' : 'backlog-full'),
    ...(token !== undefined && { token }),
  });
  try {
    return await measureFresh(run, postrider, sink);
  } finally {
    await postrider.stop();
  }
}

async function measureFresh(run: RunContext, postrider: Postrider, sink: Sink): Promise<Measured> {
  const { connections, inFlight } = run.options;
  const traffic = await sendTraffic({
    ...{ postrider, sink, folder: run.folder, connections, inFlight, pauseMs: 0 },
    warmUpMs: WARM_UP_MS,
    measuredMs: MEASURED_MS,
  });
  const { pid, token, readyAfterMs } = postrider;
  const perSecond = (traffic.arrivedWithin * 1000) / (traffic.toMs - traffic.fromMs);
  const unknown = Number.NaN;
  return {
    ...{ token, perSecond, readyAfterMs },
    memoryMiB: ownMemoryMiB(pid) ?? unknown,
    peakMiB: peakMemoryMiB(pid) ?? unknown,
  };
}

function rowsOf({ options }: RunContext, empty: Measured, full: Measured): Row[] {
  const share = full.perSecond / empty.perSecond;
  const more = full.memoryMiB - empty.memoryMiB;
  const mib = (value: number) => `${Math.round(value)} MiB`;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const waiting = `${options.backlog.toLocaleString('en')} waiting`;
  return [
    rateRow('fresh mail, queue empty', empty.perSecond, 'to the sink'),
    rateRow(`fresh mail, ${waiting}`, full.perSecond, ''),
    withLimit(
      factRow('  of the rate with an empty queue', showShare(share), { share }, showRate(full.perSecond)),
      atLeast(share, SHARE, showShare),
    ),
    withLimit(
      factRow('  more memory', mib(more), { more_mib: more }, `${mib(full.memoryMiB)} and ${mib(empty.memoryMiB)}`),
      atMost(more, MORE_MEMORY_MIB, mib),
    ),
    withLimit(
      factRow('  memory at its highest', mib(full.peakMiB), { peak_mib: full.peakMiB }, `empty ${mib(empty.peakMiB)}`),
      atMost(full.peakMiB, MEMORY_MIB, mib),
    ),
    withLimit(
      factRow('  start', seconds(full.readyAfterMs), { ms: full.readyAfterMs }, `empty ${seconds(empty.readyAfterMs)}`),
      atMost(full.readyAfterMs, START_MS, seconds),
    ),
  ];
}
