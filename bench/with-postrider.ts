// Starts what a section needs, a sink and daemons that send to it, and stops them, whatever happens.
import path from 'node:path';
import { type Postrider, startPostrider } from './postrider.ts';
import type { RunContext } from './run-context.ts';
import { type Sink, startSink } from './sinks.ts';

export interface Setting {
  postrider: Postrider;
  /** More daemons on the same database. */
  others: readonly Postrider[];
  sink: Sink;
}

export interface SettingPlan {
  /** Names the folder of the daemon. */
  section: string;
  /** False holds delivery: every session waits for a greeting that does not come. */
  greets?: boolean;
  tellsCommits?: boolean;
  /** On PostgreSQL; left out: SQLite. */
  database?: string;
  /** More than one only on PostgreSQL. */
  daemons?: number;
  /** Of another checkout; left out: this one's. */
  program?: string;
}

export async function withPostrider<T>(
  run: RunContext,
  plan: SettingPlan,
  work: (setting: Setting) => Promise<T>,
): Promise<T> {
  const { options, folder } = run;
  const sink = await startSink({ kind: options.sink, folder, greets: plan.greets ?? true });
  const started: Postrider[] = [];
  try {
    for (let number = 1; number <= (plan.daemons ?? 1); number++) {
      const section = number === 1 ? plan.section : `${plan.section}-${number}`;
      started.push(await startOne(run, { ...plan, section }, { sink, first: started[0] }));
    }
    const [postrider, ...others] = started;
    return await work({ postrider: postrider!, others, sink });
  } finally {
    await Promise.all(started.map((postrider) => postrider.stop()));
    await sink.stop();
  }
}

function startOne(
  { options, folder, watch }: RunContext,
  { section, tellsCommits = false, database, program }: SettingPlan,
  { sink, first }: { sink: Sink; first: Postrider | undefined },
): Promise<Postrider> {
  return startPostrider({
    folder: path.join(folder, section),
    smtpPort: sink.smtpPort,
    domainCount: options.domains,
    watch: watch(section),
    tellsCommits,
    ...(database !== undefined && { database }),
    ...(first && { beside: first }),
    ...(program !== undefined && { program }),
  });
}
