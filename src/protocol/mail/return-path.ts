// The envelope sender of an outgoing message (VERP): `b` + message id + key id + HMAC. A
// bounce that comes back to it names its message; one with a wrong HMAC is refused at RCPT.
// Only the local part is made here; the bounce domain is configuration.
import { decodeBase32, encodeBase32 } from '../../base/base32.ts';
import { bytesToUuid, uuidToBytes } from '../../base/ids.ts';
import { authenticate, type HmacKey, isAuthentic, type KeyLookup, MAC_CHARS } from './message-token.ts';

const PURPOSE = 'return-path';
/** 16 bytes in base32. */
const ID_CHARS = 26;
/** 44 of the 64 octets that RFC 5321 section 4.5.3.1.1 allows. */
const RETURN_PATH_CHARS = 1 + ID_CHARS + 1 + MAC_CHARS;

export function makeReturnPath(messageId: string, hmacKey: HmacKey): string {
  return `b${encodeBase32(uuidToBytes(messageId))}${authenticate(PURPOSE, messageId, hmacKey)}`;
}

/** The message id, or null for everything that we have not made. */
export function readReturnPath(localPart: string, keyLookup: KeyLookup): string | null {
  // Without case: RFC 5321 section 2.4 asks relays to keep it, and some do not.
  if (localPart.length !== RETURN_PATH_CHARS || !/^b/i.test(localPart)) return null;
  const idBytes = decodeBase32(localPart.slice(1, 1 + ID_CHARS));
  if (idBytes === null) return null;
  const messageId = bytesToUuid(idBytes);
  return isAuthentic(PURPOSE, messageId, localPart.slice(1 + ID_CHARS), keyLookup) ? messageId : null;
}
