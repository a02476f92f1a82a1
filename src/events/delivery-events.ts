// Events that delivery attempts produce.
import { toTimestamp } from '../base/clock.ts';
import type { BounceType, PeerFacts } from '../base/outcome.ts';
import { type EventStamp, type EventSubject, event } from '../store/event-of-message.ts';
import type { NewEvent } from '../store/events.ts';

export interface AttemptDetails {
  peer: PeerFacts;
  attempt: number;
}

export function deliveredEvent(stamp: EventStamp, message: EventSubject, facts: AttemptDetails): NewEvent {
  return event('email.delivered', stamp, message, { delivery: deliveryPart(facts) });
}

export function deferredEvent(
  stamp: EventStamp,
  message: EventSubject,
  facts: AttemptDetails & { nextAttemptAt: number | null },
): NewEvent {
  const { nextAttemptAt } = facts;
  const delivery = {
    ...deliveryPart(facts),
    next_attempt_at: nextAttemptAt === null ? null : toTimestamp(nextAttemptAt),
  };
  return event('email.deferred', stamp, message, { delivery });
}

export interface BounceFacts extends AttemptDetails {
  bounce: BounceType;
  suppressed: boolean;
}

export function bouncedEvent(stamp: EventStamp, message: EventSubject, facts: BounceFacts): NewEvent {
  return event('email.bounced', stamp, message, { bounce: bouncePart(facts) });
}

/** Given up without a verdict of the receiving side; `diagnostic` says why. */
export function failedEvent(stamp: EventStamp, message: EventSubject, facts: AttemptDetails): NewEvent {
  return event('email.failed', stamp, message, { bounce: bouncePart({ ...facts, bounce: 'soft', suppressed: false }) });
}

/** Who ended it, and the reason that an operator gave. */
export interface Cancellation {
  by: 'sender' | 'operator';
  reason: string;
}

export function canceledEvent(stamp: EventStamp, message: EventSubject, cancellation: Cancellation): NewEvent {
  return event('email.canceled', stamp, message, { cancellation });
}

function deliveryPart({ peer, attempt }: AttemptDetails): Record<string, unknown> {
  return {
    mx: peer.mx,
    remote_ip: peer.remoteIp,
    smtp_code: peer.smtpCode,
    enhanced_code: peer.enhancedCode,
    response: peer.response,
    tls: peer.tls && { ...peer.tls, policy: peer.tlsPolicy.mode },
    attempt,
    elapsed_ms: Math.round(peer.elapsedMs),
  };
}

function bouncePart({ peer, attempt, bounce, suppressed }: BounceFacts): Record<string, unknown> {
  return {
    type: bounce,
    source: 'smtp',
    smtp_code: peer.smtpCode,
    enhanced_code: peer.enhancedCode,
    diagnostic: peer.response,
    mx: peer.mx,
    reporting_mta: null,
    attempt,
    suppressed,
  };
}
