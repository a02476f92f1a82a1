// How fast mail is accepted through the SMTP door, beside the HTTP door in the same run: bodies of the same size, one
// recipient, no TLS, as many reused connections, delivery held.

import { cpuTimeOf } from '../cpu-time.ts';
import { startProcess } from '../processes.ts';
import type { RunContext } from '../run-context.ts';
import { SAMPLE } from '../sample-mail.ts';
import type { FloodJob, FloodReport } from '../smtp-flood.ts';
import { atLeast, factRow, type Row, rateRow, showShare, withLimit } from '../table.ts';
import { answersPerSecond, sendTraffic } from '../traffic.ts';
import { type Setting, withPostrider } from '../with-postrider.ts';

const CONNECTIONS = 20;
const WARM_UP_MS = 2000;
const WANTED_SHARE = 0.6;
const BODY_BYTES = Buffer.byteLength(SAMPLE.html + SAMPLE.text);

export async function measureSmtpDoor(run: RunContext): Promise<Row[]> {
  const measuredMs = run.options.seconds * 250;
  return withPostrider(run, { section: 'smtp-door', greets: false }, async (setting) => {
    const before = await httpRate(run, setting, measuredMs);
    const bySmtp = await smtpRate(setting, measuredMs);
    const after = await httpRate(run, setting, measuredMs);
    const byHttp = (before.perS + after.perS) / 2;
    const share = bySmtp.perS / byHttp;
    const shareRow = factRow('  of the HTTP door', showShare(share), { share }, `${CONNECTIONS} connections each`);
    return [
      rateRow(
        'accept by HTTP',
        byHttp,
        `${Math.round(before.perS)} before, ${Math.round(after.perS)} after; ${costOf(before)}`,
      ),
      rateRow('accept by SMTP', bySmtp.perS, `bodies of ${BODY_BYTES} bytes; ${costOf(bySmtp)}`),
      withLimit(shareRow, atLeast(share, WANTED_SHARE, showShare)),
    ];
  });
}

interface Rate {
  perS: number;
  /** Of the daemon's main thread, for each mail. */
  mainUs: number | null;
}

/** Processor time is less shaken than rates by what else the machine does. */
function costOf({ mainUs }: Rate): string {
  return mainUs === null ? '' : `main thread ${Math.round(mainUs)} µs each`;
}

async function httpRate(run: RunContext, setting: Setting, measuredMs: number): Promise<Rate> {
  const plan = { ...setting, folder: run.folder, connections: CONNECTIONS, inFlight: null, pauseMs: 0 };
  const traffic = await sendTraffic({ ...plan, warmUpMs: WARM_UP_MS, measuredMs });
  const perS = answersPerSecond(traffic);
  return { perS, mainUs: traffic.cores && (traffic.cores.mainThread * 1e6) / perS };
}

async function smtpRate({ postrider }: Setting, measuredMs: number): Promise<Rate> {
  const { submissionPort: smtpPort, token: key, domains, from } = postrider;
  const application = { key, from: /<(.+)>/.exec(from)![1]!, to: `customer@${domains[0]}` };
  const job = { smtpPort, connections: CONNECTIONS, messageBytes: BODY_BYTES, application };
  const client = startProcess<FloodJob, FloodReport>(new URL('../smtp-flood.ts', import.meta.url));
  try {
    await client.ask({ ...job, durationMs: WARM_UP_MS });
    const before = cpuTimeOf(postrider.pid);
    const { perSecond: perS } = await client.ask({ ...job, durationMs: measuredMs });
    const after = cpuTimeOf(postrider.pid);
    const mainS = before && after && after.mainThreadS - before.mainThreadS;
    return { perS, mainUs: mainS && (mainS * 1e9) / (perS * measuredMs) };
  } finally {
    await client.stop();
  }
}
