// What one try to sign in counts for, and what a right password forgives. A stranger's try counts for the account, the
// address and the networks around it, so each of them can be used up by others. A browser that has signed in to the
// account before is counted for itself and within a share of the account that no stranger can touch: neither guesses
// from the same office nor from everywhere keep it out, and somebody who has stolen its cookie has few tries.

import { networkOf, siteOf } from '../base/ip-address.ts';
import type { User } from '../store/tenants.ts';
import type { AccountKit, AccountThrottles, Client } from './account-kit.ts';
import type { Gates } from './attempt-throttle.ts';

export interface Attempt {
  gates: Gates;
  /** The account that the browser has signed in to before. */
  knownTo: string | null;
  /** After the right password: their own tries, not those of the others. */
  forgive(): void;
}

export interface Target {
  /** As it was typed, if nobody can have it. */
  email: string;
  /** Null also for one that was not looked for, since nothing came along to be known by. */
  account: User | null;
}

export function attemptAt(
  { throttles, knownBrowsers }: Pick<AccountKit, 'throttles' | 'knownBrowsers'>,
  { email, account }: Target,
  client: Client,
): Attempt {
  const browser = knownBrowsers.recognize(account, client.browser ?? null);
  return account && browser !== null
    ? attemptOfKnown(throttles, account.id, browser)
    : attemptOfStranger(throttles, email, client.ip);
}

function attemptOfKnown({ browser, browsers }: AccountThrottles, account: string, id: string): Attempt {
  return {
    gates: [
      [browser, id],
      [browsers, account],
    ],
    knownTo: account,
    forgive() {
      browser.forgive(id);
      browsers.refund(account);
    },
  };
}

function attemptOfStranger({ pair, address, network, site }: AccountThrottles, email: string, ip: string): Attempt {
  const [from, wide] = [networkOf(ip), siteOf(ip)];
  const both = `${from} ${email}`;
  const shared: Gates = [[network, from], ...(wide === null ? [] : [[site, wide] as const])];
  return {
    gates: [[pair, both], [address, email], ...shared],
    knownTo: null,
    forgive() {
      pair.forgive(both);
      address.forgive(email);
      for (const [throttle, key] of shared) throttle.refund(key);
    },
  };
}
