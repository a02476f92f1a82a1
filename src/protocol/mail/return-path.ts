// The envelope sender of an outgoing message (VERP). A bounce that comes back to it names its
// message; one with a wrong HMAC is refused at RCPT. Only the local part is made here; the bounce
// domain is configuration.
import { type AddressKind, makeMessageAddress, readMessageAddress } from './message-address.ts';
import type { HmacKey, KeyLookup } from './message-token.ts';

const RETURN_PATH: AddressKind = { letter: 'b', purpose: 'return-path' };

export function makeReturnPath(messageId: string, hmacKey: HmacKey): string {
  return makeMessageAddress(RETURN_PATH, messageId, hmacKey);
}

/** The message id, or null for everything that we have not made. */
export function readReturnPath(localPart: string, keyLookup: KeyLookup): string | null {
  return readMessageAddress(RETURN_PATH, localPart, keyLookup);
}
