// How long to wait before a dead thread or process is restarted: exponential back-off up to a limit, until one has
// lived for a while. What cannot start because a resource is missing is not restarted in a loop.
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';

export const FIRST_PAUSE_MS = SECOND_MS;
const MAX_MS = 30 * SECOND_MS;
const LIVED_MS = MINUTE_MS;

export class RestartPauses {
  #deaths = 0;

  /** `livedMs`: from the start to the death. */
  next(livedMs: number): number {
    if (livedMs >= LIVED_MS) this.#deaths = 0;
    return Math.min(MAX_MS, FIRST_PAUSE_MS * 2 ** this.#deaths++);
  }

  /** It works: the next death counts as the first. */
  reset(): void {
    this.#deaths = 0;
  }
}
