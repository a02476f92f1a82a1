// Loaded into each thread of a profiled daemon: notes the system's number of the thread and what it runs. Profiles have
// Node's numbers of threads, but the kernel counts processor time by its own.
import fs from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';
import type { ThreadNote } from './js-threads.ts';

const folder = process.env.PROFILE_FOLDER;
// The reading process inherits Node's options but no environment; it is not part of the daemon's processor time.
if (folder !== undefined) {
  // proc(5): /proc/thread-self is a link to <process>/task/<thread>.
  const systemId = Number(path.basename(fs.readlinkSync('/proc/thread-self')));
  const note: ThreadNote = { pid: process.pid, systemId, entry: process.argv[1] ?? '' };
  fs.writeFileSync(path.join(folder, `thread-${threadId}.json`), JSON.stringify(note));
}
