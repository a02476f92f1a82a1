// Passwords of users: stored as scrypt (RFC 7914) with the parameters beside the hash, so that they can be raised
// without locking users out. Also generates passwords.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { type RandomBytes, randomText } from '../random-text.ts';
import { PASSWORD_MAX_CHARS } from './password-rules.ts';

// 2^15 · 8 · 128 bytes are 32 MiB per password being checked, three passes: OWASP's equivalent of 2^17 with one pass
// (128 MiB), for smaller machines.
const LOG2_COST = 15;
const BLOCK_SIZE = 8;
const PARALLELISM = 3;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const HASH_SHAPE = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$/;
// A longer password is an attempt to keep us busy. Characters that may be chosen have one or two code units.
const MAX_CODE_UNITS = 2 * PASSWORD_MAX_CHARS;

/** 20 letters and digits are 119 bits. */
const GENERATED_CHARS = 20;

export function generatePassword(random: RandomBytes = randomBytes): string {
  return randomText(GENERATED_CHARS, random);
}

interface ScryptHash {
  log2Cost: number;
  blockSize: number;
  parallelism: number;
  salt: Buffer;
  hash: Buffer;
}

export async function hashPassword(password: string, random: RandomBytes = randomBytes): Promise<string> {
  const salt = random(SALT_BYTES);
  const settings = { log2Cost: LOG2_COST, blockSize: BLOCK_SIZE, parallelism: PARALLELISM, salt };
  const hash = await derive(password, settings, HASH_BYTES);
  const parameters = `ln=${LOG2_COST},r=${BLOCK_SIZE},p=${PARALLELISM}`;
  return `$scrypt$${parameters}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/** Also false for a hash that cannot be parsed. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const expected = parseHash(stored);
  if (!expected || password.length > MAX_CODE_UNITS) return false;
  return timingSafeEqual(await derive(password, expected, expected.hash.length), expected.hash);
}

function parseHash(stored: string): ScryptHash | null {
  const match = HASH_SHAPE.exec(stored);
  if (!match) return null;
  return {
    log2Cost: Number(match[1]),
    blockSize: Number(match[2]),
    parallelism: Number(match[3]),
    salt: Buffer.from(match[4]!, 'base64'),
    hash: Buffer.from(match[5]!, 'base64'),
  };
}

function derive(password: string, settings: Omit<ScryptHash, 'hash'>, bytes: number): Promise<Buffer> {
  const { log2Cost, blockSize, parallelism, salt } = settings;
  const N = 2 ** log2Cost;
  // Node counts 128·N·r plus a little; its default limit of 32 MiB is just too small for 2^15.
  const maxmem = 128 * N * blockSize + 128 * blockSize * parallelism + 1024 * 1024;
  // Unicode forms that look the same are the same password on every keyboard.
  const text = password.normalize('NFKC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, bytes, { N, r: blockSize, p: parallelism, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
