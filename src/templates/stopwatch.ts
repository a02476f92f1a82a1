// The time limit of one job inside its thread: Liquid's work checks it at every step. It is the time of the processor: on a
// busy machine this thread lets others go first, and a template is not slow because it waits.
import { performance } from 'node:perf_hooks';
import type { Progress } from './progress.ts';

export class Stopwatch {
  readonly #progress: Progress;
  readonly #limitMs: number;
  #startedAt = process.threadCpuUsage();
  #lookAt = 0;

  constructor(progress: Progress, limitMs: number) {
    this.#progress = progress;
    this.#limitMs = limitMs;
  }

  start(): void {
    this.#startedAt = process.threadCpuUsage();
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
    const { user, system } = process.threadCpuUsage(this.#startedAt);
    const leftMs = this.#limitMs - (user + system) / 1000;
    if (leftMs <= 0) return `takes longer than ${this.#limitMs} ms`;
    // It cannot use more than the time that passes, so that it is asked seldom: to ask takes a microsecond.
    this.#lookAt = now + leftMs;
    return null;
  }
}
