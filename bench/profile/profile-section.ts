// Runs a section once more with its daemons profiled. The figures of such a run are not its rows, since a profile slows
// the daemon down.
import fs from 'node:fs';
import path from 'node:path';
import type { RunContext, Section } from '../run-context.ts';
import { DaemonWatch, type Measured } from './daemon-watch.ts';
import { readJsThreads } from './js-threads.ts';
import type { Sampler } from './sampler.ts';
import { type Split, splitByPart } from './split.ts';

/** Of one daemon of a section. */
export interface DaemonProfile {
  section: string;
  split: Split;
  /** Null: times are for all of the daemon's life, not for each message. */
  messages: number | null;
  /** The same daemon without a profile, just before. */
  plain: Measured | null;
}

export async function profileSection(
  section: Section,
  run: RunContext,
  { sampler, plain }: { sampler: Sampler; plain: readonly DaemonWatch[] },
): Promise<DaemonProfile[]> {
  const folder = path.join(run.folder, 'profiled');
  fs.mkdirSync(folder, { recursive: true });
  const watches: DaemonWatch[] = [];
  const watch = (name: string) => {
    const profiling = { sampler, folder: path.join(folder, 'profiles', `${name}-${watches.length}`) };
    watches.push(new DaemonWatch(name, profiling));
    return watches.at(-1)!;
  };
  await section({ ...run, folder, watch });
  return watches.flatMap((watched, index) => profileOf(watched, plain[index]?.measured ?? null));
}

function profileOf({ section, pid, profiling, measured }: DaemonWatch, plain: Measured | null): DaemonProfile[] {
  if (!measured || !profiling) return [];
  const split = splitByPart(measured.used, readJsThreads(profiling.folder, pid));
  if (split.samples === 0) throw new Error(`${section}: the daemon's profiles have no samples of the measured time`);
  return [{ section, split, messages: measured.messages, plain }];
}
