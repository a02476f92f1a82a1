// What waits for one endpoint and how the endpoint does: how many calls it may have at a time, and whether it rests
// after failures. It uses no store and makes no calls.
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import type { WebhookDelivery } from '../store/webhooks.ts';

/** A claimed delivery whose call has not started. */
export interface WaitingDelivery {
  delivery: WebhookDelivery;
  claimedAt: number;
}

/** An endpoint without history gets two calls at a time; each success doubles that. */
const FIRST_WINDOW = 2;
/** Enough for thousands of events per second to a quick endpoint, too few to overload a small one. */
const MAX_WINDOW = 16;
/** Claimed ahead for a quick endpoint, so that it need not wait for our disk. */
const AHEAD = 64;
/** Slower endpoints share slots with failing ones. */
const QUICK_MS = SECOND_MS;
/** Single events can fail for their own reasons; this many failures in a row mean the endpoint. */
const FAILURES_BEFORE_REST = 5;
const FIRST_REST_MS = SECOND_MS;
const PAUSE_AFTER_FAULT_MS = SECOND_MS;
/** How long a recovered endpoint may wait for its events. */
const MAX_REST_MS = MINUTE_MS;

export class EndpointQueue {
  readonly webhookId: string;
  /** Known with its first claim, as are target and keys. */
  tenantId = '';
  target = '';
  keys: Buffer[] = [];
  /** When something is due, as far as is known; during a claim, what became known since it began. */
  #nextDueAt = Number.POSITIVE_INFINITY;
  #claiming = false;
  readonly waiting: WaitingDelivery[] = [];
  readonly calls = new Set<AbortController>();
  #window = FIRST_WINDOW;
  #failures = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #restUntil = 0;
  #lastMs: number | null = null;

  constructor(webhookId: string) {
    this.webhookId = webhookId;
  }

  /** Known to answer well and quickly. */
  get isQuick(): boolean {
    return this.#failures === 0 && this.#lastMs !== null && this.#lastMs <= QUICK_MS;
  }

  noteDue(at: number): void {
    this.#nextDueAt = Math.min(this.#nextDueAt, at);
  }

  /** One claim at a time. Its answer says what is due later, as of the moment when the store made it. */
  beginClaim(): void {
    this.#claiming = true;
    this.#nextDueAt = Number.POSITIVE_INFINITY;
  }

  /** `nextDueAt`: of what was not claimed. What was noted meanwhile may be missing there, and counts as well. */
  endClaim(nextDueAt: number): void {
    this.#claiming = false;
    this.noteDue(nextDueAt);
  }

  /** The store could not be asked. */
  claimFailed(now: number): void {
    this.endClaim(now);
    this.rest(now + PAUSE_AFTER_FAULT_MS);
  }

  isResting(now: number): boolean {
    return now < this.#restUntil;
  }

  mayBegin(now: number): boolean {
    return this.waiting.length > 0 && this.calls.size < this.#window && !this.isResting(now);
  }

  /** How many deliveries to claim now. */
  wanted(now: number): number {
    if (this.#claiming || this.#nextDueAt > now || this.isResting(now)) return 0;
    const ahead = this.#window === MAX_WINDOW && this.isQuick ? AHEAD : 0;
    if (this.waiting.length > ahead / 2) return 0;
    return Math.max(0, this.#window + ahead - this.calls.size - this.waiting.length);
  }

  /** Something waits, runs or is being claimed. */
  get isAtWork(): boolean {
    return this.waiting.length > 0 || this.calls.size > 0 || this.#claiming;
  }

  /** Nor is anything due: it can be dropped. */
  get isIdle(): boolean {
    return !this.isAtWork && this.#nextDueAt === Number.POSITIVE_INFINITY;
  }

  succeeded(elapsedMs: number): void {
    this.#failures = 0;
    this.#restUntil = 0;
    this.#lastMs = elapsedMs;
    this.#window = Math.min(MAX_WINDOW, this.#window * 2);
  }

  /** Calls in progress at the same time fail together: that counts as one failure. */
  failed(startedAt: number, now: number): void {
    if (startedAt < this.#failedAt) return;
    this.#failedAt = now;
    this.#failures++;
    this.#window = Math.max(1, this.#window >> 1);
    const beyond = this.#failures - FAILURES_BEFORE_REST;
    if (beyond >= 0) this.rest(now + Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** beyond));
  }

  rest(until: number): void {
    this.#restUntil = until;
    this.#window = 1;
  }
}
