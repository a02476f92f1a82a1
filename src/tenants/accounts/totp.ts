// Time-based one-time passwords: RFC 6238 over RFC 4226, with SHA-1, six digits and steps of 30 seconds, as all
// authenticator apps have it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { encodeBase32 } from '../../base/text/base32.ts';

export const STEP_MS = 30_000;
const DIGITS = 6;
/** Clocks differ and people type slowly: the step before and the one after are accepted, too. */
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

/** The code's step, or null. Only steps after `lastStep` count: no code is accepted twice (RFC 6238 section 5.2). */
export function matchingStep(secret: Buffer, code: string, at: { now: number; lastStep: number }): number | null {
  const given = Buffer.from(code.replace(/\s/g, ''));
  const current = stepAt(at.now);
  let found: number | null = null;
  for (let step = current - WINDOW_STEPS; step <= current + WINDOW_STEPS; step++) {
    const expected = Buffer.from(hotp(secret, Math.max(0, step)));
    const matches = given.length === expected.length && timingSafeEqual(given, expected);
    if (matches && step > at.lastStep) found ??= step;
  }
  return found;
}

/** For typing when the QR code can't be scanned: in groups of four. */
export function secretInWords(secret: Buffer): string {
  return secretText(secret).replace(/.{4}(?=.)/g, '$& ');
}

/** The content of the QR code: the "Key Uri Format" that all authenticator apps read. */
export function totpUri(secret: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${secretText(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

function secretText(secret: Buffer): string {
  return encodeBase32(secret).toUpperCase();
}
