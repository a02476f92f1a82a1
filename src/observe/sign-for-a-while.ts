// A separate process: signs with the key from standard input for as many milliseconds as its argument says, and prints
// the signatures per second.
import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { text } from 'node:stream/consumers';

/** About the size of what a DKIM signature covers. */
const SIGNED_BYTES = 1000;

process.stdout.write(String(signaturesPerSecond(createPrivateKey(await text(process.stdin)), Number(process.argv[2]))));

function signaturesPerSecond(key: KeyObject, forMs: number): number {
  const data = randomBytes(SIGNED_BYTES);
  sign('sha256', data, key); // the first use of a key sets it up
  const startedAt = performance.now();
  let count = 0;
  let elapsedMs = 0;
  for (; elapsedMs < forMs; elapsedMs = performance.now() - startedAt) {
    sign('sha256', data, key);
    count++;
  }
  return (count * 1000) / elapsedMs;
}
