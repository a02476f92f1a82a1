// Browsers that have signed in to an account before. A sign-in leaves a token in a cookie: an HMAC over the user and
// the password's hash, so that it holds for this account alone and ends with the password. It opens nothing: its tries
// are counted apart from those of strangers, who could otherwise keep somebody out by guessing.
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
  /** Makes new tokens. */
  key: HmacKey;
  /** The older ones, too. */
  keys: KeyLookup;
  random?: RandomBytes;
}

type Account = Pick<User, 'id' | 'passwordHash'>;

/** Since the last sign-in; whoever signs in less often is a stranger again. */
const LIFE_MS = 180 * DAY_MS;
/** Accounts that share one browser; the oldest gives way. */
const ACCOUNTS_PER_BROWSER = 4;

const ID_BYTES = 12;
const TIME_BYTES = 6;
const MAC_BYTES = 16;
const CONTENT_BYTES = ID_BYTES + TIME_BYTES;
/** The key's id, then content and MAC. */
const TOKEN = /^[a-z0-9][A-Za-z0-9_-]{46}$/;
const BETWEEN_TOKENS = '.';
const MAX_CHARS = 48 * ACCOUNTS_PER_BROWSER;

/** For an address that no user has: as much work. */
const NOBODY: Account = { id: '', passwordHash: '' };

export class KnownBrowsers {
  readonly #kit: KnownBrowserKit;
  readonly #random: RandomBytes;

  constructor(kit: KnownBrowserKit) {
    this.#kit = kit;
    this.#random = kit.random ?? randomBytes;
  }

  /** After a sign-in; `brought` is what the cookie held so far, which may know the browser to other accounts. */
  remember(account: Account, brought: string | null): BrowserToken {
    const others = tokensIn(brought).filter((token) => this.#idOf(token, account) === null);
    const tokens = [this.#make(account), ...others].slice(0, ACCOUNTS_PER_BROWSER);
    return { value: tokens.join(BETWEEN_TOKENS), maxAgeMs: LIFE_MS };
  }

  /** By what the browser's tries are counted; null: it has not signed in to this account, or with another password. */
  recognize(account: Account | null, brought: string | null): string | null {
    const ids = tokensIn(brought).map((token) => this.#idOf(token, account ?? NOBODY));
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
    // The last character may hold bits that are not decoded: only one text is the token.
    if (bytes.toString('base64url') !== token.slice(1)) return null;
    const content = bytes.subarray(0, CONTENT_BYTES);
    if (!timingSafeEqual(bytes.subarray(CONTENT_BYTES), macOf(content, account, { id, key }))) return null;
    const expiresAt = content.readUIntBE(ID_BYTES, TIME_BYTES);
    return expiresAt > this.#kit.clock.now() ? content.toString('base64url', 0, ID_BYTES) : null;
  }
}

function tokensIn(brought: string | null): string[] {
  if (brought === null || brought.length > MAX_CHARS) return [];
  return brought.split(BETWEEN_TOKENS).filter((token) => TOKEN.test(token));
}

function macOf(content: Buffer, { id, passwordHash }: Account, key: HmacKey): Buffer {
  // Each part ends where the next begins: the label with a NUL, the content by its length, the id with a NUL.
  return createHmac('sha256', key.key)
    .update(`known browser of Postrider ${key.id}\0`)
    .update(content)
    .update(`${id}\0${passwordHash}`)
    .digest()
    .subarray(0, MAC_BYTES);
}
