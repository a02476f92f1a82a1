// What 10,000 clicks per second do to a daemon that sends: the same quiet stream of mail once alone and
// once beside them. Each click is on another message than the one before, so that nothing is merged but
// what the caps of events merge; afterwards every click that was answered is looked for in the database.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openForReading } from '../../src/store/sqlite/database-file.ts';
import { clickPaths } from '../click-links.ts';
import type { ClickJob, ClickReport } from '../click-load.ts';
import { startProcess } from '../processes.ts';
import type { RunContext } from '../run-context.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { atLeast, factRow, latencyRow, type Row, rateRow, withLimit } from '../table.ts';
import { answersPerSecond, answerTimes, drain, sendTraffic, type Traffic, transitTimes } from '../traffic.ts';
import { type Setting, withPostrider } from '../with-postrider.ts';

const CLICKS_PER_S = 10_000;
const CLICK_CONNECTIONS = 64;
const CLICKS_MS = 8000;
/** Messages to click on: sent as fast as it goes. */
const FILLING = { connections: 50, inFlight: 200, pauseMs: 0, warmUpMs: 0, measuredMs: 8000 };
/** An open loop: whoever has mail to send does not send less because others click. */
const MAILS_PER_S = 400;
const STREAM = {
  ...{ connections: 64, inFlight: null, perSecond: MAILS_PER_S, pauseMs: 0 },
  ...{ warmUpMs: 1000, measuredMs: 6000 },
};
const COUNTED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 200;

export function measureClicks(run: RunContext): Promise<Row[]> {
  return withPostrider(run, { section: 'clicks' }, async (setting) => {
    const { postrider, sink } = setting;
    const daemonFolder = path.join(run.folder, 'clicks');
    const filling = await sendTraffic({ ...setting, ...FILLING, folder: run.folder });
    await drain(sink, filling.calls.length);
    const messageIds = filling.calls.map(({ messageId }) => messageId);
    const pathsFile = path.join(run.folder, 'click-paths');
    fs.writeFileSync(pathsFile, clickPaths(daemonFolder, messageIds).join('\n'));
    const alone = await stream(run, setting);
    const load = startProcess<ClickJob, ClickReport>(new URL('../click-load.ts', import.meta.url));
    try {
      const job = { httpPort: postrider.httpPort, connections: CLICK_CONNECTIONS, pathsFile };
      const clicking = load.ask({ ...job, perSecond: CLICKS_PER_S, durationMs: CLICKS_MS });
      const beside = await stream(run, setting);
      const clicks = await clicking;
      const counted = await countedClicks(daemonFolder, clicks.answered);
      return rowsOf({ alone, beside, clicks, counted, messages: messageIds.length });
    } finally {
      await load.stop();
    }
  });
}

interface Stream {
  traffic: Traffic;
  transit: Spread | null;
}

async function stream(run: RunContext, setting: Setting): Promise<Stream> {
  await setting.sink.arrivals(); // those of before
  const traffic = await sendTraffic({ ...setting, ...STREAM, folder: run.folder });
  await drain(setting.sink, 0);
  const arrivals = await setting.sink.arrivals();
  return { traffic, transit: arrivals && spreadOf(transitTimes(traffic, arrivals)) };
}

/** Waits for what is still to be written. */
async function countedClicks(daemonFolder: string, wanted: number): Promise<number> {
  const db = openForReading(path.join(daemonFolder, 'data', 'postrider.db'));
  try {
    const sum = () => Number(db.prepare('SELECT coalesce(sum(hits), 0) FROM link_hits').pluck().get());
    for (const deadline = Date.now() + COUNTED_WITHIN_MS; sum() < wanted && Date.now() < deadline; ) {
      await pause(LOOK_EVERY_MS);
    }
    return sum();
  } finally {
    db.close();
  }
}

interface Findings {
  alone: Stream;
  beside: Stream;
  clicks: ClickReport;
  counted: number;
  messages: number;
}

function rowsOf({ alone, beside, clicks, counted, messages }: Findings): Row[] {
  const taken = (clicks.answered * 1000) / clicks.elapsedMs;
  const lost = clicks.answered - counted;
  const note = `on ${messages.toLocaleString('en')} messages; ${clicks.refused} not redirected, ${lost} not counted`;
  const sent = answersPerSecond(beside.traffic);
  return [
    withLimit(rateRow('clicks taken', taken, note), atLeast(taken, CLICKS_PER_S * 0.99)),
    latencyRow('  redirected after, p50 / p99', clicks.answerMs, `${CLICK_CONNECTIONS} connections, open loop`),
    withLimit(rateRow('  mail beside them', sent, `${MAILS_PER_S} /s offered`), atLeast(sent, MAILS_PER_S * 0.99)),
    ...(['alone', 'beside clicks'] as const).flatMap((when) => {
      const { traffic, transit } = when === 'alone' ? alone : beside;
      return [
        latencyRow(`  202 after, ${when}`, spreadOf(answerTimes(traffic)), ''),
        ...(transit ? [latencyRow(`  arrived after, ${when}`, transit, '')] : []),
      ];
    }),
    ...coresRow(beside.traffic),
  ];
}

function coresRow({ cores }: Traffic): Row[] {
  if (cores === null) return [];
  const { mainThread, otherThreads } = cores;
  const figures = { main_thread: mainThread, other_threads: otherThreads };
  return [factRow('  cores: main thread, others', `${mainThread.toFixed(2)}, ${otherThreads.toFixed(2)}`, figures)];
}
