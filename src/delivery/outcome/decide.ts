// What follows from the outcome of an attempt: one pure decision, with its reason. The same
// reason goes to the log, the store and the tenant.
import { pauseAfterAttempt, type RetryLadder } from '../../base/backoff.ts';
import { HOUR_MS } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { ClaimedMessage, HardBounceNote, Transition } from '../../store/queue.ts';
import type { Judgement, Permanent } from './judge.ts';

export interface RetryPolicy {
  ladder: RetryLadder;
  /** How long a hard bounce keeps the whole platform from writing to the address. */
  platformSuppressionMs: number;
}

export interface Moment {
  now: number;
  random: () => number;
  mxGroup: string | null;
  suppressionKey: string;
}

export interface Decision {
  transition: Transition;
  /** Whether the tenant hears of it. Every end is told; of delays only the first, and a long one. */
  tell: boolean;
}

/** A person who waits for a mail wonders by now; the second notice tells the tenant. */
const DELAY_NOTICE_AFTER_MS = 4 * HOUR_MS;

// The wait after a loss behind the final dot: long enough for a slow server to finish what it
// may have accepted, and to notice a duplicate by its Message-ID.
const AMBIGUOUS_PAUSE_FACTOR = 2;

export function decide(judgement: Judgement, message: ClaimedMessage, policy: RetryPolicy, moment: Moment): Decision {
  switch (judgement.kind) {
    case 'delivered':
      return { transition: { to: 'delivered' }, tell: true };
    case 'temporary': {
      const dueAt = nextAttemptAt(judgement, message.attempt, policy, moment);
      const { reason, ambiguous, tell = isNoticeDue(message, moment.now) } = judgement;
      return { transition: { to: 'deferred', dueAt, reason, ambiguous }, tell };
    }
    case 'permanent': {
      const { reason, bounce } = judgement;
      if (judgement.end === 'failed') return { transition: { to: 'failed', reason }, tell: true };
      const suppress = bounce === 'hard' ? hardBounceNote(judgement, policy, moment) : null;
      return { transition: { to: 'bounced', bounce, reason, suppress }, tell: true };
    }
    case 'unreadable':
      return { transition: { to: 'parked', reason: judgement.reason }, tell: false };
    default:
      return unreachable(judgement);
  }
}

function nextAttemptAt(
  outcome: Extract<Judgement, { kind: 'temporary' }>,
  attempt: number,
  policy: RetryPolicy,
  moment: Moment,
): number {
  const { nextAt, notAfter = Number.POSITIVE_INFINITY } = outcome;
  return nextAt ?? Math.min(moment.now + pause(outcome, attempt, policy, moment), notAfter);
}

function pause(
  outcome: Extract<Judgement, { kind: 'temporary' }>,
  attempt: number,
  { ladder }: RetryPolicy,
  { random }: Moment,
): number {
  const step = pauseAfterAttempt(ladder, attempt, random);
  if (outcome.ambiguous) return step * AMBIGUOUS_PAUSE_FACTOR;
  if (outcome.retryAfterMs === null) return step;
  // A delay that the server named is kept, and stretched only upwards: a greylisting server
  // counts it to the second.
  const named = Math.round(outcome.retryAfterMs * (1 + ladder.jitter * random()));
  return Math.max(named, attempt === 1 ? 0 : step);
}

function isNoticeDue(message: ClaimedMessage, now: number): boolean {
  if (message.notices === 0) return true;
  return message.notices === 1 && now - message.createdAt >= DELAY_NOTICE_AFTER_MS;
}

/**
 * What DNS alone says is for the tenant's list: a resolver that is wrong must not stop everybody's mail. A refusal at
 * RCPT is the word of the recipient's own MX about the address; at any other stage the message can be its cause. That the
 * domain does not exist is what that server's DNS says, and DNS can be wrong there too.
 */
function hardBounceNote({ rule, peer, verdict }: Permanent, policy: RetryPolicy, moment: Moment): HardBounceNote {
  const { suppressionKey, mxGroup, now } = moment;
  const platformExpiresAt = peer.stage === 'resolve' ? null : now + policy.platformSuppressionMs;
  const note = { suppressionKey, mxGroup, rule, platformExpiresAt };
  if (platformExpiresAt === null) return note;
  const isOwnWord = peer.stage === 'rcpt' && verdict?.label !== 'no_domain';
  return isOwnWord ? note : { ...note, needsSecondTenant: true };
}
