// Tokens that only one browser or one mail has: 256 random bits, looked up by their SHA-256. A slow hash would add
// nothing, since they are not chosen by people.
import { hash, randomBytes } from 'node:crypto';
import type { RandomBytes } from '../random-text.ts';

const TOKEN_BYTES = 32;
const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;

export function newToken(random: RandomBytes = randomBytes): string {
  return random(TOKEN_BYTES).toString('base64url');
}

/** Null for anything that does not have the shape of our tokens. */
export function tokenHash(token: string): Buffer | null {
  return TOKEN_SHAPE.test(token) ? hash('sha256', token, 'buffer') : null;
}
