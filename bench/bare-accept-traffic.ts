// Runs the bare accept loop under the load that the daemon gets in the accept section.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { BareAcceptAnswer, BareAcceptJob } from './bare-accept.ts';
import { cpuTimeOf } from './cpu-time.ts';
import type { LoadJob, LoadReport } from './load.ts';
import { startProcess } from './processes.ts';
import type { RunContext } from './run-context.ts';

const WARM_UP_MS = 2000;

export interface BareAcceptRate {
  perSecond: number;
  /** Processor time of its main thread per message. */
  cpuUs: number;
}

export async function measureBareAccept({ folder, options }: RunContext): Promise<BareAcceptRate> {
  const loop = startProcess<BareAcceptJob, BareAcceptAnswer>(new URL('./bare-accept.ts', import.meta.url));
  const load = startProcess<LoadJob, LoadReport>(new URL('./load.ts', import.meta.url));
  try {
    const { httpPort } = await loop.ask({ file: path.join(folder, `bare-${randomUUID()}.db`) });
    const job: LoadJob = {
      httpPorts: [httpPort],
      ...{ token: `pr_${'x'.repeat(12)}_${'y'.repeat(43)}`, from: 'Example Shop <orders@sender.test>' },
      domains: Array.from({ length: options.domains }, (_, index) => `in${index + 1}.test`),
      ...{ connections: options.connections, inFlight: null, perSecond: null, progressPort: 0, pauseMs: 0 },
      timesFile: path.join(folder, 'bare-calls'),
      durationMs: WARM_UP_MS,
    };
    await load.ask(job);
    const before = cpuTimeOf(loop.pid);
    const durationMs = options.seconds * 125;
    const { accepted } = await load.ask({ ...job, durationMs });
    const after = cpuTimeOf(loop.pid);
    const usedS = (after?.mainThreadS ?? Number.NaN) - (before?.mainThreadS ?? Number.NaN);
    return { perSecond: (accepted * 1000) / durationMs, cpuUs: (usedS * 1e6) / accepted };
  } finally {
    await load.stop();
    await loop.stop();
  }
}
