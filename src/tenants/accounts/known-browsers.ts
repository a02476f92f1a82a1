// Browsers that have signed in to an account before. A sign-in stores a token in a cookie (account-token.ts), so that it is
// valid for this account alone and only until the password changes. It grants nothing: its attempts are only counted
// apart from those of strangers, whose guesses could otherwise lock the user out.
import { randomBytes } from 'node:crypto';
import { type Clock, DAY_MS } from '../../base/clock.ts';
import type { RandomBytes } from '../random-text.ts';
import { openToken, sealToken, type TokenAccount, type TokenKeys, type TokenKind } from './account-token.ts';

/** For a cookie. */
export interface BrowserToken {
  value: string;
  maxAgeMs: number;
}

export interface KnownBrowserKit extends TokenKeys {
  clock: Clock;
  random?: RandomBytes;
}

/** Since the last sign-in; after that the browser is no longer known. */
const LIFE_MS = 180 * DAY_MS;
/** Accounts that share one browser; the oldest is dropped. */
const ACCOUNTS_PER_BROWSER = 4;

const ID_BYTES = 12;
const TIME_BYTES = 6;
const KIND: TokenKind = { purpose: 'known browser', contentBytes: ID_BYTES + TIME_BYTES };
const TOKEN = /^[a-z0-9][A-Za-z0-9_-]{46}$/;
const TOKEN_SEPARATOR = '.';
const MAX_CHARS = 48 * ACCOUNTS_PER_BROWSER;

export class KnownBrowsers {
  readonly #kit: KnownBrowserKit;
  readonly #random: RandomBytes;

  constructor(kit: KnownBrowserKit) {
    this.#kit = kit;
    this.#random = kit.random ?? randomBytes;
  }

  /** After a sign-in; `cookie` is its value so far, which may have tokens of other accounts. */
  remember(account: TokenAccount, cookie: string | null): BrowserToken {
    const others = tokensIn(cookie).filter((token) => this.#idOf(token, account) === null);
    const tokens = [this.#make(account), ...others].slice(0, ACCOUNTS_PER_BROWSER);
    return { value: tokens.join(TOKEN_SEPARATOR), maxAgeMs: LIFE_MS };
  }

  /** The ID that the browser's attempts are counted by; null: it is not known for this account and password. */
  recognize(account: TokenAccount | null, cookie: string | null): string | null {
    const ids = tokensIn(cookie).map((token) => this.#idOf(token, account));
    return ids.find((id) => id !== null) ?? null;
  }

  #make(account: TokenAccount): string {
    const { key, clock } = this.#kit;
    const content = Buffer.alloc(KIND.contentBytes);
    this.#random(ID_BYTES).copy(content);
    content.writeUIntBE(clock.now() + LIFE_MS, ID_BYTES, TIME_BYTES);
    return sealToken(KIND, content, account, key);
  }

  #idOf(token: string, account: TokenAccount | null): string | null {
    const content = openToken(KIND, token, account, this.#kit.keys);
    if (content === null) return null;
    const expiresAt = content.readUIntBE(ID_BYTES, TIME_BYTES);
    return expiresAt > this.#kit.clock.now() ? content.toString('base64url', 0, ID_BYTES) : null;
  }
}

function tokensIn(cookie: string | null): string[] {
  if (cookie === null || cookie.length > MAX_CHARS) return [];
  return cookie.split(TOKEN_SEPARATOR).filter((token) => TOKEN.test(token));
}
