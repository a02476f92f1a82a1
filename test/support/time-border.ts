// For what counts by the hour or the day (UTC): a test that begins just before the next one would see its figures in two.
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS } from '../../src/base/clock.ts';

/** Several times what such a test takes on a busy machine, and short enough to be waited for. */
const ROOM_MS = 60_000;

/** Waits for the next hour where little is left of this one. The last hour of a day ends the day. */
export async function roomInThisHour(): Promise<void> {
  const leftMs = HOUR_MS - (Date.now() % HOUR_MS);
  if (leftMs < ROOM_MS) await sleep(leftMs);
}
