// How a daemon is started so that it profiles itself: V8's profiler in each thread, driven by processor time.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** V8 takes at most one sample in this time. Its thread wakes up as often, so less would cost more than it tells. */
const V8_INTERVAL_US = 4000;

/** What a daemon's process is started with. */
export interface ProfiledStart {
  nodeOptions: string[];
  environment: Record<string, string>;
}

/** By the folder for its profile. */
export type Sampler = (profileFolder: string) => ProfiledStart;

/** Throws with a sentence for people where this machine can't profile. */
export function buildSampler(folder: string): Sampler {
  if (process.platform !== 'linux') throw new Error('--profile needs Linux, whose kernel counts time by thread');
  const library = path.join(folder, 'cpu-samples.so');
  const source = path.join(import.meta.dirname, 'cpu-samples.c');
  try {
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl', '-lrt'], { stdio: 'pipe' });
  } catch (error) {
    throw new Error('--profile needs gcc (Debian packages gcc and libc6-dev)', { cause: error });
  }
  const noteThread = new URL('./note-thread.ts', import.meta.url).href;
  return (profileFolder) => {
    fs.mkdirSync(profileFolder, { recursive: true });
    const profile = ['--cpu-prof', `--cpu-prof-interval=${V8_INTERVAL_US}`, `--cpu-prof-dir=${profileFolder}`];
    return {
      nodeOptions: [...profile, `--import=${noteThread}`],
      environment: { LD_PRELOAD: library, PROFILE_FOLDER: profileFolder },
    };
  };
}
