// Splits the processor time of a daemon by part. The kernel says how much each thread has used; the samples of a
// JavaScript thread say for what. Threads without JavaScript are a part as a whole.
import type { UsedTime } from './clocks.ts';
import type { JsThread } from './js-threads.ts';
import { partOf, type Role } from './part-of.ts';
import { PARTS, type Part } from './parts.ts';
import { type Frame, type SampledStack, stacksWithin } from './samples.ts';

export interface PartTime {
  part: Part;
  /** All of it, and by the thread's role. */
  us: number;
  byRole: Record<Role, number>;
  /** The functions that ran, by file and name, without what they called. */
  functions: Map<string, number>;
}

export interface Split {
  parts: PartTime[];
  /** Of all parts. */
  us: number;
  /** By the kernel's clock of the process. */
  measuredUs: number;
  samples: number;
  /** The time that they stand for. */
  sampledUs: number;
  /** JavaScript threads whose time can't be split, because they were never sampled. */
  unsampledUs: number;
}

export function splitByPart(used: UsedTime, jsThreads: readonly JsThread[]): Split {
  const parts = new Map(Object.keys(PARTS).map((part) => [part as Part, emptyPart(part as Part)]));
  const bySystemId = new Map(jsThreads.map((thread) => [thread.systemId, thread]));
  const split = { samples: 0, sampledUs: 0, unsampledUs: 0 };
  for (const [id, { name, us }] of used.threads) {
    const thread = bySystemId.get(id);
    if (!thread) {
      add(parts.get(partOfThread(name))!, { us, role: 'other', running: name });
      continue;
    }
    const stacks = thread.profile ? stacksWithin(thread.profile, used) : [];
    const samples = stacks.reduce((sum, { count }) => sum + count, 0);
    split.samples += samples;
    if (samples === 0) {
      split.unsampledUs += us;
      continue;
    }
    split.sampledUs += us;
    addSamples(parts, stacks, { role: roleOf(thread), usPerSample: us / samples });
  }
  const all = [...parts.values()];
  const us = all.reduce((sum, part) => sum + part.us, 0);
  return { parts: all, us, measuredUs: used.processUs, ...split };
}

function emptyPart(part: Part): PartTime {
  return { part, us: 0, byRole: { main: 0, writer: 0, courier: 0, other: 0 }, functions: new Map() };
}

function addSamples(
  parts: Map<Part, PartTime>,
  stacks: readonly SampledStack[],
  { role, usPerSample }: { role: Role; usPerSample: number },
): void {
  for (const { frames, count } of stacks) {
    const part = parts.get(partOf(frames, role))!;
    add(part, { us: count * usPerSample, role, running: labelOf(frames) });
  }
}

interface Spent {
  us: number;
  role: Role;
  running: string;
}

function add(to: PartTime, { us, role, running }: Spent): void {
  to.us += us;
  to.byRole[role] += us;
  to.functions.set(running, (to.functions.get(running) ?? 0) + us);
}

/** What ran, and where it is called by a file of ours if it is not one itself. */
function labelOf(frames: readonly Frame[]): string {
  const [top] = frames;
  const ours = frames.find(({ file }) => file.startsWith('src/'));
  const name = top!.file === 'native' || top === ours ? top!.name : `${top!.name} (${top!.file})`;
  return ours === undefined ? name : `${name}, ${ours.file}${top === ours ? '' : ` ${ours.name}`}`;
}

/** What the threads with a column of their own run. */
export const ENTRIES: Readonly<Record<string, Role>> = {
  'src/main.ts': 'main',
  'src/store/sqlite/writer-thread.ts': 'writer',
  'src/delivery/courier/worker.ts': 'courier',
};

function roleOf({ entry }: JsThread): Role {
  const known = Object.entries(ENTRIES).find(([file]) => entry.endsWith(`/${file}`));
  return known?.[1] ?? 'other';
}

/** By the names that V8, libuv and Node give their threads; a thread without a name has that of the process. */
function partOfThread(name: string): Part {
  if (name === 'v8:ProfEvntProc') return 'profiler';
  return name === 'libuv-worker' ? 'thread pool' : 'V8 helpers';
}
