// What a thread of a job pool does at its start: lowers its priority, and reports that it is ready.
import { platform } from 'node:os';
import { parentPort, threadId } from 'node:worker_threads';
import { lowerPriority } from './lower-priority.ts';

export interface ThreadReady {
  threadId: number;
}

// When processors are busy, API calls and commits go first. Only Linux has priorities per thread: elsewhere this would
// slow down the whole daemon.
const NICENESS = 5;

/** Must be called last, when the thread can take jobs. */
export function startJobThread(): void {
  if (platform() === 'linux') lowerPriority(NICENESS);
  parentPort?.postMessage({ threadId } satisfies ThreadReady);
}
