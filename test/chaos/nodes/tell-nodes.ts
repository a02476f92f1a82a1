// A run of several daemons from the command line: prints its figures, and keeps the history when a promise was broken.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Owner } from '../../support/daemon-process.ts';
import { hasFailed } from '../check.ts';
import { History } from './history.ts';
import { type NodesFigures, type NodesResult, runNodes } from './run-nodes.ts';

const LINE_EVERY_FAULTS = 10;
const MAX_EXAMPLES = 10;

export interface NodesCall {
  seed: number;
  faults: number;
  minutes: number;
  keep: boolean;
}

/** Whether all promises were kept. */
export async function tellNodes({ seed, faults, minutes, keep }: NodesCall): Promise<boolean> {
  console.log(`seed ${seed}: three daemons, a primary and a synchronous standby`);
  const startedAt = Date.now();
  const elapsed = () => ((Date.now() - startedAt) / 60_000).toFixed(1);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-chaos-'));
  const history = new History(folder);
  const endings: (() => unknown)[] = [];
  let isFine = false;
  const owner: Owner = {
    teardown: (ending) => void endings.unshift(ending),
    passing: () => isFine && !keep,
    comment: (...text) => console.log(...text),
  };
  try {
    const result = await runNodes(owner, {
      ...{ seed, faults, minutes, history },
      onFault({ number }, what, soFar) {
        if (number % LINE_EVERY_FAULTS === 0)
          console.log(`${number} faults, ${elapsed()} min, last ${what}: ${describeFigures(soFar)}`);
      },
    });
    isFine = !hasFailed(result.findings);
    tell(result);
    console.log(
      `\nseed ${seed}: ${elapsed()} minutes, ${isFine ? 'all promises kept' : `broken promises; the history is ${history.file}`}`,
    );
    return isFine;
  } catch (error) {
    console.log(
      `seed ${seed}: given up after ${elapsed()} minutes: ${(error as Error).stack}; the history is ${history.file}`,
    );
    return false;
  } finally {
    for (const ending of endings) await ending();
    await history.close();
    if (isFine && !keep) fs.rmSync(folder, { recursive: true });
  }
}

function tell({ findings, figures, facts }: NodesResult): void {
  for (const [reason, count] of facts.inboundKept) console.log(`  inbound mail without effect, ${count} × ${reason}`);
  for (const [name, problems] of Object.entries(findings) as [string, string[]][]) {
    if (problems.length > 0) console.log(`\n${name}: ${problems.length}`);
    for (const problem of problems.slice(0, MAX_EXAMPLES)) console.log(`  ${problem}`);
  }
  const counts = Object.entries(findings).map(([name, problems]) => `${name} ${problems.length}`);
  console.log(`\n${JSON.stringify(figures.faults)}\n${describeFigures(figures)}\nproblems: ${counts.join(', ')}`);
}

export function describeFigures(figures: NodesFigures): string {
  const { promised, queued, arrived, twice, hit, promotions, reports, repeats, replays, events, closedDoors } = figures;
  const { takeovers, mostConnections } = figures;
  return (
    `${promised} messages promised over HTTP and ${queued} over SMTP, ${arrived} arrived, twice ${twice} of ${hit} in hand at faults; ` +
    `${repeats} repeated calls, ${replays} of them replays; ${reports} reports taken, ${events} events read on; ` +
    `${promotions} promotions, ${closedDoors} times closed at one and tried at all, ` +
    `${takeovers.count} takeovers in at most ${(takeovers.longestMs / 1000).toFixed(1)} s, ${mostConnections} connections of an address at most`
  );
}
