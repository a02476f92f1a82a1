// The JavaScript threads of a profiled daemon, as they have noted themselves (note-thread.ts), each with its profile.
import fs from 'node:fs';
import path from 'node:path';
import type { CpuProfile } from './samples.ts';

export interface ThreadNote {
  pid: number;
  systemId: number;
  /** The file that it runs. */
  entry: string;
}

export interface JsThread {
  systemId: number;
  entry: string;
  /** Null: it left none, because it was killed. */
  profile: CpuProfile | null;
}

export function readJsThreads(folder: string, pid: number): JsThread[] {
  const files = fs.readdirSync(folder);
  return files.flatMap((file) => {
    const nodeId = /^thread-(\d+)\.json$/.exec(file)?.[1];
    if (nodeId === undefined) return [];
    const note = readJson(path.join(folder, file)) as ThreadNote;
    if (note.pid !== pid) return [];
    // CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile
    const name = files.find((other) => {
      const [, , , ofPid, ofThread] = other.split('.');
      return other.endsWith('.cpuprofile') && ofPid === String(pid) && ofThread === nodeId;
    });
    const profile = name === undefined ? null : (readJson(path.join(folder, name)) as CpuProfile);
    return [{ systemId: note.systemId, entry: note.entry, profile }];
  });
}

function readJson(file: string): unknown {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}
