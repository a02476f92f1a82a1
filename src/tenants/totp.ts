// Time-based one-time passwords: RFC 6238 over RFC 4226, with SHA-1, six digits and steps of 30 seconds, which
// is what every authenticator app does.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { encodeBase32 } from '../base/base32.ts';

export const STEP_MS = 30_000;
const DIGITS = 6;
/** Clocks differ and people type slowly: the step before and the one after are good, too. */
const WINDOW_STEPS = 1;
/** RFC 4226 section 4, R6: 160 bits. */
export const TOTP_SECRET_BYTES = 20;

export function stepAt(now: number): number {
  return Math.floor(now / STEP_MS);
}

/** RFC 4226 section 5.3. */
export function hotp(secret: Buffer, counter: number, digits = DIGITS): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha1', secret).update(message).digest();
  const offset = mac[mac.length - 1]! & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step that the code is of, or null. Only steps after `lastStep` count: no code is good twice (RFC 6238 section 5.2). */
export function matchingStep(secret: Buffer, code: string, at: { now: number; lastStep: number }): number | null {
  const given = Buffer.from(code.replace(/\s/g, ''));
  const current = stepAt(at.now);
  let found: number | null = null;
  for (let step = current - WINDOW_STEPS; step <= current + WINDOW_STEPS; step++) {
    const expected = Buffer.from(hotp(secret, Math.max(0, step)));
    const holds = given.length === expected.length && timingSafeEqual(given, expected);
    if (holds && step > at.lastStep) found ??= step;
  }
  return found;
}

/** As people type it in when the picture cannot be read: in groups of four. */
export function secretInWords(secret: Buffer): string {
  return secretText(secret).replace(/.{4}(?=.)/g, '$& ');
}

/** What authenticator apps read from the picture: the "Key Uri Format" that they all share. */
export function totpUri(secret: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${secretText(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

function secretText(secret: Buffer): string {
  return encodeBase32(secret).toUpperCase();
}
