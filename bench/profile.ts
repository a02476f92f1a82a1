// Reads what `node --cpu-prof` has written, one file per thread, and tells where the time went: in
// which functions, without what they called; and on whose behalf, where what Node does inside is
// counted for the file of ours, or the package, that asked for it. A sample is taken of a thread
// that waits for a processor too: with other programs on the machine only the shares mean something.
import fs from 'node:fs';
import path from 'node:path';

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
}

interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

// Loading modules, compiling schemas, the traffic before the measured time.
const START_US = 5_000_000;
const SHOWN_FUNCTIONS = 25;
const SHOWN_OWNERS = 20;
const NOT_WORK = new Set(['(idle)', '(program)', '(root)']);

export function describeProfiles(folder: string): string {
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  return files
    .sort()
    .map((name) => describeThread(name, JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as CpuProfile))
    .join('\n\n');
}

function describeThread(name: string, profile: CpuProfile): string {
  const owners = ownersOf(profile);
  const byFunction = new Map<string, number>();
  const byOwner = new Map<string, number>();
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  let sinceStartUs = 0;
  let workUs = 0;
  let totalUs = 0;
  profile.samples.forEach((id, index) => {
    const us = profile.timeDeltas[index]!;
    const frame = frames.get(id)!;
    sinceStartUs += us;
    if (sinceStartUs < START_US) return;
    totalUs += us;
    if (NOT_WORK.has(frame.functionName)) return;
    workUs += us;
    add(byFunction, functionLabel(frame), us);
    add(byOwner, owners.get(id)!, us);
  });
  const share = (us: number) => `${((us * 100) / workUs).toFixed(1).padStart(6)} %`;
  const lines = (times: Map<string, number>, shown: number) =>
    [...times].sort((a, b) => b[1] - a[1]).flatMap(([of, us], index) => (index < shown ? [`${share(us)}  ${of}`] : []));
  return [
    `${name}: not idle ${((workUs * 100) / totalUs).toFixed(0)} % of its time, of which on behalf of`,
    ...lines(byOwner, SHOWN_OWNERS),
    'and in the functions',
    ...lines(byFunction, SHOWN_FUNCTIONS),
  ].join('\n');
}

function add(times: Map<string, number>, key: string, us: number): void {
  times.set(key, (times.get(key) ?? 0) + us);
}

/** For each node, the nearest of our files or packages on the way to the root. */
function ownersOf({ nodes }: CpuProfile): Map<number, string> {
  const owners = new Map<number, string>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const visit = (id: number, inherited: string): void => {
    const { callFrame, children = [] } = byId.get(id)!;
    const owner = ownerLabel(callFrame) ?? inherited;
    owners.set(id, owner);
    for (const child of children) visit(child, owner);
  };
  if (nodes[0]) visit(nodes[0].id, 'Node itself, streams and timers included');
  return owners;
}

function ownerLabel({ functionName, url }: CallFrame): string | null {
  if (functionName === '(garbage collector)') return functionName;
  const found = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? /\/(src\/[^?]+)$/.exec(url)?.[1];
  return found ?? null;
}

function functionLabel({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const short = url.replace(/^.*\/(?=(src|node_modules)\/)/, '');
  return `${name}  ${short}:${lineNumber + 1}`;
}
