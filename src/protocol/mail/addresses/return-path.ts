// The envelope sender of an outgoing message (VERP). A bounce to it names its message; one with a wrong HMAC is
// rejected at RCPT. Only the local part is made here; the bounce domain is configured.
import { type AddressKind, makeMessageAddress, readMessageAddress } from './message-address.ts';
import type { HmacKey, KeyLookup } from './message-token.ts';

const RETURN_PATH: AddressKind = { letter: 'b', purpose: 'return-path' };

export function makeReturnPath(messageId: string, hmacKey: HmacKey): string {
  return makeMessageAddress(RETURN_PATH, messageId, hmacKey);
}

/** The message ID, or null for anything that is not ours. */
export function readReturnPath(localPart: string, keyLookup: KeyLookup): string | null {
  return readMessageAddress(RETURN_PATH, localPart, keyLookup);
}
