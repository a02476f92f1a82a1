// The limits of a template, in one place. Everything within them fits into the memory of a thread: V8 ends the whole
// process, not just the thread, when a single large allocation fails, so the heap limit must be the last one to be
// reached.

export interface RenderLimits {
  /** Of the processor, for Liquid's own work for one job, checked at every step: the error names the step. */
  workMs: number;
  /** On the clock, for the whole job, including reading its data. After it the thread is killed. */
  jobMs: number;
  /** Of each part, in UTF-8. */
  outputBytes: number;
  /** Heap of one thread. */
  memoryMb: number;
  /** Characters and list entries that one part may produce in total. */
  allocations: number;
  /** Characters of the largest single intermediate value, lists included. */
  valueChars: number;
  /** Characters between the braces of one part. Each takes up to 200 bytes when parsed. */
  markupChars: number;
  /** Estimated bytes of parsed templates that a thread caches for each part. */
  cacheBytes: number;
}

export const RENDER_LIMITS: RenderLimits = {
  workMs: 500,
  // Reading 5 MiB of the most expensive JSON takes half a second on an idle machine.
  jobMs: 3000,
  outputBytes: 1024 * 1024,
  // The same JSON becomes up to 150 MB of objects.
  memoryMb: 320,
  allocations: 8 * 1024 * 1024,
  valueChars: 4 * 1024 * 1024,
  markupChars: 256 * 1024,
  cacheBytes: 16 * 1024 * 1024,
};

export interface WaitingLimits {
  /** How long a job waits for its turn. */
  waitMs: number;
  /** Sources and data of one tenant's waiting jobs, in characters. */
  charsPerTenant: number;
}

export const WAITING_LIMITS: WaitingLimits = {
  // Below the 11 s after which the HTTP engine closes connections of slow readers.
  waitMs: 10_000,
  charsPerTenant: 64 * 1024 * 1024,
};
