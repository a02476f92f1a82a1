// Events of what comes back by mail: bounces and notices of delay (RFC 3464), complaints (RFC 5965).
import { toTimestamp } from '../base/clock.ts';
import type { BounceType } from '../base/outcome.ts';
import { type EventStamp, type EventSubject, event } from '../store/event-of-message.ts';
import type { NewEvent } from '../store/events.ts';

/** What a report says of one recipient. */
export interface ReportFacts {
  smtpCode: number | null;
  enhancedCode: string | null;
  diagnostic: string | null;
  /** The server that refused. */
  mx: string | null;
  /** The one that wrote the report. */
  reportingMta: string | null;
  /** The last attempt that we have made. */
  attempt: number;
}

export function reportedBounceEvent(
  stamp: EventStamp,
  message: EventSubject,
  facts: ReportFacts & { bounce: BounceType; suppressed: boolean; forwardedTo?: string },
): NewEvent {
  const bounce = {
    type: facts.bounce,
    source: 'dsn',
    smtp_code: facts.smtpCode,
    enhanced_code: facts.enhancedCode,
    diagnostic: facts.diagnostic,
    mx: facts.mx,
    reporting_mta: facts.reportingMta,
    attempt: facts.attempt,
    suppressed: facts.suppressed,
    ...(facts.forwardedTo !== undefined && { forwarded_to: facts.forwardedTo }),
  };
  return event('email.bounced', stamp, message, { bounce });
}

/** A server that has taken the message cannot pass it on yet. When it tries again it does not say. */
export function delayNoticeEvent(stamp: EventStamp, message: EventSubject, facts: ReportFacts): NewEvent {
  const delivery = {
    mx: facts.mx ?? facts.reportingMta,
    remote_ip: null,
    smtp_code: facts.smtpCode,
    enhanced_code: facts.enhancedCode,
    response: facts.diagnostic ?? 'The receiving side says that the message is delayed.',
    tls: null,
    attempt: facts.attempt,
    elapsed_ms: 0,
    next_attempt_at: null,
  };
  return event('email.deferred', stamp, message, { delivery });
}

export interface ComplaintFacts {
  feedbackType: string;
  userAgent: string | null;
  arrivalDate: number | null;
  reportedDomain: string | null;
  suppressed: boolean;
}

export function complainedEvent(stamp: EventStamp, message: EventSubject, facts: ComplaintFacts): NewEvent {
  const complaint = {
    feedback_type: facts.feedbackType,
    source: 'arf',
    user_agent: facts.userAgent,
    arrival_date: facts.arrivalDate === null ? null : toTimestamp(facts.arrivalDate),
    reported_domain: facts.reportedDomain,
    suppressed: facts.suppressed,
  };
  return event('email.complained', stamp, message, { complaint });
}
