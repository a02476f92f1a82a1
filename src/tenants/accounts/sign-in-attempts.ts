// What one attempt to sign in is counted for, and what a right password resets. A stranger's attempt counts for the
// account, the address and the networks around it, so others can use up each of these. A browser that has signed in to
// the account before is counted for itself and within a share of the account that strangers can't use: guesses from the
// same office or from everywhere don't lock it out, and a thief of its cookie has few attempts.

import { networkOf, siteOf } from '../../base/ip-address.ts';
import type { User } from '../../store/tenants.ts';
import type { AccountKit, Client } from './account-kit.ts';
import type { AccountThrottles, Gates } from './account-throttles.ts';

export interface Attempt {
  gates: Gates;
  /** The account that the browser has signed in to before. */
  knownTo: string | null;
  /** After the right password: resets its own attempts, not those of others. */
  forgive(): Promise<void>;
}

export interface Target {
  /** As it was typed, if it is not a valid address. */
  email: string;
  /** Null as well when it was not looked up, since the client has no known-browser cookie. */
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

function attemptOfKnown(throttles: AccountThrottles, account: string, id: string): Attempt {
  const own: Gates = [['browser', id]];
  const shared: Gates = [['browsers', account]];
  return {
    gates: [...own, ...shared],
    knownTo: account,
    forgive: () => throttles.settle({ forgiven: own, refunded: shared }),
  };
}

function attemptOfStranger(throttles: AccountThrottles, email: string, ip: string): Attempt {
  const [from, wide] = [networkOf(ip), siteOf(ip)];
  const own: Gates = [
    ['pair', `${from} ${email}`],
    ['address', email],
  ];
  const shared: Gates = [['network', from], ...(wide === null ? [] : [['site', wide] as const])];
  return {
    gates: [...own, ...shared],
    knownTo: null,
    forgive: () => throttles.settle({ forgiven: own, refunded: shared }),
  };
}
