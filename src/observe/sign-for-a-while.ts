// A separate process: signs with the key from standard input for as many milliseconds as its argument says, and prints
// the signatures per second of processor time.
import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { text } from 'node:stream/consumers';

/** About the size of what a DKIM signature covers. */
const SIGNED_BYTES = 1000;
/** Somebody waits for the result: on a very busy machine it is measured for less. */
const MAX_SHARED_BY = 5;

process.stdout.write(String(signaturesPerSecond(createPrivateKey(await text(process.stdin)), Number(process.argv[2]))));

/** Of processor time: what others on this machine do says nothing of how fast a processor signs. */
function signaturesPerSecond(key: KeyObject, forMs: number): number {
  const data = randomBytes(SIGNED_BYTES);
  sign('sha256', data, key); // the first use of a key sets it up
  const before = process.cpuUsage();
  const endsAt = performance.now() + forMs * MAX_SHARED_BY;
  let count = 0;
  let usedMs = 0;
  do {
    sign('sha256', data, key);
    count++;
    const { user, system } = process.cpuUsage(before);
    usedMs = (user + system) / 1000;
  } while (usedMs < forMs && performance.now() < endsAt);
  return (count * 1000) / usedMs;
}
