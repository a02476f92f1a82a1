// A message ID that proves itself: the ID with a truncated HMAC, so that return paths and feedback IDs cannot be
// forged. One key may serve many purposes: the HMAC covers the purpose. Key IDs allow keys to rotate; how long keys
// stay valid is decided elsewhere.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { uuidToBytes } from '../../../base/ids.ts';
import { decodeBase32, encodeBase32 } from '../../../base/text/base32.ts';

export interface HmacKey {
  /** One character of a-z, 0-9. */
  id: string;
  key: Buffer | KeyObject;
}

/** The key with this ID, or undefined when there is none (any more). */
export type KeyLookup = (keyId: string) => Buffer | KeyObject | undefined;

/** 80 bits: a wrong guess is rejected at RCPT and costs a connection, so 16 characters are enough. */
const MAC_BYTES = 10;
export const MAC_CHARS = 16;

const KEY_ID = /^[a-z0-9]$/;

/** `<key id><mac>`, in lower case: 17 characters. */
export function authenticate(purpose: string, messageId: string, { id, key }: HmacKey): string {
  if (!KEY_ID.test(id)) throw new TypeError('an HMAC key id is one character of a-z, 0-9');
  return id + encodeBase32(mac({ purpose, messageId, keyId: id }, key));
}

/** Whether `<key id><mac>` is valid for this message; ignores case. */
export function isAuthentic(purpose: string, messageId: string, proof: string, keyLookup: KeyLookup): boolean {
  if (proof.length !== 1 + MAC_CHARS) return false;
  const keyId = proof.charAt(0).toLowerCase();
  const given = decodeBase32(proof.slice(1));
  const key = KEY_ID.test(keyId) ? keyLookup(keyId) : undefined;
  if (given === null || key === undefined) return false;
  return timingSafeEqual(given, mac({ purpose, messageId, keyId }, key));
}

function mac(what: { purpose: string; messageId: string; keyId: string }, key: Buffer | KeyObject): Buffer {
  // The label ends with a NUL, which no purpose contains, so that inputs are unambiguous.
  return createHmac('sha256', key)
    .update(`postrider ${what.purpose} ${what.keyId}\0`)
    .update(uuidToBytes(what.messageId))
    .digest()
    .subarray(0, MAC_BYTES);
}
