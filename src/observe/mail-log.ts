// The life of a message in the log: one function per fact. Every line has message_id, so that `grep <id>` shows the
// whole life of a message, and the recipient, which questions about a mail need. Subject and body are never logged.
import { toTimestamp } from '../base/clock.ts';
import type { BounceType, PeerFacts } from '../base/outcome.ts';
import type { Facts, Logger } from './log.ts';

/** The message's fields in a line; the store's records of messages fit. */
export interface LoggedMessage {
  id: string;
  tenantId: string;
  submissionId?: string;
  recipient: string;
}

/** One attempt: its number and the receiving server. */
export interface LoggedAttempt {
  attempt: number;
  peer: PeerFacts;
}

/** Stored, and answered with 202. */
export function accepted(
  log: Logger,
  message: LoggedMessage,
  { fromDomain, sendAt }: { fromDomain: string; sendAt: number | null },
): void {
  const later = sendAt === null ? {} : { send_at: toTimestamp(sendAt) };
  log.info({ ...of(message, 'accepted'), from_domain: fromDomain, ...later }, 'message accepted');
}

/** Dropped before queuing: there is no message, only its submission. */
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

/** Logged when the attempt and its next time are stored, before a connection is opened. */
export function attemptStarted(log: Logger, message: LoggedMessage, facts: { attempt: number }): void {
  log.info({ ...of(message, 'attempt_started'), attempt: facts.attempt }, 'attempt started');
}

/** The receiving server answered 2xx to the final dot. */
export function delivered(log: Logger, message: LoggedMessage, attempt: LoggedAttempt): void {
  log.info({ ...of(message, 'delivered'), ...ofAttempt(attempt) }, 'message delivered');
}

export interface DeferredFacts extends LoggedAttempt {
  reason: string;
  /** Null: unknown. */
  nextAttemptAt: number | null;
  /** The connection was lost after the final dot: the message may have been accepted. */
  ambiguous: boolean;
}

export function deferred(log: Logger, message: LoggedMessage, facts: DeferredFacts): void {
  const { reason, nextAttemptAt, ambiguous } = facts;
  const next = { reason, next_attempt_at: nextAttemptAt === null ? null : toTimestamp(nextAttemptAt), ambiguous };
  log.info({ ...of(message, 'deferred'), ...ofAttempt(facts), ...next }, 'message deferred');
}

export interface BouncedFacts {
  /** Null when a bounce report came later. */
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

/** Failed without a rejection: its lifetime is over, or it can't be delivered. */
export function failed(
  log: Logger,
  message: LoggedMessage,
  facts: { reason: string; attempts: number; attempt: LoggedAttempt | null },
): void {
  const { reason, attempts, attempt } = facts;
  log.warn({ ...of(message, 'failed'), ...ofAttempt(attempt), attempts, reason }, 'message failed');
}

/** It can't be read or composed, and waits for an operator. */
export function parked(log: Logger, message: LoggedMessage, facts: { reason: string; error?: unknown }): void {
  log.error({ ...of(message, 'parked'), ...facts }, 'message parked');
}

/** By its sender or an operator, before it was delivered. */
export function canceled(log: Logger, message: LoggedMessage, facts: { reason: string }): void {
  log.warn({ ...of(message, 'canceled'), reason: facts.reason }, 'message canceled');
}

/** What is still scheduled of a submission gets another time. */
export function moved(
  log: Logger,
  { tenantId, submissionId }: { tenantId: string; submissionId: string },
  { sendAt, messages }: { sendAt: number; messages: number },
): void {
  const about = { fact: 'moved', submission_id: submissionId, tenant_id: tenantId };
  log.info({ ...about, send_at: toTimestamp(sendAt), messages }, 'scheduled messages moved');
}

/** Returned to the queue without an attempt: shutdown, no free connection, an operator's retry. */
export function requeued(log: Logger, message: LoggedMessage, facts: { reason: string; dueAt: number }): void {
  const { reason, dueAt } = facts;
  log.info({ ...of(message, 'requeued'), reason, next_attempt_at: toTimestamp(dueAt) }, 'message requeued');
}

/** A user marked it as spam, or a receiver did. */
export function complained(log: Logger, message: LoggedMessage, facts: { source: string; suppressed: boolean }): void {
  log.warn({ ...of(message, 'complained'), source: facts.source, suppressed: facts.suppressed }, 'complaint received');
}

/** The recipient does not want mail from this tenant any more. */
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
