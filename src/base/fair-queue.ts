// Whose job is next: a queue per key (mostly a tenant), and the keys take turns. What waits is bounded, in all and
// per key, by the number of jobs or by their sizes.

export interface FairQueueBounds<Job> {
  inAll?: number;
  /** A single job of a key may be larger: it has limits of its own. */
  perKey?: number;
  /** 1 when left out: jobs are counted. */
  sizeOf?(job: Job): number;
}

interface Line<Job> {
  jobs: Job[];
  size: number;
}

export class FairQueue<Job> {
  readonly #bounds: Required<FairQueueBounds<Job>>;
  /** The key whose turn it is stands first. */
  readonly #lines = new Map<string, Line<Job>>();
  #size = 0;

  constructor({ inAll = Number.POSITIVE_INFINITY, perKey = inAll, sizeOf = () => 1 }: FairQueueBounds<Job> = {}) {
    this.#bounds = { inAll, perKey, sizeOf };
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** False: too much waits already. */
  add(key: string, job: Job): boolean {
    const { inAll, perKey, sizeOf } = this.#bounds;
    const size = sizeOf(job);
    const line = this.#lines.get(key) ?? { jobs: [], size: 0 };
    if (this.#size + size > inAll || (line.size > 0 && line.size + size > perKey)) return false;
    line.jobs.push(job);
    line.size += size;
    this.#size += size;
    this.#lines.set(key, line);
    return true;
  }

  /** The first job of the first key that may go; its key goes to the end. One that may not go keeps its turn. */
  take(mayGo: (key: string) => boolean = () => true): { key: string; job: Job } | null {
    for (const [key, line] of this.#lines) {
      if (!mayGo(key)) continue;
      const job = line.jobs[0]!;
      this.#lines.delete(key);
      this.#lines.set(key, line);
      this.#removeAt(key, line, 0);
      return { key, job };
    }
    return null;
  }

  /** It waits no longer, if it still did. */
  remove(key: string, job: Job): void {
    const line = this.#lines.get(key);
    const at = line ? line.jobs.indexOf(job) : -1;
    if (line && at >= 0) this.#removeAt(key, line, at);
  }

  /** All that wait, whose turn it is first; nothing waits any more. */
  clear(): Job[] {
    const waiting = [...this.#lines.values()].flatMap(({ jobs }) => jobs);
    this.#lines.clear();
    this.#size = 0;
    return waiting;
  }

  #removeAt(key: string, line: Line<Job>, at: number): void {
    const [job] = line.jobs.splice(at, 1);
    const size = this.#bounds.sizeOf(job!);
    line.size -= size;
    this.#size -= size;
    if (line.jobs.length === 0) this.#lines.delete(key);
  }
}
