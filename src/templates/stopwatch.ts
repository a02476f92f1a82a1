// The time limit of one job inside its thread: Liquid's work checks it at every step.
import { performance } from 'node:perf_hooks';
import type { Progress } from './progress.ts';

export class Stopwatch {
  readonly #progress: Progress;
  readonly #limitMs: number;
  #overAt = 0;

  constructor(progress: Progress, limitMs: number) {
    this.#progress = progress;
    this.#limitMs = limitMs;
  }

  start(): void {
    this.#overAt = performance.now() + this.#limitMs;
  }

  /** Records the current offset; returns the problem when the job has taken too long. */
  step(offset: number): string | null {
    this.#progress.at(offset);
    return this.timeoutProblem();
  }

  timeoutProblem(): string | null {
    return performance.now() > this.#overAt ? `takes longer than ${this.#limitMs} ms` : null;
  }
}
