// The time limit of one job inside its thread: Liquid's work checks it at every step. It is the time of the processor: on a
// busy machine this thread lets others go first, and a template is not slow because it waits.
import { performance } from 'node:perf_hooks';
import { threadMs } from '../threads/processor-time.ts';
import type { Progress } from './progress.ts';

export class Stopwatch {
  readonly #progress: Progress;
  readonly #limitMs: number;
  /** Of the processor's time. */
  #overAt = 0;
  /** On the clock: before that it cannot be over. */
  #lookAt = 0;

  constructor(progress: Progress, limitMs: number) {
    this.#progress = progress;
    this.#limitMs = limitMs;
  }

  start(): void {
    this.#overAt = threadMs() + this.#limitMs;
    this.#lookAt = performance.now() + this.#limitMs;
  }

  /** Records the current offset; returns the problem when the job has taken too long. */
  step(offset: number): string | null {
    this.#progress.at(offset);
    return this.timeoutProblem();
  }

  timeoutProblem(): string | null {
    const now = performance.now();
    if (now <= this.#lookAt) return null;
    const leftMs = this.#overAt - threadMs();
    if (leftMs <= 0) return `takes longer than ${this.#limitMs} ms`;
    // Asked seldom, since that takes a microsecond: no thread uses more than the time that passes.
    this.#lookAt = now + leftMs;
    return null;
  }
}
