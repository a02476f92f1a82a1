// AUTH at the SMTP door: any user name, and an API key as the password. Wrong keys are throttled by network. A key that
// has signed in from a network before is not affected: one application with an old key must not lock out the others
// behind the same address.

import { BoundedMap } from '../../base/bounded-map.ts';
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { networkOf, siteOf } from '../../base/ip-address.ts';
import type { RateVerdict } from '../../base/rate-limiter.ts';
import type { ThrottleRule } from '../../base/throttle-rule.ts';
import type { SmtpReply } from '../../smtp-listener/smtp-reply.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { Tier } from '../../store/tenants.ts';
import { parseApiKey, verifyApiKey } from '../../tenants/api-keys.ts';
import { AttemptThrottle, type Gates, takeAttempt } from '../../tenants/attempt-throttle.ts';
import { whyInactive } from '../../tenants/why-inactive.ts';
import type { Sender } from '../sender.ts';
import type { LoginOutcome } from './door-counts.ts';

type CallVerdict = Pick<RateVerdict, 'allowed' | 'retryAfterSecs'>;

export interface KeyLoginOptions {
  store: StoreVerbs<{ keys: 'findApiKey' | 'findApiKeyBySecret' }>;
  clock: Clock;
  /** Open connections per API key. */
  connectionsPerKey: number;
  /** Counts a call of this key, as the API does. */
  takeCall(keyId: string, tier: Tier): CallVerdict | Promise<CallVerdict>;
  keyUsed(keyId: string): void;
}

export interface Login {
  sender: Sender;
  publicId: string;
}

export interface LoginRefusal extends SmtpReply {
  why: Exclude<LoginOutcome, 'accepted'>;
}

/** As for signing in to the portal: a network may be an office with many applications. */
const OF_NETWORK: ThrottleRule = {
  freeTries: 40,
  firstWaitMs: 30 * SECOND_MS,
  longestWaitMs: 15 * MINUTE_MS,
  forgetAfterMs: 2 * HOUR_MS,
};
const OF_SITE: ThrottleRule = { ...OF_NETWORK, freeTries: 160 };
const MAX_KNOWN = 50_000;
const MAX_REPLY_CHARACTERS = 480;

const WRONG_KEY: LoginRefusal = {
  why: 'wrong_key',
  code: 535,
  text: '5.7.8 The API key is unknown or revoked; use an API key (pr_...) as the password',
};
const NO_SCOPE: LoginRefusal = {
  why: 'no_scope',
  code: 535,
  text: '5.7.8 This API key lacks the scope emails:send; use another key',
};
const TOO_MANY_CONNECTIONS: LoginRefusal = {
  why: 'too_many_connections',
  code: 421,
  text: '4.7.0 Too many connections with this API key are open; reuse them, or connect again later',
};
const REVOKED: SmtpReply = { code: 421, text: '4.7.0 The API key was revoked; connect again with another key' };

export class KeyLogins {
  readonly #options: KeyLoginOptions;
  readonly #ofNetwork: AttemptThrottle;
  readonly #ofSite: AttemptThrottle;
  /** Network and public ID of keys that have signed in. */
  readonly #known = new BoundedMap<string, true>(MAX_KNOWN);
  /** Connections by key ID. */
  readonly #open = new Map<string, number>();

  constructor(options: KeyLoginOptions) {
    this.#options = options;
    this.#ofNetwork = new AttemptThrottle(options.clock, OF_NETWORK);
    this.#ofSite = new AttemptThrottle(options.clock, OF_SITE);
  }

  /** Each login must be given back with `leave`. */
  async enter(password: string, ip: string): Promise<Login | LoginRefusal> {
    const gates = this.#gatesOf(ip);
    const name = `${networkOf(ip)} ${parseApiKey(password)?.publicId ?? ''}`;
    const isKnown = this.#known.has(name);
    const waitMs = isKnown ? 0 : takeAttempt(gates);
    if (waitMs > 0) return throttled(waitMs);
    const refund = () => {
      if (!isKnown) for (const [throttle, gate] of gates) throttle.refund(gate);
    };
    const found = await verifyApiKey(password, this.#options.store).catch((error: unknown) => {
      refund(); // Nobody knows whether the key is wrong.
      throw error;
    });
    if (!found) return WRONG_KEY;
    const { key, tenant } = found;
    refund();
    this.#known.set(name, true);
    this.#options.keyUsed(key.id);
    const why = whyInactive(tenant);
    if (why !== null) return inactive(why);
    if (!key.scopes.includes('emails:send')) return NO_SCOPE;
    const open = this.#open.get(key.id) ?? 0;
    if (open >= this.#options.connectionsPerKey) return TOO_MANY_CONNECTIONS;
    this.#open.set(key.id, open + 1);
    const { id, tenantId, boundDomain, publicId } = key;
    return { sender: { id, tenantId, boundDomain }, publicId };
  }

  leave({ sender: { id } }: Login): void {
    const open = (this.#open.get(id) ?? 0) - 1;
    if (open > 0) this.#open.set(id, open);
    else this.#open.delete(id);
  }

  /** At MAIL FROM, which may come long after AUTH. Null: the key may send, and the call is counted. */
  async refusalOfCall({ publicId }: Login): Promise<SmtpReply | null> {
    const { store, keyUsed, takeCall } = this.#options;
    const found = await store.keys.findApiKey(publicId);
    if (!found || found.key.revokedAt !== null) return REVOKED;
    const { key, tenant } = found;
    keyUsed(key.id);
    const why = whyInactive(tenant);
    if (why !== null) return inactive(why);
    const { allowed, retryAfterSecs } = await takeCall(key.id, tenant.tier);
    if (allowed) return null;
    const text = `4.7.1 This API key has exceeded its allowed rate; try again in ${retryAfterSecs} s`;
    return { code: 451, text };
  }

  #gatesOf(ip: string): Gates {
    const site = siteOf(ip);
    return [[this.#ofNetwork, networkOf(ip)], ...(site === null ? [] : [[this.#ofSite, site] as const])];
  }
}

export function isRefused(answer: Login | LoginRefusal): answer is LoginRefusal {
  return 'code' in answer;
}

function throttled(waitMs: number): LoginRefusal {
  const secs = Math.ceil(waitMs / SECOND_MS);
  const text = `4.7.0 Too many wrong API keys from your network; connect again in ${secs} s`;
  return { why: 'throttled', code: 421, text };
}

function inactive(why: string): LoginRefusal {
  // RFC 5321 section 4.5.3.1.5 limits the line.
  return { why: 'inactive', code: 454, text: `4.7.0 ${why}`.slice(0, MAX_REPLY_CHARACTERS) };
}
