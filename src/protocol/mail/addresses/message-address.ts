// Local parts that name a message and prove it: a letter for the purpose + message ID + key ID + HMAC, in
// case-insensitive base32. Mail to a wrong one is rejected at RCPT.

import { bytesToUuid, uuidToBytes } from '../../../base/ids.ts';
import { decodeBase32, encodeBase32 } from '../../../base/text/base32.ts';
import { authenticate, type HmacKey, isAuthentic, type KeyLookup, MAC_CHARS } from './message-token.ts';

/** The purpose of such an address: its first letter, and part of its HMAC. */
export interface AddressKind {
  letter: string;
  purpose: string;
}

/** 16 bytes in base32. */
const ID_CHARS = 26;
/** 44 of the 64 octets that RFC 5321 section 4.5.3.1.1 allows. */
const LOCAL_PART_CHARS = 1 + ID_CHARS + 1 + MAC_CHARS;

export function makeMessageAddress({ letter, purpose }: AddressKind, messageId: string, hmacKey: HmacKey): string {
  return `${letter}${encodeBase32(uuidToBytes(messageId))}${authenticate(purpose, messageId, hmacKey)}`;
}

/** The message ID, or null for anything that is not ours. */
export function readMessageAddress(kind: AddressKind, localPart: string, keyLookup: KeyLookup): string | null {
  // Ignoring case: RFC 5321 section 2.4 requires relays to preserve it, and some do not.
  if (localPart.length !== LOCAL_PART_CHARS || localPart.charAt(0).toLowerCase() !== kind.letter) return null;
  const idBytes = decodeBase32(localPart.slice(1, 1 + ID_CHARS));
  if (idBytes === null) return null;
  const messageId = bytesToUuid(idBytes);
  return isAuthentic(kind.purpose, messageId, localPart.slice(1 + ID_CHARS), keyLookup) ? messageId : null;
}
