// Signing in: password, then the second step for users who have set one up, then a new session. Addresses without an
// account are treated like all others: the same throttling, the same work, the same answer. Browsers that have signed
// in to the account before are counted apart (sign-in-attempts.ts).
//
// A sign-in is at its password, or between the steps (second-steps.ts: for five minutes and five codes), or done.
import { networkOf } from '../../base/ip-address.ts';
import type { User } from '../../store/tenants.ts';
import { actOf } from '../audit-log.ts';
import type { AccountKit, Client } from './account-kit.ts';
import type { BrowserToken } from './known-browsers.ts';
import type { StartedSession } from './sessions.ts';
import { type Attempt, attemptAt } from './sign-in-attempts.ts';
import { readEmail } from './users.ts';

export interface SignedIn {
  kind: 'signed_in';
  user: User;
  started: StartedSession;
  /** Makes this browser known at the next sign-in. */
  browser: BrowserToken;
  /** After a recovery code: how many are left. */
  recoveryCodesLeft: number | null;
}

export type SignInOutcome =
  | SignedIn
  /** A code is required next; the client sends `step` with it. */
  | { kind: 'second_step'; step: string }
  | { kind: 'wrong' }
  /** The password is right, but the address of the sign-up is not confirmed. */
  | { kind: 'unconfirmed'; user: User }
  /** The second step took too long or too many codes. */
  | { kind: 'expired' }
  | { kind: 'wait'; waitMs: number };

/** Until the password queue is shorter. */
const BUSY_WAIT_MS = 5_000;

const REFUSED = { wrong: 'wrong address, password or code', wait: 'too many tries' };

interface Login {
  email: string;
  password: string;
}

export class SignIn {
  readonly #kit: AccountKit;

  constructor(kit: AccountKit) {
    this.#kit = kit;
  }

  async withPassword(login: Login, client: Client): Promise<SignInOutcome> {
    return this.#logRefusal(await this.#tryPassword(login, client), client);
  }

  async withCode(entry: { step: string; code: string }, client: Client): Promise<SignInOutcome> {
    return this.#logRefusal(await this.#tryCode(entry, client), client);
  }

  async #tryPassword(login: Login, client: Client): Promise<SignInOutcome> {
    const { store, secondFactors, secondSteps } = this.#kit;
    const email = readEmail(login.email);
    const find = async () => (typeof email === 'string' ? store.accounts.findUserByEmail(email) : null);
    // Before the throttles only for clients with a cookie to be known by; again after them, since time has passed.
    const claimed = client.browser ? await find() : null;
    const typed = typeof email === 'string' ? email : login.email.toLowerCase();
    const attempt = attemptAt(this.#kit, { email: typed, account: claimed }, client);
    const waitMs = await this.#kit.throttles.take(attempt.gates);
    if (waitMs > 0) return { kind: 'wait', waitMs };
    const user = await find();
    const matches = await this.#kit.passwords.verify(login.password, user?.passwordHash ?? null, attempt.knownTo);
    if (matches === 'busy') return this.#busy(attempt);
    if (!user || !matches) return this.#failed(user, client);
    if (await store.accounts.isUnconfirmed(user.id)) return { kind: 'unconfirmed', user };
    if (await secondFactors.findConfirmed(user.id)) return { kind: 'second_step', step: secondSteps.begin(user) };
    return this.enter(user, client);
  }

  async #tryCode({ step, code }: { step: string; code: string }, client: Client): Promise<SignInOutcome> {
    const { secondFactors, secondSteps, throttles } = this.#kit;
    const user = await secondSteps.find(step);
    if (!user) return { kind: 'expired' };
    const waitMs = await throttles.take(this.#attemptOf(user, client).gates);
    if (waitMs > 0) return { kind: 'wait', waitMs };
    if (!secondSteps.countCode(step)) return { kind: 'expired' };
    const check = await secondFactors.check(user.id, code);
    if (check.kind === 'wrong') return this.#failed(user, client);
    secondSteps.end(step);
    return this.enter(user, client, check.kind === 'recovery' ? check.left : null);
  }

  /** For a proven user, as long as the password is still the one in `user`. */
  async enter(user: User, client: Client, recoveryCodesLeft: number | null = null): Promise<SignInOutcome> {
    const { store, sessions, clock, knownBrowsers } = this.#kit;
    const started = await sessions.startSession({ user, client: client.userAgent, address: client.ip });
    if (!started) return { kind: 'wrong' };
    // Checked after the session exists: a change of the password then ends either all sessions or this one.
    const isSame = (await store.accounts.getUser(user.id))?.passwordHash === user.passwordHash;
    if (!isSame) await store.accounts.endSession(user.id, started.session.id);
    if (!isSame) return { kind: 'wrong' };
    await this.#attemptOf(user, client).forgive();
    const data: Record<string, boolean> = recoveryCodesLeft === null ? {} : { recovery_code: true };
    await store.audit.recordAudit(actOf(user, { action: 'user.signed_in', at: clock.now(), address: client.ip, data }));
    const browser = knownBrowsers.remember(user, client.browser ?? null);
    return { kind: 'signed_in', user, started, browser, recoveryCodesLeft };
  }

  /** Requires the password again from a signed-in user, before important changes. */
  async confirmPassword(user: User, password: string, client: Client): Promise<'right' | 'wrong' | { waitMs: number }> {
    const attempt = this.#attemptOf(user, client);
    const waitMs = await this.#kit.throttles.take(attempt.gates);
    if (waitMs > 0) return { waitMs };
    const matches = await this.#kit.passwords.verify(password, user.passwordHash, attempt.knownTo);
    if (matches === 'busy') return this.#busy(attempt);
    if (matches) await attempt.forgive();
    else await this.#failed(user, client);
    return matches ? 'right' : 'wrong';
  }

  /** Recorded for an address without an account as well, so that the answer takes as long. */
  async #failed(user: User | null, { ip }: Client): Promise<{ kind: 'wrong' }> {
    const account = user && { userId: user.id, tenantId: user.tenantId, email: user.email };
    const at = this.#kit.clock.now();
    await this.#kit.store.audit.recordFailedSignIns([{ account, network: networkOf(ip), address: ip, at, count: 1 }]);
    return { kind: 'wrong' };
  }

  /** The log shows the network of failed attempts, but not what was typed: it may be a password. */
  #logRefusal(outcome: SignInOutcome, { ip: client }: Client): SignInOutcome {
    const { kind } = outcome;
    if (kind === 'wrong' || kind === 'wait') this.#kit.log.info({ client, reason: REFUSED[kind] }, 'sign-in refused');
    return outcome;
  }

  #attemptOf(account: User, client: Client): Attempt {
    return attemptAt(this.#kit, { email: account.email, account }, client);
  }
  /** The password was not compared: a server that others keep busy must not lock users out. */
  async #busy({ gates }: Attempt): Promise<{ kind: 'wait'; waitMs: number }> {
    await this.#kit.throttles.settle({ refunded: gates });
    return { kind: 'wait', waitMs: BUSY_WAIT_MS };
  }
}
