// The last part of our links in mail. A token carries everything that its link needs and an HMAC over it, so that it
// works without any row in the database, however old the mail is, and cannot be forged:
// `<key id><base64url of HMAC and content>`.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { bytesToUuid, uuidToBytes } from '../base/ids.ts';
import type { HmacKey, KeyLookup } from '../protocol/mail/addresses/message-token.ts';

/** The message that it is about. */
export interface TokenSubject {
  tenantId: string;
  messageId: string;
}

export interface ClickToken extends TokenSubject {
  /** The index among the tracked links of the HTML, from 0. */
  linkIndex: number;
  /** The number of tracked links. */
  linkCount: number;
  /** Absolute, http or https. */
  url: string;
}

export interface UnsubscribeToken extends TokenSubject {
  /** As the tenant wrote it. */
  recipient: string;
}

type Purpose = 'open' | 'click' | 'unsubscribe';

/** 128 bits: each guess costs an attacker one request, and nothing can be tried offline. */
const MAC_BYTES = 16;
const ID_BYTES = 16;
const SUBJECT_BYTES = 2 * ID_BYTES;
/** Index and count. */
const LINK_BYTES = 4;

/** Longer texts are not ours and are not parsed: our longest token has 1,937 characters. */
const MAX_TOKEN_CHARS = 2048;
const TOKEN = /^[a-z0-9][A-Za-z0-9_-]+$/;

export function makeOpenToken(subject: TokenSubject, key: HmacKey): string {
  return seal('open', subjectBytes(subject), key);
}

export function readOpenToken(token: string, keys: KeyLookup): TokenSubject | null {
  const content = unseal('open', token, keys);
  return content?.length === SUBJECT_BYTES ? subjectOf(content) : null;
}

export function makeClickToken(click: ClickToken, key: HmacKey): string {
  const link = Buffer.allocUnsafe(LINK_BYTES);
  link.writeUInt16BE(click.linkIndex, 0);
  link.writeUInt16BE(click.linkCount, 2);
  return seal('click', Buffer.concat([subjectBytes(click), link, Buffer.from(click.url)]), key);
}

export function readClickToken(token: string, keys: KeyLookup): ClickToken | null {
  const content = unseal('click', token, keys);
  if (content === null || content.length <= SUBJECT_BYTES + LINK_BYTES) return null;
  return {
    ...subjectOf(content),
    linkIndex: content.readUInt16BE(SUBJECT_BYTES),
    linkCount: content.readUInt16BE(SUBJECT_BYTES + 2),
    url: content.toString('utf8', SUBJECT_BYTES + LINK_BYTES),
  };
}

export function makeUnsubscribeToken(unsubscribe: UnsubscribeToken, key: HmacKey): string {
  return seal('unsubscribe', Buffer.concat([subjectBytes(unsubscribe), Buffer.from(unsubscribe.recipient)]), key);
}

export function readUnsubscribeToken(token: string, keys: KeyLookup): UnsubscribeToken | null {
  const content = unseal('unsubscribe', token, keys);
  if (content === null || content.length <= SUBJECT_BYTES) return null;
  return { ...subjectOf(content), recipient: content.toString('utf8', SUBJECT_BYTES) };
}

function seal(purpose: Purpose, content: Buffer, { id, key }: HmacKey): string {
  return id + Buffer.concat([mac(purpose, id, content, key), content]).toString('base64url');
}

function unseal(purpose: Purpose, token: string, keys: KeyLookup): Buffer | null {
  if (token.length > MAX_TOKEN_CHARS || !TOKEN.test(token)) return null;
  const keyId = token.charAt(0);
  const key = keys(keyId);
  if (key === undefined) return null;
  const sealed = Buffer.from(token.slice(1), 'base64url');
  // The last character may have bits that are not decoded: only one spelling is valid.
  if (sealed.length <= MAC_BYTES || sealed.toString('base64url') !== token.slice(1)) return null;
  const content = sealed.subarray(MAC_BYTES);
  return timingSafeEqual(sealed.subarray(0, MAC_BYTES), mac(purpose, keyId, content, key)) ? content : null;
}

function mac(purpose: Purpose, keyId: string, content: Buffer, key: HmacKey['key']): Buffer {
  // The label ends with a NUL, which no purpose contains, so that inputs are unambiguous.
  return createHmac('sha256', key)
    .update(`postrider link ${purpose} ${keyId}\0`)
    .update(content)
    .digest()
    .subarray(0, MAC_BYTES);
}

function subjectBytes({ messageId, tenantId }: TokenSubject): Buffer {
  return Buffer.concat([uuidToBytes(messageId), uuidToBytes(tenantId)]);
}

function subjectOf(content: Buffer): TokenSubject {
  return {
    messageId: bytesToUuid(content.subarray(0, ID_BYTES)),
    tenantId: bytesToUuid(content.subarray(ID_BYTES, SUBJECT_BYTES)),
  };
}

// The URLs of our links in mail: short paths, because every message contains them, under `service.links_url`.

export const LINK_PATHS = { open: '/o/', click: '/c/', unsubscribe: '/u/' } as const;

export type LinkKind = keyof typeof LINK_PATHS;

/** `linksUrl` is an origin. */
export function linkUrl(linksUrl: string, kind: LinkKind, token: string): string {
  return `${linksUrl}${LINK_PATHS[kind]}${token}`;
}
