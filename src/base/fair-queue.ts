// A queue per key (mostly a tenant), and the keys take turns. The number or size of waiting jobs is limited, in all
// and per key.

export interface FairQueueBounds<Job> {
  inAll?: number;
  /** A single job of a key may be larger: it has its own limits. */
  perKey?: number;
  /** 1 by default: jobs are counted. */
  sizeOf?(job: Job): number;
}

interface KeyQueue<Job> {
  jobs: Job[];
  /** Where the first waiting job stands: to move a hundred thousand others up for each would take seconds. */
  head: number;
  size: number;
}

export class FairQueue<Job> {
  readonly #bounds: Required<FairQueueBounds<Job>>;
  /** The key whose turn it is comes first. */
  readonly #queues = new Map<string, KeyQueue<Job>>();
  #size = 0;

  constructor({ inAll = Number.POSITIVE_INFINITY, perKey = inAll, sizeOf = () => 1 }: FairQueueBounds<Job> = {}) {
    this.#bounds = { inAll, perKey, sizeOf };
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** False: the queue is full. */
  add(key: string, job: Job): boolean {
    const { inAll, perKey, sizeOf } = this.#bounds;
    const size = sizeOf(job);
    const queue = this.#queues.get(key) ?? { jobs: [], head: 0, size: 0 };
    if (this.#size + size > inAll || (queue.size > 0 && queue.size + size > perKey)) return false;
    queue.jobs.push(job);
    queue.size += size;
    this.#size += size;
    this.#queues.set(key, queue);
    return true;
  }

  /** The first job of the first key that may start; that key goes to the end, the others keep their turn. */
  take(mayStart: (key: string) => boolean = () => true): { key: string; job: Job } | null {
    for (const [key, queue] of this.#queues) {
      if (!mayStart(key)) continue;
      const job = queue.jobs[queue.head]!;
      this.#queues.delete(key);
      this.#queues.set(key, queue);
      if (++queue.head > queue.jobs.length / 2) {
        queue.jobs = queue.jobs.slice(queue.head);
        queue.head = 0;
      }
      this.#noteRemoved(key, queue, job);
      return { key, job };
    }
    return null;
  }

  /** Removes a job if it is still waiting. */
  remove(key: string, job: Job): void {
    const queue = this.#queues.get(key);
    const at = queue ? queue.jobs.indexOf(job, queue.head) : -1;
    if (!queue || at < 0) return;
    queue.jobs.splice(at, 1);
    this.#noteRemoved(key, queue, job);
  }

  /** Empties the queue and returns its jobs, in the order of the keys' turns. */
  clear(): Job[] {
    const waiting = [...this.#queues.values()].flatMap(({ jobs, head }) => jobs.slice(head));
    this.#queues.clear();
    this.#size = 0;
    return waiting;
  }

  #noteRemoved(key: string, queue: KeyQueue<Job>, job: Job): void {
    const size = this.#bounds.sizeOf(job);
    queue.size -= size;
    this.#size -= size;
    if (queue.jobs.length === queue.head) this.#queues.delete(key);
  }
}
