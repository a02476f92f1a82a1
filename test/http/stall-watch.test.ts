// What has stalled is found by counted looks, so that a busy process does not blame those who send.
import t from 'tap';
import { BODY_PACE_BYTES } from '../../src/http/http.ts';
import { StallWatch } from '../../src/http/stall-watch.ts';
import { within } from '../support/patience.ts';

const EVERY_MS = 2;
const IDLE_MS = 20;
/** Long after all of these have stalled. */
const MAX_LOOKS = 200;

/** A body of which each look finds that `brings` more have come; tells the number of looks until it had stalled. */
function looksUntilStalled(
  { brings, paceMs, idleMs = IDLE_MS }: { brings(look: number): number; paceMs?: number; idleMs?: number },
  stalls = new StallWatch(EVERY_MS),
): Promise<number> {
  let looks = -1; // it is asked at the beginning, too
  let bytes = 0;
  const stalled = new Promise<number>((resolve) => {
    stalls.begin({
      receivedBytes() {
        looks++;
        if (looks > MAX_LOOKS) resolve(looks);
        bytes += brings(looks);
        return bytes;
      },
      idleMs,
      paceMs,
      keepOpen() {},
      onStalled: () => resolve(looks),
    });
  });
  // Its timer keeps the process running, which the watch alone does not.
  return within(10_000, 'a body that has stalled', stalled);
}

t.test('what brings nothing has stalled after its whole time, and not one look earlier', async (t) => {
  t.equal(await looksUntilStalled({ brings: () => 0 }), 1 + IDLE_MS / EVERY_MS);
});

t.test('each byte gives it the whole time again', async (t) => {
  const last = 25;
  const looks = await looksUntilStalled({ brings: (look) => (look === 7 || look === 16 || look === last ? 1 : 0) });
  t.equal(looks, last + IDLE_MS / EVERY_MS);
});

t.test('a pause of this process is not held against those who send', async (t) => {
  const looks = looksUntilStalled({ brings: () => 0 });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 * IDLE_MS); // nothing can be received meanwhile
  t.equal(await looks, 1 + IDLE_MS / EVERY_MS);
});

t.test('what brings less than its pace has stalled at the end of a period', async (t) => {
  const paceMs = 10;
  const period = paceMs / EVERY_MS;
  const fast = Math.ceil(BODY_PACE_BYTES / period);
  const trickles = await looksUntilStalled({ brings: () => 1, paceMs });
  t.equal(trickles, 1 + period);
  const slows = 1 + 2 * period;
  t.equal(await looksUntilStalled({ brings: (look) => (look <= slows ? fast : 1), paceMs }), slows + period);
});

t.test('each is watched for itself, and what has ended is not', async (t) => {
  const stalls = new StallWatch(EVERY_MS);
  const watched = stalls.begin({
    receivedBytes: () => 0,
    idleMs: IDLE_MS,
    keepOpen() {},
    onStalled: () => t.fail('it had ended'),
  });
  const longer = looksUntilStalled({ brings: () => 0, idleMs: 3 * IDLE_MS }, stalls);
  stalls.end(watched);
  t.equal(await looksUntilStalled({ brings: () => 0 }, stalls), 1 + IDLE_MS / EVERY_MS);
  t.equal(await longer, 1 + (3 * IDLE_MS) / EVERY_MS);
});

t.test('it begins again after nothing was left to watch', async (t) => {
  const stalls = new StallWatch(EVERY_MS);
  for (let round = 0; round < 3; round++) {
    t.equal(await looksUntilStalled({ brings: () => 0 }, stalls), 1 + IDLE_MS / EVERY_MS, `round ${round}`);
    // Timers of one length end in the order in which they began: it has looked before, and found nothing.
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
});
