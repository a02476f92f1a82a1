// What the account services share: signing in, links by mail, signing up, members.
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { Vault } from '../base/vault.ts';
import type { Logger } from '../observe/log.ts';
import type { Store } from '../store/store.ts';
import type { TokenKeys } from './account-token.ts';
import { AttemptThrottle, type ThrottleRule } from './attempt-throttle.ts';
import { KnownBrowsers } from './known-browsers.ts';
import { PasswordQueue } from './password-queue.ts';
import { SecondFactors } from './second-factors.ts';
import type { SecondStepFor } from './second-step-rule.ts';
import { SecondSteps } from './second-steps.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** The client of a request. */
export interface Client {
  ip: string;
  userAgent: string;
  /** The known-browser cookie, if any. */
  browser?: string | null;
}

export interface AccountParts {
  store: Pick<Store, 'accounts' | 'audit' | 'tenants'>;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  vault: Vault;
  /** `service.base_url`, for links in mails. */
  baseUrl: string;
  /** Gets mail about sign-ups; when null, the operators do. */
  operatorAddress: string | null;
  signUpOpen: boolean;
  /** `portal.require_second_step`. */
  secondStepFor: SecondStepFor;
  /** Sign what browsers keep of an account. */
  browserKeys: TokenKeys;
  /** Sends a mail in the background; failures are logged. */
  notify(to: readonly string[], notice: { subject: string; text: string; key: string }): void;
}

/** Without the vault, which only second factors need. */
export interface AccountKit extends Omit<AccountParts, 'vault' | 'browserKeys'> {
  passwords: PasswordQueue;
  secondFactors: SecondFactors;
  secondSteps: SecondSteps;
  sessions: Sessions;
  knownBrowsers: KnownBrowsers;
  throttles: AccountThrottles;
  /** Runs after the response, whose timing must not reveal what was found. */
  inBackground(work: () => Promise<void>): void;
}

export interface AccountThrottles {
  /** One address from one network: a guesser reaches this limit first, without affecting anyone else. */
  pair: AttemptThrottle;
  /** One address from any network. */
  address: AttemptThrottle;
  /** One network, over all addresses it tries. */
  network: AttemptThrottle;
  /** One IPv6 site (/48), which has 65,536 networks. */
  site: AttemptThrottle;
  /** One browser that has signed in to the account before; none of the above counts its attempts. */
  browser: AttemptThrottle;
  /** All known browsers of one account: their own share, which strangers cannot use up. */
  browsers: AttemptThrottle;
  /** Mails that a client without a session can trigger. */
  mailsTo: AttemptThrottle;
  mailsFrom: AttemptThrottle;
  mails: AttemptThrottle;
  /** Invitations of one tenant. */
  invitations: AttemptThrottle;
  /** New passwords with one link, since each takes a slot of the password queue. */
  links: AttemptThrottle;
}

const RULES: Record<keyof AccountThrottles, ThrottleRule> = {
  pair: { freeTries: 5, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  address: { freeTries: 50, firstWaitMs: MINUTE_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  network: { freeTries: 40, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  // One site may be a company or a campus with many people.
  site: { freeTries: 160, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  browser: { freeTries: 5, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  browsers: { freeTries: 50, firstWaitMs: MINUTE_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  mailsTo: { freeTries: 3, firstWaitMs: 10 * MINUTE_MS, longestWaitMs: HOUR_MS, forgetAfterMs: 6 * HOUR_MS },
  mailsFrom: { freeTries: 10, firstWaitMs: 5 * MINUTE_MS, longestWaitMs: HOUR_MS, forgetAfterMs: 2 * HOUR_MS },
  // Over all clients: many networks together must not make us send a flood. Ten a minute once the limit is reached.
  mails: { freeTries: 300, firstWaitMs: 6 * SECOND_MS, longestWaitMs: 6 * SECOND_MS, forgetAfterMs: 10 * MINUTE_MS },
  invitations: { freeTries: 60, firstWaitMs: 5 * MINUTE_MS, longestWaitMs: 30 * MINUTE_MS, forgetAfterMs: DAY_MS },
  links: { freeTries: 5, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
};

export function createAccountKit(parts: AccountParts): AccountKit {
  const { vault, browserKeys, ...shared } = parts;
  const { store, clock, ids, log } = shared;
  const throttle = (name: keyof AccountThrottles) => new AttemptThrottle(clock, RULES[name]);
  return {
    ...shared,
    passwords: new PasswordQueue(),
    secondFactors: new SecondFactors({ store, clock, vault }),
    secondSteps: new SecondSteps({ store, clock, ...browserKeys }),
    sessions: createSessions({ store, clock, ids }),
    knownBrowsers: new KnownBrowsers({ clock, ...browserKeys }),
    throttles: {
      pair: throttle('pair'),
      address: throttle('address'),
      network: throttle('network'),
      site: throttle('site'),
      browser: throttle('browser'),
      browsers: throttle('browsers'),
      mailsTo: throttle('mailsTo'),
      mailsFrom: throttle('mailsFrom'),
      mails: throttle('mails'),
      invitations: throttle('invitations'),
      links: throttle('links'),
    },
    inBackground(work) {
      work().catch((error: unknown) => {
        log.error({ error }, `work for somebody who is not signed in: ${describeError(error)}`);
      });
    },
  };
}
