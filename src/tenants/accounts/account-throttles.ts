// Limits what people who are not signed in may try, over all nodes and across restarts: the counts are in the store, each
// under a keyed hash, so that neither addresses nor networks can be read or guessed from it. An attempt counts before it is
// made, in one transaction at all that it counts for, so that concurrent ones can't bypass a limit.
import { createHmac } from 'node:crypto';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { ThrottleRule } from '../../base/throttle-rule.ts';
import type { Logger } from '../../observe/log.ts';
import type { HmacKey } from '../../protocol/mail/addresses/message-token.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { type SweptStore, sweepAttempts } from '../limit-sweep.ts';

const RULES = {
  /** One address from one network: a guesser reaches this limit first, without affecting anyone else. */
  pair: { freeTries: 5, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  /** One address from any network. */
  address: { freeTries: 50, firstWaitMs: MINUTE_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  /** One network, over all addresses it tries. */
  network: { freeTries: 40, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  /** One IPv6 site (/48), which has 65,536 networks; it may be a company or a campus with many people. */
  site: { freeTries: 160, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  /** One browser that has signed in to the account before; none of the above counts its attempts. */
  browser: { freeTries: 5, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  /** All known browsers of one account: their own share, which strangers cannot use up. */
  browsers: { freeTries: 50, firstWaitMs: MINUTE_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  /** Mails to one address that a client without a session can trigger. */
  mailsTo: { freeTries: 3, firstWaitMs: 10 * MINUTE_MS, longestWaitMs: HOUR_MS, forgetAfterMs: 6 * HOUR_MS },
  mailsFrom: { freeTries: 10, firstWaitMs: 5 * MINUTE_MS, longestWaitMs: HOUR_MS, forgetAfterMs: 2 * HOUR_MS },
  /** Over all clients: many networks together must not make us send a flood. Ten a minute once the limit is reached. */
  mails: { freeTries: 300, firstWaitMs: 6 * SECOND_MS, longestWaitMs: 6 * SECOND_MS, forgetAfterMs: 10 * MINUTE_MS },
  /** Invitations of one tenant. */
  invitations: { freeTries: 60, firstWaitMs: 5 * MINUTE_MS, longestWaitMs: 30 * MINUTE_MS, forgetAfterMs: DAY_MS },
  /** New passwords with one link, since each takes a slot of the password queue. */
  links: { freeTries: 5, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
} as const satisfies Record<string, ThrottleRule>;

/** What one attempt counts for. */
export type Gates = readonly (readonly [rule: keyof typeof RULES, whose: string])[];

export interface AccountThrottleKit {
  store: StoreVerbs<{ limits: 'takeAttempt' | 'settleAttempt' }> & SweptStore;
  clock: Clock;
  log: Logger;
  key: HmacKey;
}

/** An attacker who comes from everywhere adds rows as fast as requests come, not only once an hour. */
const SWEEP_AFTER_ATTEMPTS = 1000;

const KEY_BYTES = 16;

export class AccountThrottles {
  readonly #kit: AccountThrottleKit;
  #sinceSweep = 0;

  constructor(kit: AccountThrottleKit) {
    this.#kit = kit;
  }

  /** 0 when an attempt is allowed, which is then counted; otherwise how long to wait. */
  take(gates: Gates): Promise<number> {
    const { store, clock } = this.#kit;
    if (++this.#sinceSweep >= SWEEP_AFTER_ATTEMPTS) this.#sweep();
    const counted = gates.map((gate) => ({ key: this.#keyOf(gate), rule: RULES[gate[0]] }));
    return store.limits.takeAttempt(counted, clock.now());
  }

  /** Forgets the attempts at some gates; at others takes back one, which was not a guess. */
  async settle({ forgiven = [], refunded = [] }: { forgiven?: Gates; refunded?: Gates }): Promise<void> {
    const keysOf = (gates: Gates) => gates.map((gate) => this.#keyOf(gate));
    await this.#kit.store.limits.settleAttempt({ forgiven: keysOf(forgiven), refunded: keysOf(refunded) });
  }

  #keyOf([rule, whose]: Gates[number]): Buffer {
    const { key } = this.#kit.key;
    return createHmac('sha256', key).update(`throttle of Postrider ${rule}\0${whose}`).digest().subarray(0, KEY_BYTES);
  }

  #sweep(): void {
    const { store, clock, log } = this.#kit;
    this.#sinceSweep = 0;
    sweepAttempts({ store, clock }).catch((error: unknown) => {
      log.error({ error }, `old attempts to sign in could not be erased: ${describeError(error)}`);
    });
  }
}
