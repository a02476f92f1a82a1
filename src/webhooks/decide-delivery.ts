// What follows from an attempt to deliver an event: a pure function of the endpoint's answer and the step in the retry
// table. It does not judge the endpoint as a whole.
import { pauseAfterAttempt, type RetryLadder } from '../base/backoff.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import type { CallOutcome } from './call.ts';

/** As docs/api.md promises; it ends three days after the first attempt, so a weekend's outage is covered. */
export const RETRY_TABLE: RetryLadder = {
  stepsMs: [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ],
  jitter: 0.1,
};

/** A longer pause would hold back an event until it is useless. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

export type DeliveryDecision =
  | { decision: 'delivered'; reason: string }
  | { decision: 'retry'; reason: string; until: number }
  | { decision: 'give_up'; reason: string };

export interface CallAttempt {
  outcome: CallOutcome;
  /** 1 for the first attempt since the event happened or was replayed. */
  step: number;
  now: number;
}

export function decideDelivery({ outcome, step, now }: CallAttempt, random: () => number): DeliveryDecision {
  const reason = describeOutcome(outcome);
  if (outcome.kind === 'answered' && isSuccess(outcome.status)) return { decision: 'delivered', reason };
  if (step > RETRY_TABLE.stepsMs.length) {
    return {
      decision: 'give_up',
      reason: `${reason} That was the last of ${step} attempts; the delivery can be replayed.`,
    };
  }
  const pauseMs = pauseAfterAttempt(RETRY_TABLE, step, random);
  const requestedMs = outcome.kind === 'answered' ? retryAfterMs(outcome.retryAfter, now) : 0;
  if (requestedMs <= pauseMs) return { decision: 'retry', reason, until: now + pauseMs };
  return { decision: 'retry', reason: `${reason} It asked for a later retry (Retry-After).`, until: now + requestedMs };
}

/** As a sentence. */
export function describeOutcome(outcome: CallOutcome): string {
  if (outcome.kind !== 'answered') return outcome.reason;
  const { status } = outcome;
  if (status >= 300 && status < 400) {
    return `The endpoint answered ${status}. Redirects are not followed; register the target URL instead.`;
  }
  return `The endpoint answered ${status}.`;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** RFC 9110 section 10.2.3: seconds or a date. 0 if it is neither, or in the past. */
export function retryAfterMs(value: string | null, now: number): number {
  if (value === null) return 0;
  const ms = /^\d{1,10}$/.test(value.trim()) ? Number(value) * SECOND_MS : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : 0;
}
