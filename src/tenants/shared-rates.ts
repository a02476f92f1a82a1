// How often keys may call where several nodes share a store. The bucket of a key is in the store; a node spends what it
// knows to be there, and pays afterwards, for many calls and keys at once. No call waits for the store, except when a node
// has spent a chunk that is not paid yet: 5 % of a minute's calls, or one call where that is more. Each node can be ahead of
// the store by no more than that: all together let through at most limit × (1 + nodes × 5 %).
import { BoundedMap } from '../base/bounded-map.ts';
import { type Clock, MINUTE_MS, SECOND_MS, steadyClock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { bucketOf, MAX_KEYS, type Rates, type RateVerdict, UNLIMITED, verdictOn } from '../base/rate-limiter.ts';
import { fullAfter, type TokenBucket, tokenWaitMs } from '../base/token-bucket.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';

export interface SharedRatesKit {
  store: StoreVerbs<{ limits: 'spendCalls' }>;
  clock: Clock;
  log: Logger;
  /** How many nodes live, as far as this one knows. */
  nodes(): number;
  /** How long calls wait for a payment. */
  lateMs?: number;
  /** Null: only `pay` pays what is less than half a chunk, in tests. */
  tickMs?: number | null;
}

/** Costs are times: what a key earns in 60 s is a minute's worth of calls, whatever its limit. */
const CHUNK_MS = 0.05 * MINUTE_MS;
/** Ahead of need: the rest of the chunk is spent while the payment is under way. */
const PAY_FROM_MS = CHUNK_MS / 2;
/** For keys that call too seldom to spend half a chunk in this time. */
const TICK_MS = 5 * SECOND_MS;
const LATE_MS = 2 * SECOND_MS;
const KEYS_PER_PAYMENT = 1000;
/** Of payments. What is less is carried over, so that nothing is lost by rounding. */
const UNIT_MS = 1;

interface Account {
  /** By what this node knows: its own spending is in it, that of others up to the last payment. */
  fullAt: number;
  /** What it has spent and not paid. */
  unpaidMs: number;
}

interface Payment {
  id: string;
  account: Account;
  costMs: number;
  /** What is not owed any more once it is paid. */
  coversMs: number;
}

/*
 * A node is with the store, or alone: alone from the first payment that fails or takes too long, until one succeeds. Then
 * it spends only its share, as if each node had a bucket that fills in the same time with a part of the tokens.
 */
export class SharedRates implements Rates {
  readonly #kit: SharedRatesKit;
  readonly #clock: Clock;
  readonly #accounts = new BoundedMap<string, Account>(MAX_KEYS);
  /** Keys of accounts that have something unpaid, the longest unpaid one first. */
  readonly #unpaid = new Set<string>();
  readonly #timer: NodeJS.Timeout | null = null;
  /** Until the store has answered; null: no payment is under way. */
  #sending: Promise<void> | null = null;
  /** Until it has answered, or is late. */
  #awaited: Promise<void> = Promise.resolve();
  #isAlone = false;

  constructor(kit: SharedRatesKit) {
    this.#kit = kit;
    this.#clock = steadyClock(kit.clock);
    const { tickMs = TICK_MS } = kit;
    if (tickMs !== null) this.#timer = setInterval(() => void this.pay(), tickMs).unref();
  }

  take(keyId: string, perMinute: number | null): RateVerdict | Promise<RateVerdict> {
    if (perMinute === null) return UNLIMITED;
    const mustPay = this.#mustPayFirst(keyId, perMinute);
    return mustPay ? this.#takeAfterPayment(keyId, perMinute) : this.#take(keyId, perMinute);
  }

  charge(keyId: string, perMinute: number | null, tokens: number): RateVerdict {
    return perMinute === null ? UNLIMITED : this.#spend(keyId, perMinute, tokens);
  }

  /** Pays all that is unpaid. Never rejects: what can't be paid now stays unpaid. */
  async pay(): Promise<void> {
    await this.#awaited;
    for (let left = Math.ceil(this.#unpaid.size / KEYS_PER_PAYMENT); left > 0; left--) {
      await this.#startPayment();
      if (this.#isAlone) return;
    }
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.pay();
  }

  /** There may be tokens, but this node has spent all that it may spend before it asks. */
  #mustPayFirst(keyId: string, perMinute: number): boolean {
    const account = this.#accounts.get(keyId);
    if (!account || account.unpaidMs < UNIT_MS || this.#isAlone) return false;
    const bucket = bucketOf(perMinute);
    if (account.unpaidMs + bucket.refillMs <= CHUNK_MS) return false;
    return tokenWaitMs(bucket, account.fullAt, this.#clock.now()) === 0;
  }

  async #takeAfterPayment(keyId: string, perMinute: number): Promise<RateVerdict> {
    while (this.#mustPayFirst(keyId, perMinute)) await this.#startPayment();
    return this.#take(keyId, perMinute);
  }

  #take(keyId: string, perMinute: number): RateVerdict {
    const now = this.#clock.now();
    const waitMs = tokenWaitMs(this.#shareOf(perMinute), this.#accounts.get(keyId)?.fullAt ?? now, now);
    return this.#spend(keyId, perMinute, waitMs === 0 ? 1 : 0, waitMs);
  }

  #spend(keyId: string, perMinute: number, tokens: number, waitMs = 0): RateVerdict {
    const now = this.#clock.now();
    this.#forgetFull(now);
    const account = this.#accounts.get(keyId) ?? { fullAt: now, unpaidMs: 0 };
    const share = this.#shareOf(perMinute);
    account.fullAt = fullAfter(share, account.fullAt, now, tokens);
    account.unpaidMs += tokens * bucketOf(perMinute).refillMs;
    this.#accounts.set(keyId, account);
    if (account.unpaidMs >= UNIT_MS) this.#unpaid.add(keyId);
    if (account.unpaidMs >= PAY_FROM_MS && !this.#isAlone) void this.#startPayment();
    const verdict = verdictOn(share, account.fullAt, now, waitMs);
    verdict.limit = perMinute;
    return verdict;
  }

  /** Alone, a token takes as many times longer to come back as there are nodes. */
  #shareOf(perMinute: number): TokenBucket {
    return bucketOf(this.#isAlone ? Math.max(1, perMinute / this.#nodes()) : perMinute);
  }

  #nodes(): number {
    return Math.max(1, this.#kit.nodes());
  }

  /** Two per call empty the list faster than calls can fill it. */
  #forgetFull(now: number): void {
    for (let turn = 0; turn < 2; turn++) {
      const { oldest } = this.#accounts;
      if (!oldest || oldest[1].fullAt > now || oldest[1].unpaidMs >= UNIT_MS) return;
      this.#accounts.delete(oldest[0]);
    }
  }

  #startPayment(): Promise<void> {
    if (this.#sending) return this.#awaited;
    const payments = this.#owed();
    if (payments.length === 0) return Promise.resolve();
    this.#sending = this.#send(payments).finally(() => {
      this.#sending = null;
    });
    this.#awaited = this.#unlessLate(this.#sending);
    return this.#awaited;
  }

  #owed(): Payment[] {
    const payments: Payment[] = [];
    for (const id of this.#unpaid) {
      const account = this.#accounts.get(id);
      if (account) payments.push(this.#paymentOf(id, account));
      else this.#unpaid.delete(id);
      if (payments.length === KEYS_PER_PAYMENT) break;
    }
    return payments;
  }

  /** After a time alone, what its share has earned back since is not owed. */
  #paymentOf(id: string, account: Account): Payment {
    const coversMs = Math.floor(account.unpaidMs);
    const missingMs = Math.max(0, account.fullAt - this.#clock.now()) / this.#nodes();
    const costMs = this.#isAlone ? Math.min(coversMs, Math.floor(missingMs)) : coversMs;
    return { id, account, costMs, coversMs };
  }

  async #send(payments: readonly Payment[]): Promise<void> {
    try {
      const spendings = payments.map(({ id, costMs }) => ({ id, costMs }));
      const fullInMs = await this.#kit.store.limits.spendCalls(spendings);
      payments.forEach((payment, at) => void this.#settle(payment, fullInMs[at]!));
      this.#rejoin();
    } catch (error) {
      this.#goAlone(describeError(error));
    }
  }

  #settle({ id, account, coversMs }: Payment, fullInMs: number): void {
    account.unpaidMs -= coversMs;
    account.fullAt = this.#clock.now() + fullInMs + account.unpaidMs;
    if (account.unpaidMs < UNIT_MS) this.#unpaid.delete(id);
  }

  #unlessLate(sending: Promise<void>): Promise<void> {
    const { lateMs = LATE_MS } = this.#kit;
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.#goAlone(`no answer for ${lateMs / SECOND_MS} s`);
        resolve();
      }, lateMs);
      void sending.then(() => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  #goAlone(reason: string): void {
    const nodes = this.#nodes();
    if (!this.#isAlone) this.#kit.log.warn({ reason, nodes }, 'rate limits: each node allows its share of the calls');
    this.#isAlone = true;
  }

  #rejoin(): void {
    if (this.#isAlone) this.#kit.log.info({}, 'rate limits: the nodes share them again');
    this.#isAlone = false;
  }
}
