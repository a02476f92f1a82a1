// What a thread of a job pool does at its start: steps back behind the main thread, and says that it is there.
import { platform, setPriority } from 'node:os';
import { parentPort, threadId } from 'node:worker_threads';

export interface ThreadReady {
  threadId: number;
}

// When processors are short, calls and commits go first. Only Linux has priorities per thread:
// elsewhere this would slow down the whole daemon.
const NICENESS = 5;

/** To be called last, when the thread can take jobs. */
export function startJobThread(): void {
  if (platform() === 'linux') setPriority(NICENESS);
  parentPort?.postMessage({ threadId } satisfies ThreadReady);
}
