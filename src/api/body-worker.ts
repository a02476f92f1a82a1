// Entry of a thread that reads large bodies: takes one at a time, decodes, parses, checks the shape,
// answers. It may be killed at any moment, and holds nothing that would be missed.
import { platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ThreadReport } from '../base/killable-thread.ts';
import type { BodyJob, BodyResult } from './body-job.ts';
import { createJobReader } from './read-body.ts';

// When processors are short, calls and commits go first. Only Linux has priorities per thread:
// elsewhere this would slow down the whole daemon.
const NICENESS = 5;

const read = createJobReader();
const report = (message: ThreadReport<BodyResult>) => parentPort!.postMessage(message);
parentPort!.on('message', (job: BodyJob) => report(read(job)));
if (platform() === 'linux') setPriority(NICENESS);
report({ kind: 'ready' });
