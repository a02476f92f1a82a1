// How long to wait before a thread or process that died is started again: twice as long each time, up to a limit,
// until one has lived for a while. What cannot start for want of something is not started in a circle.
import { MINUTE_MS, SECOND_MS } from './clock.ts';

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

  /** It works: the next death is the first. */
  reset(): void {
    this.#deaths = 0;
  }
}
