// How long to wait, in words and rounded up: nobody who waits so long is refused for being early.
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';

export function waitingTime(ms: number): string {
  const seconds = Math.ceil(ms / SECOND_MS);
  if (seconds <= 60) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  const minutes = Math.ceil(ms / MINUTE_MS);
  return `${minutes} minutes`;
}
