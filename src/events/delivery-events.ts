// Events that delivery attempts produce: the common part, and the part named after what happened.
import { toTimestamp } from '../base/clock.ts';
import type { BounceType, PeerFacts } from '../base/outcome.ts';
import type { EventType, NewEvent } from '../store/events.ts';
import type { Labels } from '../store/submissions.ts';

/** What every event quotes of its message. */
export interface EventSubject {
  id: string;
  submissionId: string;
  from: string;
  recipient: string;
  subject: string;
  labels: Labels | null;
  fromDomain: string;
}

/** The event's own id and time. */
export interface EventStamp {
  id: string;
  at: number;
}

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

/** The common part of every event, with the part that is named after what happened. */
export function event(
  type: EventType,
  stamp: EventStamp,
  message: EventSubject,
  part: Record<string, unknown>,
): NewEvent {
  const common = {
    message_id: message.id,
    submission_id: message.submissionId,
    from: message.from,
    to: message.recipient,
    subject: message.subject,
    domain: message.fromDomain,
  };
  return { id: stamp.id, type, at: stamp.at, data: { ...common, ...givenLabels(message.labels), ...part } };
}

/** What the call gave, and no more: a message without tags shows no `tags`. */
export function givenLabels(labels: Labels | null): GivenLabels {
  if (labels === null) return {};
  const { tags, metadata, headerMessageId } = labels;
  const header = headerMessageId !== undefined && { header_message_id: headerMessageId };
  return { ...header, ...(tags && { tags }), ...(metadata && { metadata }) };
}

interface GivenLabels {
  header_message_id?: string;
  tags?: Labels['tags'];
  metadata?: Labels['metadata'];
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
