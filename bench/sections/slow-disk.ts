// How long the event loop stands still when every fsync takes 10 ms more: with messages being
// accepted, checkpoints of the log, and rows of old messages being erased in slices. The fsync is slowed
// by a library that is put in front of the C library's (slow-fsync.c), in a process of its own.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { endBacklog, fillBacklog } from '../fill-backlog.ts';
import { startPostrider } from '../postrider.ts';
import { startProcess } from '../processes.ts';
import type { RunContext } from '../run-context.ts';
import { startSink } from '../sinks.ts';
import type { SlowDiskJob, SlowDiskReport } from '../slow-disk-loop.ts';
import { atMost, factRow, type Row, showMs, withLimit } from '../table.ts';

const SLOWED_BY_MS = 10;
const LIMIT_P999_MS = 50;
const AT_MOST_MS = 120_000;

export async function measureSlowDisk(run: RunContext): Promise<Row[]> {
  const library = buildLibrary(run.folder);
  if (library === null) return [factRow('event loop, fsync slowed', 'not measured', {}, 'gcc is not installed')];
  const file = await databaseWithRows(run);
  const loop = startProcess<SlowDiskJob, SlowDiskReport>(new URL('../slow-disk-loop.ts', import.meta.url), {
    LD_PRELOAD: library,
    SLOW_FSYNC_MS: String(SLOWED_BY_MS),
  });
  try {
    const report = await loop.ask({ file, atMostMs: AT_MOST_MS });
    const { p999Ms, maxMs, erased, accepted, seconds, fsyncMs, checkpoints } = report;
    const did = `${erased.toLocaleString('en')} messages erased, ${accepted.toLocaleString('en')} accepted in ${seconds.toFixed(0)} s`;
    return [
      withLimit(
        factRow('event loop, fsync slowed, p99.9', `${showMs(p999Ms)} ms`, { p999_ms: p999Ms, max_ms: maxMs }, did),
        atMost(p999Ms, LIMIT_P999_MS, (ms) => `${showMs(ms)} ms`),
      ),
      factRow(
        '  longest',
        `${showMs(maxMs)} ms`,
        { max_ms: maxMs, checkpoints },
        `fsync ${showMs(fsyncMs)} ms; log begun anew ${checkpoints} times`,
      ),
    ];
  } finally {
    await loop.stop();
  }
}

function buildLibrary(folder: string): string | null {
  const library = path.join(folder, 'slow-fsync.so');
  try {
    const source = new URL('../slow-fsync.c', import.meta.url).pathname;
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { stdio: 'ignore' });
    return library;
  } catch {
    return null;
  }
}

/** With the backlog section's rows, when it has run; otherwise they are made here in the same way. */
async function databaseWithRows(run: RunContext): Promise<string> {
  const folder = path.join(run.folder, 'backlog');
  const file = path.join(folder, 'data', 'postrider.db');
  if (!fs.existsSync(file)) await makeRows(run, folder, file);
  endBacklog(file);
  return file;
}

async function makeRows(run: RunContext, folder: string, file: string): Promise<void> {
  const sink = await startSink({ kind: 'own', folder: run.folder });
  const postrider = await startPostrider({ folder, smtpPort: sink.smtpPort, domainCount: 1, watch: null });
  await postrider.stop();
  await sink.stop();
  await fillBacklog(file, run.options.backlog);
}
