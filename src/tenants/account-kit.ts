// What the services around accounts share: signing in, links by mail, signing up, members.
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { Vault } from '../base/vault.ts';
import type { Logger } from '../observe/log.ts';
import type { Store } from '../store/store.ts';
import { AttemptThrottle, type ThrottleRule } from './attempt-throttle.ts';
import { type KnownBrowserKit, KnownBrowsers } from './known-browsers.ts';
import { PasswordLine } from './password-line.ts';
import { SecondFactors } from './second-factors.ts';
import type { SecondStepFor } from './second-step-rule.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** Where a request came from. */
export interface Client {
  ip: string;
  userAgent: string;
  /** What earlier sign-ins have left in the browser, if anything. */
  browser?: string | null;
}

export interface AccountParts {
  store: Pick<Store, 'accounts' | 'audit' | 'tenants'>;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  vault: Vault;
  /** `service.base_url`: where links in mails lead. */
  baseUrl: string;
  /** Hears of sign-ups; when it is not set, the operators do. */
  operatorAddress: string | null;
  signUpOpen: boolean;
  /** `portal.require_second_step`. */
  secondStepFor: SecondStepFor;
  browserKeys: Pick<KnownBrowserKit, 'key' | 'keys'>;
  /** Does not wait, and tells the log what could not be sent. */
  tell(to: readonly string[], notice: { subject: string; text: string; key: string }): void;
}

/** Without the vault: only second factors are kept in it. */
export interface AccountKit extends Omit<AccountParts, 'vault' | 'browserKeys'> {
  passwords: PasswordLine;
  secondFactors: SecondFactors;
  sessions: Sessions;
  knownBrowsers: KnownBrowsers;
  throttles: AccountThrottles;
  /** Goes on after the answer, which must not tell by its time what was found. */
  inBackground(work: () => Promise<void>): void;
}

export interface AccountThrottles {
  /** One address from one network: what a guesser meets first, and nobody else does. */
  pair: AttemptThrottle;
  /** One address from everywhere. */
  address: AttemptThrottle;
  /** One network, whatever addresses it tries. */
  network: AttemptThrottle;
  /** One IPv6 site (/48), which has 65,536 networks. */
  site: AttemptThrottle;
  /** One browser that has signed in to the account before; nothing of the above counts for it. */
  browser: AttemptThrottle;
  /** All such browsers of one account: their share of it, which strangers cannot use up. */
  browsers: AttemptThrottle;
  /** Mails that somebody who is not signed in can make us send. */
  mailsTo: AttemptThrottle;
  mailsFrom: AttemptThrottle;
  mails: AttemptThrottle;
  /** Invitations of one tenant. */
  invitations: AttemptThrottle;
  /** New passwords with one link: each is work for the line of passwords. */
  links: AttemptThrottle;
}

const RULES: Record<keyof AccountThrottles, ThrottleRule> = {
  pair: { freeTries: 5, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  address: { freeTries: 50, firstWaitMs: MINUTE_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  network: { freeTries: 40, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  // Of a company or a campus there may be many people behind one site.
  site: { freeTries: 160, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  browser: { freeTries: 5, firstWaitMs: 30 * SECOND_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  browsers: { freeTries: 50, firstWaitMs: MINUTE_MS, longestWaitMs: 15 * MINUTE_MS, forgetAfterMs: 2 * HOUR_MS },
  mailsTo: { freeTries: 3, firstWaitMs: 10 * MINUTE_MS, longestWaitMs: HOUR_MS, forgetAfterMs: 6 * HOUR_MS },
  mailsFrom: { freeTries: 10, firstWaitMs: 5 * MINUTE_MS, longestWaitMs: HOUR_MS, forgetAfterMs: 2 * HOUR_MS },
  // Of all together: many networks must not make a flood of ours. Ten a minute once it has begun.
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
    passwords: new PasswordLine(),
    secondFactors: new SecondFactors({ store, clock, vault }),
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
