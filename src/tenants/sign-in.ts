// Signing in: password, then the second step for whoever has set one up, then a session that did not exist before.
// Addresses that nobody has are treated like all others: the same throttling, the same work, the same answer.
// Browsers that have signed in to the account before are counted apart (sign-in-attempts.ts).
//
// A sign-in is at its password, or between the steps (kept here for five minutes and five codes), or done.
import { BoundedMap } from '../base/bounded-map.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { networkOf } from '../base/ip-address.ts';
import type { User } from '../store/tenants.ts';
import type { AccountKit, Client } from './account-kit.ts';
import { takeTry } from './attempt-throttle.ts';
import { actOf } from './audit-log.ts';
import type { BrowserToken } from './known-browsers.ts';
import { newToken } from './secret-tokens.ts';
import type { StartedSession } from './sessions.ts';
import { type Attempt, attemptAt } from './sign-in-attempts.ts';
import { readEmail } from './users.ts';

export interface SignedIn {
  kind: 'signed_in';
  user: User;
  started: StartedSession;
  /** By which this browser is known the next time. */
  browser: BrowserToken;
  /** After a recovery code: how many are left. */
  recoveryCodesLeft: number | null;
}

export type SignInOutcome =
  | SignedIn
  /** A code is asked for next; `step` comes back with it. */
  | { kind: 'second_step'; step: string }
  | { kind: 'wrong' }
  /** The password is right, and the address of the sign-up is not confirmed. */
  | { kind: 'unconfirmed'; user: User }
  /** The second step took too long, or too many codes. */
  | { kind: 'expired' }
  | { kind: 'wait'; waitMs: number };

interface Between {
  user: User;
  until: number;
  codes: number;
}

const STEP_LIFE_MS = 5 * MINUTE_MS;
const CODES_PER_STEP = 5;
const STEPS_AT_ONCE = 10_000;
/** Until the line of passwords is shorter. */
const BUSY_WAIT_MS = 5_000;

const REFUSED = { wrong: 'wrong address, password or code', wait: 'too many tries' };

interface Login {
  email: string;
  password: string;
}

export class SignIn {
  readonly #kit: AccountKit;
  /** Oldest first. */
  readonly #between = new BoundedMap<string, Between>(STEPS_AT_ONCE);

  constructor(kit: AccountKit) {
    this.#kit = kit;
  }

  async withPassword(login: Login, client: Client): Promise<SignInOutcome> {
    return this.#told(await this.#tryPassword(login, client), client);
  }

  async withCode(entry: { step: string; code: string }, client: Client): Promise<SignInOutcome> {
    return this.#told(await this.#tryCode(entry, client), client);
  }

