// Tokens that the service gives out and does not store: a key's ID, then content and an HMAC that also covers the account,
// its password's hash and what the token is for. So a token is valid for this account and purpose alone, only until the
// password changes, and at every node. What the content says, and until when it counts, its users decide.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HmacKey, KeyLookup } from '../../protocol/mail/addresses/message-token.ts';
import type { User } from '../../store/tenants.ts';

export type TokenAccount = Pick<User, 'id' | 'passwordHash'>;

export interface TokenKeys {
  /** Signs new tokens. */
  key: HmacKey;
  /** Includes older keys. */
  keys: KeyLookup;
}

export interface TokenKind {
  /** What its tokens are for; the HMAC covers it. No two kinds share one. */
  purpose: string;
  contentBytes: number;
}

const MAC_BYTES = 16;

/** For an address without a user: takes as long. */
const NO_ACCOUNT: TokenAccount = { id: '', passwordHash: '' };

export function sealToken(kind: TokenKind, content: Buffer, account: TokenAccount, key: HmacKey): string {
  if (content.length !== kind.contentBytes) throw new TypeError(`${kind.purpose}: ${content.length} bytes of content`);
  return key.id + Buffer.concat([content, macOf(kind, content, account, key)]).toString('base64url');
}

/** The content of a token of this kind that was sealed for the account. */
export function openToken(
  kind: TokenKind,
  token: string,
  account: TokenAccount | null,
  keys: KeyLookup,
): Buffer | null {
  const id = token.charAt(0);
  const key = keys(id);
  const content = readToken(kind, token);
  if (key === undefined || content === null) return null;
  const given = Buffer.from(token.slice(1), 'base64url').subarray(kind.contentBytes);
  const isValid = timingSafeEqual(given, macOf(kind, content, account ?? NO_ACCOUNT, { id, key }));
  return account && isValid ? content : null;
}

/** The content as the token claims it, which proves nothing. Null for what has not the shape of this kind. */
export function readToken({ contentBytes }: TokenKind, token: string): Buffer | null {
  const bytes = contentBytes + MAC_BYTES;
  if (token.length !== 1 + Math.ceil((bytes * 8) / 6)) return null;
  const decoded = Buffer.from(token.slice(1), 'base64url');
  // The last character may have bits that are not decoded: only one spelling is valid.
  const isValid = decoded.length === bytes && decoded.toString('base64url') === token.slice(1);
  return isValid ? decoded.subarray(0, contentBytes) : null;
}

function macOf(kind: TokenKind, content: Buffer, { id, passwordHash }: TokenAccount, key: HmacKey): Buffer {
  // Every part has an unambiguous end: the label a NUL, the content its length, the ID a NUL.
  return createHmac('sha256', key.key)
    .update(`${kind.purpose} of Postrider ${key.id}\0`)
    .update(content)
    .update(`${id}\0${passwordHash}`)
    .digest()
    .subarray(0, MAC_BYTES);
}
