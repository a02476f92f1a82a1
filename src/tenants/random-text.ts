// Random letters and digits for keys and passwords: nothing that a shell, a URL or a mail would change, and every
// character equally likely.
import { randomBytes } from 'node:crypto';

/** The source of randomness, as a parameter for tests. */
export type RandomBytes = (count: number) => Buffer;

export const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// Bytes above the last multiple of 62 are dropped: with a plain remainder the first
// characters of the alphabet would be more likely.
const FAIR_LIMIT = 256 - (256 % ALPHANUMERIC.length);

/** Each character carries 5.95 bits. */
export function randomText(length: number, random: RandomBytes = randomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length - text.length)) {
      if (byte < FAIR_LIMIT) text += ALPHANUMERIC[byte % ALPHANUMERIC.length];
    }
  }
  return text;
}
