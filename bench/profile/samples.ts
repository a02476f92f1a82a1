// The samples of a V8 profile (.cpuprofile) as stacks of frames, with the source files named as in this repository.

export interface CallFrame {
  functionName: string;
  url: string;
}

export interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  /** Microseconds of CLOCK_MONOTONIC. */
  startTime: number;
  /** The node of each sample, and the microseconds since the one before. */
  samples: number[];
  timeDeltas: number[];
}

export interface Frame {
  /** `src/…`, `node_modules/…`, `node:…`; `native` for what is not JavaScript. */
  file: string;
  name: string;
}

/** From the function that ran up to what called it; how often it was found so. */
export interface SampledStack {
  frames: Frame[];
  count: number;
}

export function stacksWithin(profile: CpuProfile, { fromUs, toUs }: { fromUs: number; toUs: number }): SampledStack[] {
  const counts = new Map<number, number>();
  let atUs = profile.startTime;
  profile.samples.forEach((node, index) => {
    atUs += profile.timeDeltas[index]!;
    if (atUs >= fromUs && atUs < toUs) counts.set(node, (counts.get(node) ?? 0) + 1);
  });
  const stackOf = stackReader(profile);
  return [...counts].map(([node, count]) => ({ frames: stackOf(node), count }));
}

function stackReader({ nodes }: CpuProfile): (id: number) => Frame[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, frameOf(callFrame)]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  return (id) => {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = callers.get(at)) stack.push(frames.get(at)!);
    return stack;
  };
}

const ROOT = new URL('../../', import.meta.url).href;
const PACKAGES = '/node_modules/';

function frameOf({ functionName, url }: CallFrame): Frame {
  const name = functionName || '(anonymous)';
  if (url === '') return { file: 'native', name };
  const packages = url.lastIndexOf(PACKAGES);
  if (packages >= 0) return { file: url.slice(packages + 1), name };
  return { file: url.startsWith(ROOT) ? url.slice(ROOT.length) : url, name };
}
