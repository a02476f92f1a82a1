// The value of CFBL-Feedback-ID (RFC 9477 section 5.2): `<message id>:<key id><HMAC>`. A complaint report that contains
// it names its message and proves that we sent it.
import { isUuid } from '../../../base/ids.ts';
import { authenticate, type HmacKey, isAuthentic, type KeyLookup } from './message-token.ts';

const PURPOSE = 'feedback-id';
/** A UUID, a colon and 17 characters are 54; the rest is room for folding. */
const MAX_CHARS = 200;

export function makeFeedbackId(messageId: string, hmacKey: HmacKey): string {
  return `${messageId}:${authenticate(PURPOSE, messageId, hmacKey)}`;
}

/** The message ID, or null for anything that is not ours. */
export function readFeedbackId(value: string, keyLookup: KeyLookup): string | null {
  if (value.length > MAX_CHARS) return null;
  // RFC 9477 section 5.2: white space inside the value is ignored.
  const [id = '', proof = '', ...more] = value.replace(/\s+/g, '').split(':');
  if (!isUuid(id) || more.length > 0) return null;
  const messageId = id.toLowerCase();
  return isAuthentic(PURPOSE, messageId, proof, keyLookup) ? messageId : null;
}
