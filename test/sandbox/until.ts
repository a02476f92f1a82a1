// Waits for something that another process or thread does, by looking often.
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

type Nothing = null | undefined | false;

/** The first value that is neither null, undefined nor false. */
export async function until<T>(
  what: string,
  look: () => T | Nothing | Promise<T | Nothing>,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs / 1000} s: ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
