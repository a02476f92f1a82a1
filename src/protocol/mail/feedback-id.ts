// The value of CFBL-Feedback-ID (RFC 9477 section 5.2): `<message id>:<key id><HMAC>`. A
// complaint report that carries it names its message and proves that we sent it.
import { isUuid } from '../../base/ids.ts';
import { authenticate, type HmacKey, isAuthentic, type KeyLookup } from './message-token.ts';

const PURPOSE = 'feedback-id';
/** A UUID, a colon and 17 characters are 54; the rest is room for folding. */
const MAX_CHARS = 200;

export function makeFeedbackId(messageId: string, hmacKey: HmacKey): string {
  return `${messageId}:${authenticate(PURPOSE, messageId, hmacKey)}`;
}

/** The message id, or null for everything that we have not made. */
export function readFeedbackId(value: string, keyLookup: KeyLookup): string | null {
  if (value.length > MAX_CHARS) return null;
  // RFC 9477 section 5.2: white space inside the value means nothing.
  const [id = '', proof = '', ...more] = value.replace(/\s+/g, '').split(':');
  if (!isUuid(id) || more.length > 0) return null;
  const messageId = id.toLowerCase();
  return isAuthentic(PURPOSE, messageId, proof, keyLookup) ? messageId : null;
}
