// The life of a message in the log: one function per fact. Every line carries message_id, so that
// `grep <id>` shows the whole life of one message, and the recipient, without which nobody could
// answer for a mail. Subject and body are never here.
import { toTimestamp } from '../base/clock.ts';
import type { BounceType, PeerFacts } from '../base/outcome.ts';
import type { Facts, Logger } from './log.ts';

/** What a line says about the message itself; the store's records of messages fit. */
export interface LoggedMessage {
  id: string;
  tenantId: string;
  submissionId?: string;
  recipient: string;
}

/** One try to hand the message over: its number and whom we spoke to. */
export interface LoggedAttempt {
  attempt: number;
  peer: PeerFacts;
}

/** Stored and promised with a 202. */
export function accepted(log: Logger, message: LoggedMessage, facts: { fromDomain: string }): void {
  log.info({ ...of(message, 'accepted'), from_domain: facts.fromDomain }, 'message accepted');
}

/** Dropped before queuing: there is no message, only the submission it would have belonged to. */
export function suppressed(
  log: Logger,
  dropped: { tenantId: string; submissionId: string; recipient: string; reason: string },
): void {
  const { tenantId, submissionId, recipient, reason } = dropped;
  log.info(
    { fact: 'suppressed', submission_id: submissionId, tenant_id: tenantId, ...ofRecipient(recipient), reason },
    'recipient suppressed',
  );
}

/** Logged when the attempt and its next time are stored, before anybody dials. */
export function attemptStarted(log: Logger, message: LoggedMessage, facts: { attempt: number }): void {
  log.info({ ...of(message, 'attempt_started'), attempt: facts.attempt }, 'attempt started');
}

/** The receiving server answered 2xx to the final dot. */
export function delivered(log: Logger, message: LoggedMessage, attempt: LoggedAttempt): void {
  log.info({ ...of(message, 'delivered'), ...ofAttempt(attempt) }, 'message delivered');
}

export interface DeferredFacts extends LoggedAttempt {
  reason: string;
  /** Null: nobody knows. */
  nextAttemptAt: number | null;
  /** The connection broke after the final dot: it may have been accepted. */
  ambiguous: boolean;
}

export function deferred(log: Logger, message: LoggedMessage, facts: DeferredFacts): void {
  const { reason, nextAttemptAt, ambiguous } = facts;
  const next = { reason, next_attempt_at: nextAttemptAt === null ? null : toTimestamp(nextAttemptAt), ambiguous };
  log.info({ ...of(message, 'deferred'), ...ofAttempt(facts), ...next }, 'message deferred');
}

export interface BouncedFacts {
  /** Null when a report told of it later. */
  attempt: LoggedAttempt | null;
  source: 'smtp' | 'dsn';
  bounce: BounceType;
  reason: string;
  /** Whether the address was put on the suppression lists. */
  suppressed: boolean;
}

export function bounced(log: Logger, message: LoggedMessage, facts: BouncedFacts): void {
  const { attempt, source, bounce, reason } = facts;
  log.info(
    { ...of(message, 'bounced'), ...ofAttempt(attempt), source, bounce, reason, suppressed: facts.suppressed },
    'message bounced',
  );
}

/** Given up without a refusal: its lifetime is over, or there is no way to deliver it. */
export function failed(
  log: Logger,
  message: LoggedMessage,
  facts: { reason: string; attempts: number; attempt: LoggedAttempt | null },
): void {
  const { reason, attempts, attempt } = facts;
  log.warn({ ...of(message, 'failed'), ...ofAttempt(attempt), attempts, reason }, 'message failed');
}

/** Cannot be read or composed; waits for a person. */
export function parked(log: Logger, message: LoggedMessage, facts: { reason: string; error?: unknown }): void {
  log.error({ ...of(message, 'parked'), ...facts }, 'message parked');
}

/** Ended by an operator before it was delivered. */
export function cancelled(log: Logger, message: LoggedMessage, facts: { reason: string }): void {
  log.warn({ ...of(message, 'cancelled'), reason: facts.reason }, 'message cancelled');
}

/** Given back to the queue without an attempt: shutdown, no free connection, an operator's retry. */
export function requeued(log: Logger, message: LoggedMessage, facts: { reason: string; dueAt: number }): void {
  const { reason, dueAt } = facts;
  log.info({ ...of(message, 'requeued'), reason, next_attempt_at: toTimestamp(dueAt) }, 'message requeued');
}

/** A person pressed the button for junk, or a receiver did. */
export function complained(log: Logger, message: LoggedMessage, facts: { source: string; suppressed: boolean }): void {
  log.warn({ ...of(message, 'complained'), source: facts.source, suppressed: facts.suppressed }, 'complaint received');
}

/** The recipient wants no more mail of this tenant. */
export function unsubscribed(log: Logger, message: LoggedMessage): void {
  log.info(of(message, 'unsubscribed'), 'recipient unsubscribed');
}

function of(message: LoggedMessage, fact: string): Facts {
  return {
    fact,
    message_id: message.id,
    submission_id: message.submissionId,
    tenant_id: message.tenantId,
    ...ofRecipient(message.recipient),
  };
}

function ofRecipient(recipient: string): Facts {
  return { recipient, recipient_domain: recipient.slice(recipient.lastIndexOf('@') + 1) };
}

function ofAttempt(attempt: LoggedAttempt | null): Facts {
  if (attempt === null) return {};
  const { peer } = attempt;
  return {
    attempt: attempt.attempt,
    stage: peer.stage,
    mx: peer.mx,
    remote_ip: peer.remoteIp,
    smtp_code: peer.smtpCode,
    enhanced_code: peer.enhancedCode,
    reply: peer.response,
    tls: peer.tls?.version ?? null,
    tls_cipher: peer.tls?.cipher ?? null,
    tls_verified: peer.tls?.verified ?? null,
    tls_policy: peer.tlsPolicy.mode,
    tls_failure: peer.tlsPolicy.failure,
    elapsed_ms: peer.elapsedMs,
  };
}
