// What only several machines can break, beside the checks of check.ts. Each returns what broke a promise, so that an empty
// list is a promise kept.

/** `all`: the events in the order of the final table; `seen`: as they were read on, one page after the other. */
export function oddFeed(seen: readonly string[], all: readonly string[]): string[] {
  if (seen.length === all.length && all.every((id, index) => seen[index] === id)) return [];
  const first = Array.from({ length: Math.max(seen.length, all.length) }).findIndex((_, at) => seen[at] !== all[at]);
  return [`${seen.length} events were read, ${all.length} are there; the first that differs is number ${first}`];
}

/** `most`: connections at one time, by the address that they came from. */
export function overLimit(most: ReadonlyMap<string, number>, limit: number): string[] {
  return [...most].filter(([, count]) => count > limit).map(([from, count]) => `${from}: ${count} at one time`);
}

export interface Holding {
  node: string;
  epoch: number;
}

/** Who held each slot and timer when it was looked last: another owner has a later epoch, and no epoch falls. */
export class Holdings {
  readonly problems: string[] = [];
  readonly #held = new Map<string, Holding>();

  see(what: string, now: Holding): void {
    const before = this.#held.get(what);
    this.#held.set(what, now);
    if (!before || now.epoch > before.epoch) return;
    if (now.epoch === before.epoch && now.node === before.node) return;
    this.problems.push(`${what}: ${describe(before)}, then ${describe(now)}`);
  }
}

function describe({ node, epoch }: Holding): string {
  return `${node} in epoch ${epoch}`;
}
