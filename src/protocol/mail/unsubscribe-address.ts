// The mailto of List-Unsubscribe (RFC 2369 section 3.2): an address of its own for each message, so
// that an empty mail to it says enough. Only the local part is made here; it lives on the bounce
// domain. It has no room for the recipient, so it works as long as the message is known.
import { type AddressKind, makeMessageAddress, readMessageAddress } from './message-address.ts';
import type { HmacKey, KeyLookup } from './message-token.ts';

const UNSUBSCRIBE: AddressKind = { letter: 'u', purpose: 'unsubscribe' };

export function makeUnsubscribeAddress(messageId: string, hmacKey: HmacKey): string {
  return makeMessageAddress(UNSUBSCRIBE, messageId, hmacKey);
}

/** The message id, or null for everything that we have not made. */
export function readUnsubscribeAddress(localPart: string, keyLookup: KeyLookup): string | null {
  return readMessageAddress(UNSUBSCRIBE, localPart, keyLookup);
}
