// Starts what a section needs, a sink and a daemon that sends to it, and stops both, whatever happens.
import path from 'node:path';
import { type Postrider, startPostrider } from './postrider.ts';
import type { RunContext } from './run-context.ts';
import { type Sink, startSink } from './sinks.ts';

export interface Setting {
  postrider: Postrider;
  sink: Sink;
}

export interface SettingPlan {
  /** Names the folder of the daemon. */
  section: string;
  /** False holds delivery: every session waits for a greeting that does not come. */
  greets?: boolean;
  tellsCommits?: boolean;
}

export async function withPostrider<T>(
  { options, folder, watch }: RunContext,
  { section, greets = true, tellsCommits = false }: SettingPlan,
  work: (setting: Setting) => Promise<T>,
): Promise<T> {
  const sink = await startSink({ kind: options.sink, folder, greets });
  try {
    const postrider = await startPostrider({
      folder: path.join(folder, section),
      smtpPort: sink.smtpPort,
      domainCount: options.domains,
      watch: watch(section),
      tellsCommits,
    });
    try {
      return await work({ postrider, sink });
    } finally {
      await postrider.stop();
    }
  } finally {
    await sink.stop();
  }
}
