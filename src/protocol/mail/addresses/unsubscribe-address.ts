// The mailto of List-Unsubscribe (RFC 2369 section 3.2): each message has its own address, so that an empty mail to it
// is enough. Only the local part is made here; the domain is the bounce domain. The recipient does not fit in, so it
// works as long as the message is stored.
import { type AddressKind, makeMessageAddress, readMessageAddress } from './message-address.ts';
import type { HmacKey, KeyLookup } from './message-token.ts';

const UNSUBSCRIBE: AddressKind = { letter: 'u', purpose: 'unsubscribe' };

export function makeUnsubscribeAddress(messageId: string, hmacKey: HmacKey): string {
  return makeMessageAddress(UNSUBSCRIBE, messageId, hmacKey);
}

/** The message ID, or null for anything that is not ours. */
export function readUnsubscribeAddress(localPart: string, keyLookup: KeyLookup): string | null {
  return readMessageAddress(UNSUBSCRIBE, localPart, keyLookup);
}
