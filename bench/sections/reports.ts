// How fast bounces that come back by mail are taken, each on disk before its 250, and acted on: the
// message's state, its event and two suppressions. Every report is about another message that was
// really sent, and its return path the one that the sink has seen.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startMailSink } from '../../test/support/mail-sink.ts';
import { monotonicMs } from '../monotonic.ts';
import { type Postrider, startPostrider } from '../postrider.ts';
import { startProcess } from '../processes.ts';
import type { ReportFloodAnswer, ReportFloodJob } from '../report-flood.ts';
import type { RunContext } from '../run-context.ts';
import { atLeast, factRow, type Row, rateRow, withLimit } from '../table.ts';

/** The reports of so many are not measured: code gets compiled. */
const WARM_UP = 2000;
const MEASURED = 6000;
const MESSAGES = WARM_UP + MEASURED;
/** On a machine with two cores. */
const WANTED_PER_S = 1000;
const RECIPIENTS_PER_CALL = 50;
const CONNECTIONS = 20;
const LOOK_EVERY_MS = 10;
const PATIENCE_MS = 120_000;

export async function measureReports(run: RunContext): Promise<Row[]> {
  const folder = path.join(run.folder, 'reports');
  const logFile = path.join(folder, 'postrider.log');
  const sink = await startMailSink();
  const postrider = await startPostrider({
    folder,
    smtpPort: sink.port,
    domainCount: run.options.domains,
    watch: run.watch('reports'),
  });
  const flood = startProcess<ReportFloodJob, ReportFloodAnswer>(new URL('../report-flood.ts', import.meta.url));
  try {
    await sendAll(postrider);
    const mails = await sink.received(MESSAGES);
    await until('all messages are delivered', () => countIn(logFile, '"fact":"delivered"') >= MESSAGES);
    const reports = mails.map(({ from, to }) => ({ returnPath: from, recipient: to }));
    const bring = async (some: typeof reports) => {
      const answer = await flood.ask({ smtpPort: smtpPortIn(logFile), connections: CONNECTIONS, reports: some });
      if (answer.refusal !== null) throw new Error(`a report was refused: ${answer.refusal}`);
      return answer;
    };
    const actedOn = (count: number) =>
      until('all reports are acted on', () => countIn(logFile, '"fact":"inbound"') >= count);
    await bring(reports.slice(0, WARM_UP));
    await actedOn(WARM_UP);
    const answer = await bring(reports.slice(WARM_UP));
    await actedOn(MESSAGES);
    return rowsOf(answer, monotonicMs(), countIn(logFile, '"effect":"bounced"'));
  } finally {
    await flood.stop();
    await postrider.stop();
    await sink.close();
  }
}

function rowsOf({ accepted, fromMs, toMs, bytesEach }: ReportFloodAnswer, doneMs: number, bounced: number): Row[] {
  const kept = (accepted * 1000) / (toMs - fromMs);
  const acted = (accepted * 1000) / (doneMs - fromMs);
  const size = `${Math.round(bytesEach / 100) / 10} KB each, ${CONNECTIONS} connections`;
  return [
    rateRow('bounces by mail, 250 after commit', kept, size),
    withLimit(
      rateRow('  and acted on', acted, `the last one ${Math.round(doneMs - toMs)} ms after its 250`),
      atLeast(acted, WANTED_PER_S),
    ),
    factRow('  bounced of those sent', `${bounced} of ${MESSAGES}`, { bounced }, ''),
  ];
}

async function sendAll({ httpPort, token, from, domains }: Postrider): Promise<void> {
  for (let sent = 0; sent < MESSAGES; sent += RECIPIENTS_PER_CALL) {
    const to = Array.from({ length: RECIPIENTS_PER_CALL }, (_, index) => {
      return `user${sent + index}@${domains[index % domains.length]}`;
    });
    const answer = await fetch(`http://127.0.0.1:${httpPort}/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from, to, subject: 'Your order', text: 'Thank you.' }),
    });
    if (answer.status !== 202) throw new Error(`not accepted: ${answer.status} ${await answer.text()}`);
  }
}

function smtpPortIn(logFile: string): number {
  const ready = /^.*"msg":"ready".*$/m.exec(fs.readFileSync(logFile, 'utf8'))?.[0];
  return (JSON.parse(ready ?? '{}') as { smtp_port: number }).smtp_port;
}

function countIn(file: string, text: string): number {
  const content = fs.readFileSync(file);
  let count = 0;
  for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + text.length)) count++;
  return count;
}

async function until(what: string, look: () => boolean): Promise<void> {
  for (const deadline = monotonicMs() + PATIENCE_MS; !look(); await pause(LOOK_EVERY_MS)) {
    if (monotonicMs() > deadline) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
  }
}
