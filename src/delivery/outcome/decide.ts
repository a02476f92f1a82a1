// The consequence of an attempt's outcome: one pure decision, with its reason. The same reason goes to the
// log, the store and the tenant.
import { pauseAfterAttempt, type RetryLadder } from '../../base/backoff.ts';
import { HOUR_MS } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { ClaimedMessage, HardBounceNote, Transition } from '../../store/queue.ts';
import type { Judgement, Permanent } from './judge.ts';

export interface RetryPolicy {
  ladder: RetryLadder;
  /** How long a hard bounce suppresses the address for the whole platform. */
  platformSuppressionMs: number;
}

export interface Moment {
  now: number;
  random: () => number;
  mxGroup: string | null;
  suppressionKey: string;
}

export interface Decision {
  transition: Exclude<Transition, { to: 'canceled' }>;
  /** Whether the tenant is notified: of every end, but only of the first delay and of a long one. */
  notify: boolean;
}

/** By now a recipient may be wondering where the mail is: the tenant gets a second notice. */
const DELAY_NOTICE_AFTER_MS = 4 * HOUR_MS;

// The pause after a connection lost after the final dot: long enough for a slow server to finish what it
// may have accepted, and to recognise a duplicate by its Message-ID.
const AMBIGUOUS_PAUSE_FACTOR = 2;

export function decide(judgement: Judgement, message: ClaimedMessage, policy: RetryPolicy, moment: Moment): Decision {
  switch (judgement.kind) {
    case 'delivered':
      return { transition: { to: 'delivered' }, notify: true };
    case 'temporary': {
      const dueAt = nextAttemptAt(judgement, message.attempt, policy, moment);
      const { reason, ambiguous, notify = isNoticeDue(message, moment.now) } = judgement;
      return { transition: { to: 'deferred', dueAt, reason, ambiguous }, notify };
    }
    case 'permanent': {
      const { reason, bounce } = judgement;
      if (judgement.end === 'failed') return { transition: { to: 'failed', reason }, notify: true };
      const suppress = bounce === 'hard' ? hardBounceNote(judgement, policy, moment) : null;
      return { transition: { to: 'bounced', bounce, reason, suppress }, notify: true };
    }
    case 'unreadable':
      return { transition: { to: 'parked', reason: judgement.reason }, notify: false };
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
  // A delay that the server named is respected, and jitter only lengthens it: a greylisting server counts
  // it to the second.
  const named = Math.round(outcome.retryAfterMs * (1 + ladder.jitter * random()));
  return Math.max(named, attempt === 1 ? 0 : step);
}

function isNoticeDue(message: ClaimedMessage, now: number): boolean {
  if (message.notices === 0) return true;
  return message.notices === 1 && now - (message.sendAt ?? message.createdAt) >= DELAY_NOTICE_AFTER_MS;
}

/**
 * A bounce based on DNS alone counts only for the tenant's list: a wrong resolver must not stop everyone's mail. A
 * refusal at RCPT is the recipient's own MX speaking about the address; at any other stage the message can be its
 * cause. "No such domain" in a reply is what that server's DNS says, and that can be wrong, too.
 */
function hardBounceNote({ rule, peer, verdict }: Permanent, policy: RetryPolicy, moment: Moment): HardBounceNote {
  const { suppressionKey, mxGroup, now } = moment;
  const platformExpiresAt = peer.stage === 'resolve' ? null : now + policy.platformSuppressionMs;
  const note = { suppressionKey, mxGroup, rule, platformExpiresAt };
  if (platformExpiresAt === null) return note;
  const isAboutAddress = peer.stage === 'rcpt' && verdict?.label !== 'no_domain';
  return isAboutAddress ? note : { ...note, needsSecondTenant: true };
}
