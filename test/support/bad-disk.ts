// A disk that fails, or is slow, under a running program, and is well again when a test says so. Linux lets nobody remount a
// disk that is in use, so a small library in front of libc denies the writes or takes its time (bad-disk.c).
import fs from 'node:fs';
import path from 'node:path';
import { compileLibrary } from './preloaded-library.ts';

const SOURCE = path.join(import.meta.dirname, 'bad-disk.c');

export interface BadDisk {
  /** For the program whose disk it is. */
  env: { LD_PRELOAD: string; DISK_FOLDER: string; DISK_FAULT: string; DISK_DELAY: string };
  /** From now on each write, truncation and sync ends with this number. */
  fail(errno: number): void;
  /** From now on whatever must be durable takes so long. */
  delay(ms: number): void;
  heal(): void;
}

/** What is below `disk` lies on it; `folder` is for the library, and the program must be able to read it. */
export function prepareBadDisk(disk: string, folder: string): BadDisk {
  const [fault, delay] = [path.join(folder, 'disk-fault'), path.join(folder, 'disk-delay')];
  return {
    env: { LD_PRELOAD: compileLibrary(SOURCE, folder), DISK_FOLDER: disk, DISK_FAULT: fault, DISK_DELAY: delay },
    fail: (errno) => fs.writeFileSync(fault, String(errno)),
    delay: (ms) => fs.writeFileSync(delay, String(ms)),
    heal() {
      for (const file of [fault, delay]) fs.rmSync(file, { force: true });
    },
  };
}
