// Browsers that have signed in to an account before. A sign-in stores a token in a cookie: an HMAC over the user and
// the password's hash, so that it is valid for this account alone and only until the password changes. It grants
// nothing: its attempts are only counted apart from those of strangers, whose guesses could otherwise lock the user
// out.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, DAY_MS } from '../base/clock.ts';
import type { HmacKey, KeyLookup } from '../protocol/mail/message-token.ts';
import type { User } from '../store/tenants.ts';
import type { RandomBytes } from './random-text.ts';

/** For a cookie. */
export interface BrowserToken {
  value: string;
  maxAgeMs: number;
}

export interface KnownBrowserKit {
  clock: Clock;
  /** Signs new tokens. */
  key: HmacKey;
  /** Includes older keys. */
  keys: KeyLookup;
  random?: RandomBytes;
}

type Account = Pick<User, 'id' | 'passwordHash'>;

/** Since the last sign-in; after that the browser is no longer known. */
const LIFE_MS = 180 * DAY_MS;
/** Accounts that share one browser; the oldest is dropped. */
const ACCOUNTS_PER_BROWSER = 4;

const ID_BYTES = 12;
const TIME_BYTES = 6;
const MAC_BYTES = 16;
const CONTENT_BYTES = ID_BYTES + TIME_BYTES;
/** The key's ID, then content and MAC. */
const TOKEN = /^[a-z0-9][A-Za-z0-9_-]{46}$/;
const TOKEN_SEPARATOR = '.';
const MAX_CHARS = 48 * ACCOUNTS_PER_BROWSER;

/** For an address without a user: takes as long. */
const NO_ACCOUNT: Account = { id: '', passwordHash: '' };

export class KnownBrowsers {
  readonly #kit: KnownBrowserKit;
  readonly #random: RandomBytes;

  constructor(kit: KnownBrowserKit) {
    this.#kit = kit;
    this.#random = kit.random ?? randomBytes;
  }

  /** After a sign-in; `cookie` is its value so far, which may have tokens of other accounts. */
  remember(account: Account, cookie: string | null): BrowserToken {
    const others = tokensIn(cookie).filter((token) => this.#idOf(token, account) === null);
    const tokens = [this.#make(account), ...others].slice(0, ACCOUNTS_PER_BROWSER);
    return { value: tokens.join(TOKEN_SEPARATOR), maxAgeMs: LIFE_MS };
  }

  /** The ID that the browser's attempts are counted by; null: it is not known for this account and password. */
  recognize(account: Account | null, cookie: string | null): string | null {
    const ids = tokensIn(cookie).map((token) => this.#idOf(token, account ?? NO_ACCOUNT));
    return account && (ids.find((id) => id !== null) ?? null);
  }

  #make(account: Account): string {
    const { key, clock } = this.#kit;
    const content = Buffer.alloc(CONTENT_BYTES);
    this.#random(ID_BYTES).copy(content);
    content.writeUIntBE(clock.now() + LIFE_MS, ID_BYTES, TIME_BYTES);
    return key.id + Buffer.concat([content, macOf(content, account, key)]).toString('base64url');
  }

  #idOf(token: string, account: Account): string | null {
    const id = token.charAt(0);
    const key = this.#kit.keys(id);
    if (key === undefined) return null;
    const bytes = Buffer.from(token.slice(1), 'base64url');
    // The last character may have bits that are not decoded: only one spelling is valid.
    if (bytes.toString('base64url') !== token.slice(1)) return null;
    const content = bytes.subarray(0, CONTENT_BYTES);
    if (!timingSafeEqual(bytes.subarray(CONTENT_BYTES), macOf(content, account, { id, key }))) return null;
    const expiresAt = content.readUIntBE(ID_BYTES, TIME_BYTES);
    return expiresAt > this.#kit.clock.now() ? content.toString('base64url', 0, ID_BYTES) : null;
  }
}

function tokensIn(cookie: string | null): string[] {
  if (cookie === null || cookie.length > MAX_CHARS) return [];
  return cookie.split(TOKEN_SEPARATOR).filter((token) => TOKEN.test(token));
}

function macOf(content: Buffer, { id, passwordHash }: Account, key: HmacKey): Buffer {
  // Every part has an unambiguous end: the label a NUL, the content its length, the ID a NUL.
  return createHmac('sha256', key.key)
    .update(`known browser of Postrider ${key.id}\0`)
    .update(content)
    .update(`${id}\0${passwordHash}`)
    .digest()
    .subarray(0, MAC_BYTES);
}
