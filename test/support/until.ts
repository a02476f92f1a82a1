// Waits for something that another process or thread does, by looking often.
import { setTimeout as sleep } from 'node:timers/promises';
import { patience } from './patience.ts';

const LOOK_EVERY_MS = 20;

type Nothing = null | undefined | false;

/** The first value that is neither null, undefined nor false. */
export async function until<T>(
  what: string,
  look: () => T | Nothing | Promise<T | Nothing>,
  timeoutMs = 15_000,
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value;
    // Asked each time: the machine may have become busier since.
    const limitMs = patience(timeoutMs);
    if (Date.now() - startedAt > limitMs) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
