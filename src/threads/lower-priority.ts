// For work that others on the same processors must not wait for.
import { getPriority, setPriority } from 'node:os';

const LOWEST = 19;

/**
 * Of this thread on Linux, of the whole process elsewhere. From where it is: a daemon that was started with a lower
 * priority (`nice`, a unit's `Nice=`) may not raise it. Never fails, since the work itself has to go on.
 */
export function lowerPriority(by: number): void {
  try {
    setPriority(Math.min(LOWEST, getPriority() + by));
  } catch {
    // A sandbox may forbid it; then all have the same.
  }
}