  async #tryPassword(login: Login, client: Client): Promise<SignInOutcome> {
    const { store, secondFactors } = this.#kit;
    const email = readEmail(login.email);
    const find = async () => (typeof email === 'string' ? store.accounts.findUserByEmail(email) : null);
    // Before the gates only for who brings something to be known by; again behind them, where time has passed.
    const claimed = client.browser ? await find() : null;
    const typed = typeof email === 'string' ? email : login.email.toLowerCase();
    const attempt = attemptAt(this.#kit, { email: typed, account: claimed }, client);
    const waitMs = takeTry(attempt.gates);
    if (waitMs > 0) return { kind: 'wait', waitMs };
    const user = await find();
    const holds = await this.#kit.passwords.verify(login.password, user?.passwordHash ?? null, attempt.knownTo);
    if (holds === 'busy') return busy(attempt);
    if (!user || !holds) return this.#failed(user, client);
    if (await store.accounts.isUnconfirmed(user.id)) return { kind: 'unconfirmed', user };
    if (await secondFactors.inForce(user.id)) return { kind: 'second_step', step: this.#remember(user) };
    return this.enter(user, client);
  }

  async #tryCode({ step, code }: { step: string; code: string }, client: Client): Promise<SignInOutcome> {
    const { store, secondFactors, clock } = this.#kit;
    const between = this.#between.get(step);
    if (!between || between.until <= clock.now() || between.codes >= CODES_PER_STEP) {
      this.#between.delete(step);
      return { kind: 'expired' };
    }
    const waitMs = takeTry(this.#attemptOf(between.user, client).gates);
    if (waitMs > 0) return { kind: 'wait', waitMs };
    between.codes++;
    const user = await store.accounts.getUser(between.user.id);
    // Somebody has set another password in the meantime: this one has not been asked for.
    if (user?.passwordHash !== between.user.passwordHash) return { kind: 'expired' };
    const check = await secondFactors.check(user.id, code);
    if (check.kind === 'wrong') return this.#failed(user, client);
    this.#between.delete(step);
    return this.enter(user, client, check.kind === 'recovery' ? check.left : null);
  }

  /** For somebody who has proved to be the user, as long as the password is the one that `user` has. */
  async enter(user: User, client: Client, recoveryCodesLeft: number | null = null): Promise<SignInOutcome> {
    const { store, sessions, clock, knownBrowsers } = this.#kit;
    const started = await sessions.startSession({ user, client: client.userAgent, address: client.ip });
    if (!started) return { kind: 'wrong' };
    // Looked at after the session is there: a change of the password ends either all sessions or this one.
    const isSame = (await store.accounts.getUser(user.id))?.passwordHash === user.passwordHash;
    if (!isSame) await store.accounts.endSession(user.id, started.session.id);
    if (!isSame) return { kind: 'wrong' };
    this.#attemptOf(user, client).forgive();
    const data: Record<string, boolean> = recoveryCodesLeft === null ? {} : { recovery_code: true };
    await store.audit.recordAudit(actOf(user, { action: 'user.signed_in', at: clock.now(), address: client.ip, data }));
    const browser = knownBrowsers.remember(user, client.browser ?? null);
    return { kind: 'signed_in', user, started, browser, recoveryCodesLeft };
  }

  /** Asks once more for the password of somebody who is signed in, before what matters. */
  async asksAgain(user: User, password: string, client: Client): Promise<'right' | 'wrong' | { waitMs: number }> {
    const attempt = this.#attemptOf(user, client);
    const waitMs = takeTry(attempt.gates);
    if (waitMs > 0) return { waitMs };
    const holds = await this.#kit.passwords.verify(password, user.passwordHash, attempt.knownTo);
    if (holds === 'busy') return busy(attempt);
    if (holds) attempt.forgive();
    else await this.#failed(user, client);
    return holds ? 'right' : 'wrong';
  }

  /** Written down for an address that nobody has as well: the answer takes as long. */
  async #failed(user: User | null, { ip }: Client): Promise<{ kind: 'wrong' }> {
    const account = user && { userId: user.id, tenantId: user.tenantId, email: user.email };
    const at = this.#kit.clock.now();
    await this.#kit.store.audit.recordFailedSignIns([{ account, network: networkOf(ip), address: ip, at, count: 1 }]);
    return { kind: 'wrong' };
  }

  /** Who tries passwords is seen in the log, by their network alone: what they typed may be a password. */
  #told(outcome: SignInOutcome, { ip: client }: Client): SignInOutcome {
    const { kind } = outcome;
    if (kind === 'wrong' || kind === 'wait') this.#kit.log.info({ client, reason: REFUSED[kind] }, 'sign-in refused');
    return outcome;
  }

  #attemptOf(account: User, client: Client): Attempt {
    return attemptAt(this.#kit, { email: account.email, account }, client);
  }

  #remember(user: User): string {
    const step = newToken();
    this.#between.set(step, { user, until: this.#kit.clock.now() + STEP_LIFE_MS, codes: 0 });
    return step;
  }
}

/** Nothing was compared: a server that others keep busy must not lock anybody out. */
function busy({ gates }: Attempt): { kind: 'wait'; waitMs: number } {
  for (const [throttle, key] of gates) throttle.refund(key);
  return { kind: 'wait', waitMs: BUSY_WAIT_MS };
}
