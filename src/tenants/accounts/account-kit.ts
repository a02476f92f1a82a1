// What the account services share: signing in, links by mail, signing up, members.
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Vault } from '../../base/vault.ts';
import type { Logger } from '../../observe/log.ts';
import type { Store } from '../../store/store.ts';
import { AccountThrottles } from './account-throttles.ts';
import type { TokenKeys } from './account-token.ts';
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
  store: Pick<Store, 'accounts' | 'audit' | 'tenants' | 'limits'>;
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
  /** Sign what browsers keep of an account; the newest also hides what throttles count for. */
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

export function createAccountKit(parts: AccountParts): AccountKit {
  const { vault, browserKeys, ...shared } = parts;
  const { store, clock, ids, log } = shared;
  return {
    ...shared,
    passwords: new PasswordQueue(),
    secondFactors: new SecondFactors({ store, clock, vault }),
    secondSteps: new SecondSteps({ store, clock, ...browserKeys }),
    sessions: createSessions({ store, clock, ids }),
    knownBrowsers: new KnownBrowsers({ clock, ...browserKeys }),
    throttles: new AccountThrottles({ store, clock, log, key: browserKeys.key }),
    inBackground(work) {
      work().catch((error: unknown) => {
        log.error({ error }, `work for somebody who is not signed in: ${describeError(error)}`);
      });
    },
  };
}
