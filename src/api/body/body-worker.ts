// Entry of a thread that reads large bodies: takes one at a time, decodes, parses, checks the shape,
// answers. It may be killed at any moment, and holds nothing that would be missed.
import { startJobThread } from '../../threads/job-thread.ts';
import { createJobReader } from './read-body.ts';

export const runJob = createJobReader();
startJobThread();
