// What 10,000 clicks per second do to a daemon that sends: the same quiet stream of mail once alone, once
// beside clicks that another process answers by a bare redirect (the cores are the same, so that slows mail
// too), and once beside clicks that the daemon takes. Each click is on another message than the one before,
// so that nothing is merged but what the caps of events merge; afterwards every click that was answered is
// looked for in the database.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openForReading } from '../../src/store/sqlite/engine/database-file.ts';
import type { BareRedirectAnswer } from '../bare-redirect.ts';
import { clickPaths } from '../click-links.ts';
import type { ClickJob, ClickReport } from '../click-load.ts';
import { startProcess } from '../processes.ts';
import type { RunContext } from '../run-context.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { atLeast, factRow, latencyRow, type Row, rateRow, withLimit } from '../table.ts';
import { answersPerSecond, answerTimes, drain, sendTraffic, type Traffic, transitTimes } from '../traffic.ts';
import { type Setting, withPostrider } from '../with-postrider.ts';
import { signaturesPerSecond } from './limits.ts';

const CLICKS_PER_S = 10_000;
/** Each click is another person's: with few connections it would be those that clicks wait for. */
const CLICK_CONNECTIONS = 256;
const CLICKS_MS = 8000;
/** Before they are measured, and without mail: the code gets compiled. */
const WARM_UP_MS = 5000;
/** Messages to click on: sent as fast as it goes. */
const FILLING = { connections: 50, inFlight: 200, pauseMs: 0, warmUpMs: 0, measuredMs: 15_000 };
/** An open loop: whoever has mail to send does not send less because others click. */
const STREAM = { connections: 64, inFlight: null, pauseMs: 0, warmUpMs: 1000, measuredMs: 6000 };
/** Two signatures a message: a tenth of what two cores can sign. More would fill the slower machines alone. */
const SIGNATURES_PER_MAIL = 10;
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
    const mailsPerS = Math.round((run.limits?.signaturesPerS ?? signaturesPerSecond()) / SIGNATURES_PER_MAIL);
    const stream = () => mailStream(run, setting, mailsPerS);
    const alone = await stream();
    const load = startProcess<ClickJob, ClickReport>(new URL('../click-load.ts', import.meta.url));
    const bare = startProcess<null, BareRedirectAnswer>(new URL('../bare-redirect.ts', import.meta.url));
    const besideClicksTo = async (httpPort: number) => {
      const job = { httpPort, connections: CLICK_CONNECTIONS, pathsFile, perSecond: CLICKS_PER_S };
      const before = await load.ask({ ...job, durationMs: WARM_UP_MS });
      const clicking = load.ask({ ...job, durationMs: CLICKS_MS });
      const mail = await stream();
      const clicks = await clicking;
      return { mail, clicks, answered: before.answered + clicks.answered };
    };
    try {
      const besideBare = await besideClicksTo((await bare.ask(null)).httpPort);
      await bare.stop();
      const { mail: beside, clicks, answered } = await besideClicksTo(postrider.httpPort);
      const lost = answered - (await countedClicks(daemonFolder, answered));
      return rowsOf({ mailsPerS, alone, besideBare, beside, clicks, lost, messages: messageIds.length });
    } finally {
      await load.stop();
      await bare.stop();
    }
  });
}

interface Stream {
  traffic: Traffic;
  transit: Spread | null;
}

async function mailStream(run: RunContext, setting: Setting, perSecond: number): Promise<Stream> {
  await setting.sink.arrivals(); // those of before
  const traffic = await sendTraffic({ ...setting, ...STREAM, perSecond, folder: run.folder });
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
  mailsPerS: number;
  alone: Stream;
  besideBare: { mail: Stream; clicks: ClickReport };
  beside: Stream;
  clicks: ClickReport;
  lost: number;
  messages: number;
}

function rowsOf({ mailsPerS, alone, besideBare, beside, clicks, lost, messages }: Findings): Row[] {
  const taken = (clicks.answered * 1000) / clicks.elapsedMs;
  const note = `on ${messages.toLocaleString('en')} messages; ${clicks.refused} not redirected, ${lost} not counted`;
  const bareTaken = (besideBare.clicks.answered * 1000) / besideBare.clicks.elapsedMs;
  const sent = answersPerSecond(beside.traffic);
  return [
    withLimit(rateRow('clicks taken', taken, note), atLeast(taken, CLICKS_PER_S * 0.99)),
    latencyRow('  redirected after, p50 / p99', clicks.answerMs, `${CLICK_CONNECTIONS} connections, open loop`),
    withLimit(rateRow('  mail beside them', sent, `${mailsPerS} /s offered`), atLeast(sent, mailsPerS * 0.99)),
    ...timesOf('alone', alone, ''),
    ...timesOf('beside a bare redirect', besideBare.mail, `of another process, ${Math.round(bareTaken)} /s`),
    ...timesOf('beside clicks', beside, ''),
    ...coresRow(beside.traffic),
  ];
}

function timesOf(when: string, { traffic, transit }: Stream, note: string): Row[] {
  return [
    latencyRow(`  202 after, ${when}`, spreadOf(answerTimes(traffic)), note),
    ...(transit ? [latencyRow(`  arrived after, ${when}`, transit, '')] : []),
  ];
}

function coresRow({ cores }: Traffic): Row[] {
  if (cores === null) return [];
  const { mainThread, otherThreads } = cores;
  const figures = { main_thread: mainThread, other_threads: otherThreads };
  return [factRow('  cores: main thread, others', `${mainThread.toFixed(2)}, ${otherThreads.toFixed(2)}`, figures)];
}
