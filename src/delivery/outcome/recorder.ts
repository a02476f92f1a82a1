// Records the result of each attempt: judged, decided, stored with its event, and only then logged and
// announced.
import type { Clock } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import type { BounceType, StageMark } from '../../base/outcome.ts';
import { bouncedEvent, deferredEvent, deliveredEvent, failedEvent } from '../../events/delivery-events.ts';
import type { Logger } from '../../observe/log.ts';
import * as mailLog from '../../observe/mail-log.ts';
import { suppressionKeyOf } from '../../protocol/mail/addresses/address.ts';
import type { NewEvent } from '../../store/events.ts';
import { type ClaimedMessage, type ClaimedUpdate, claimOf } from '../../store/queue.ts';
import { type Decision, decide, type RetryPolicy } from './decide.ts';
import { downgradeIfDoubted, type EndWatch } from './doubted-bounce.ts';
import type { Judgement } from './judge.ts';
import type { ResultWriter } from './result-writer.ts';

export interface RecorderKit {
  results: Pick<ResultWriter, 'write'>;
  clock: Clock;
  ids: IdSource;
  random: () => number;
  policy: RetryPolicy;
  log: Logger;
  /** Is notified of each message's end. */
  endWatch?: EndWatch | undefined;
  /** When mail that is due then can actually be sent, by the current pauses; null: unknown. */
  earliestAttempt?(finding: AttemptResult, dueAt: number): number | null;
  /** Called for every attempt once it is on disk. */
  onAttempt?: ((facts: MeasuredAttempt) => void) | undefined;
  /** The same for traces, with all that is known of it. */
  onRecorded?: ((recorded: RecordedAttempt) => void) | undefined;
}

export interface MeasuredAttempt {
  outcome: Decision['transition']['to'];
  bounce: BounceType | null;
  mxGroup: string | null;
  /** Since it was accepted, or was to be sent. */
  elapsedMs: number;
}

/** One finished attempt. */
export interface AttemptResult {
  message: ClaimedMessage;
  startedAt: number;
  judgement: Judgement;
  mxGroup: string | null;
  /** Only with traces. */
  stages?: readonly StageMark[];
  /** It failed with the connection of the message before. */
  sameFailure?: boolean;
}

/** An attempt and what followed, on disk. */
export interface RecordedAttempt {
  finding: AttemptResult;
  to: Decision['transition']['to'];
  at: number;
}

interface Decided extends Decision {
  /** When it will actually be retried, as far as is known. */
  nextAttemptAt: number | null;
}

export class Recorder {
  readonly #kit: RecorderKit;

  constructor(kit: RecorderKit) {
    this.#kit = kit;
  }

  /** Resolves when the result is on disk. */
  record(found: AttemptResult): Promise<void> {
    const { clock, random, policy, endWatch } = this.#kit;
    const finding = downgradeIfDoubted(found, endWatch);
    const key = suppressionKeyOf(finding.message.recipient);
    const moment = { now: clock.now(), random, mxGroup: finding.mxGroup, suppressionKey: key };
    const decision = decide(finding.judgement, finding.message, policy, moment);
    const nextAttemptAt = this.#nextAttemptAt(finding, decision);
    const update = this.#update(finding, { ...decision, nextAttemptAt }, moment.now);
    return this.#kit.results.write(update).then(() => {
      const { judgement } = found;
      if (judgement.kind === 'permanent' && judgement.bounce === 'hard')
        endWatch?.hardBounceStored(found.message.tenantId);
      logResult(this.#kit.log, finding, { ...decision, nextAttemptAt });
      this.#kit.onAttempt?.(attemptFacts(finding, decision, moment.now));
      this.#kit.onRecorded?.({ finding, to: decision.transition.to, at: moment.now });
    });
  }

  /** Its retry time, or the end of a pause after that; null: unknown, or after the end of its lifetime. */
  #nextAttemptAt(finding: AttemptResult, { transition }: Decision): number | null {
    if (transition.to !== 'deferred') return null;
    const { dueAt } = transition;
    const at = this.#kit.earliestAttempt ? this.#kit.earliestAttempt(finding, dueAt) : dueAt;
    return at !== null && at < finding.message.expiresAt ? at : null;
  }

  #update({ message, startedAt, judgement }: AttemptResult, decided: Decided, at: number): ClaimedUpdate {
    const { transition, notify, nextAttemptAt } = decided;
    const { id: messageId, tenantId, attempt } = message;
    const record =
      judgement.kind === 'unreadable'
        ? null
        : { messageId, tenantId, attempt, startedAt, outcome: judgement.kind, peer: judgement.peer };
    const event =
      notify && judgement.kind !== 'unreadable'
        ? this.#event(message, judgement, { transition, nextAttemptAt, at })
        : null;
    return { messageId, tenantId, at, claim: claimOf(message), attempt: record, transition, event };
  }

  #event(
    message: ClaimedMessage,
    judgement: Exclude<Judgement, { kind: 'unreadable' }>,
    { transition, nextAttemptAt, at }: Pick<Decided, 'transition' | 'nextAttemptAt'> & { at: number },
  ): NewEvent | null {
    const stamp = { id: this.#kit.ids.next(), at };
    const facts = { peer: judgement.peer, attempt: message.attempt };
    switch (transition.to) {
      case 'delivered':
        return deliveredEvent(stamp, message, facts);
      case 'deferred':
        return deferredEvent(stamp, message, { ...facts, nextAttemptAt });
      case 'bounced': {
        const { bounce, suppress } = transition;
        return bouncedEvent(stamp, message, { ...facts, bounce, suppressed: suppress !== null });
      }
      case 'failed':
        return failedEvent(stamp, message, facts);
      case 'parked':
        return null;
      default:
        return unreachable(transition);
    }
  }
}

function attemptFacts({ message, mxGroup }: AttemptResult, { transition }: Decision, at: number): MeasuredAttempt {
  const bounce = transition.to === 'bounced' ? transition.bounce : null;
  const begunAt = Math.max(message.createdAt, message.sendAt ?? 0);
  return { outcome: transition.to, bounce, mxGroup, elapsedMs: at - begunAt };
}

function logResult(log: Logger, { message, judgement }: AttemptResult, { transition, nextAttemptAt }: Decided): void {
  if (judgement.kind === 'unreadable') {
    mailLog.parked(log, message, { reason: judgement.reason });
    return;
  }
  const attempt = { attempt: message.attempt, peer: judgement.peer };
  if (transition.to === 'delivered') mailLog.delivered(log, message, attempt);
  else if (transition.to === 'deferred') {
    const { reason, ambiguous } = transition;
    mailLog.deferred(log, message, { ...attempt, reason, ambiguous, nextAttemptAt });
  } else if (transition.to === 'bounced') {
    const { bounce, reason, suppress } = transition;
    mailLog.bounced(log, message, { attempt, source: 'smtp', bounce, reason, suppressed: suppress !== null });
  } else mailLog.failed(log, message, { reason: transition.reason, attempts: message.attempt, attempt });
}
