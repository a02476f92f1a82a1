// Writes down what became of each message: judged, decided, stored with its event, and only
// then logged and announced. A result is never dropped: when the database cannot take it, it
// is kept and tried again, because a forgotten delivery would be sent twice.
import type { Clock } from '../base/clock.ts';
import { SECOND_MS } from '../base/clock.ts';
import { describeError, unreachable } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { BounceType } from '../base/outcome.ts';
import { bouncedEvent, deferredEvent, deliveredEvent, failedEvent } from '../events/delivery-events.ts';
import type { Logger } from '../observe/log.ts';
import * as mailLog from '../observe/mail-log.ts';
import { parseAddress, suppressionKey } from '../protocol/mail/address.ts';
import type { NewEvent } from '../store/events.ts';
import type { ClaimedMessage, MessageUpdate, QueueStore } from '../store/queue.ts';
import type { LaneNotice } from '../store/submissions.ts';
import { type Decision, decide, type RetryPolicy } from './decide.ts';
import { type EndWatch, heed } from './doubted-bounce.ts';
import type { Judgement } from './judge.ts';

export interface RecorderKit {
  store: Pick<QueueStore, 'record'>;
  clock: Clock;
  ids: IdSource;
  random: () => number;
  policy: RetryPolicy;
  log: Logger;
  /** What is due next, as far as the records changed it. */
  onLanes(lanes: LaneNotice[]): void;
  /** Hears how messages end. */
  endWatch?: EndWatch;
  /** Told of every attempt when it is on disk. */
  onAttempt?(facts: AttemptFacts): void;
}

export interface AttemptFacts {
  outcome: MessageUpdate['transition']['to'];
  bounce: BounceType | null;
  mxGroup: string | null;
  ageMs: number;
}

/** One attempt that is over. */
export interface Finding {
  message: ClaimedMessage;
  startedAt: number;
  judgement: Judgement;
  mxGroup: string | null;
}

interface Entry {
  update: MessageUpdate;
  logIt(): void;
  done(): void;
}

const RETRY_AFTER_FAULT_MS = SECOND_MS;

export class Recorder {
  readonly #kit: RecorderKit;
  #waiting: Entry[] = [];
  #scheduled = false;
  #unsettled = 0;
  #idle: (() => void)[] = [];
  /** What the database did not take, and the time when it is asked again. */
  #kept: Entry[] = [];
  #retry: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(kit: RecorderKit) {
    this.#kit = kit;
  }

  /** Settles when the finding is on disk. */
  record(found: Finding): Promise<void> {
    const { clock, random, policy, endWatch } = this.#kit;
    const finding = heed(found, endWatch);
    const key = keyOf(finding.message.recipient);
    const moment = { now: clock.now(), random, mxGroup: finding.mxGroup, suppressionKey: key };
    const decision = decide(finding.judgement, finding.message, policy, moment);
    const update = this.#update(finding, decision, moment.now);
    return this.#write(update, () => {
      logFinding(this.#kit.log, finding, decision);
      this.#kit.onAttempt?.(attemptFacts(finding, decision, moment.now));
    });
  }

  /** Waits until everything is on disk. */
  async flush(): Promise<void> {
    if (this.#unsettled === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** The end of the process: what the database did not take until now is given up. */
  stop(): void {
    this.#stopped = true;
    if (this.#retry) clearTimeout(this.#retry);
    if (this.#unsettled > 0) this.#kit.log.error({ messages: this.#unsettled }, 'results are lost: not stored in time');
  }

  #update({ message, startedAt, judgement }: Finding, { transition, tell }: Decision, at: number): MessageUpdate {
    const { id: messageId, tenantId, attempt } = message;
    const record =
      judgement.kind === 'unreadable'
        ? null
        : { messageId, tenantId, attempt, startedAt, outcome: judgement.kind, peer: judgement.peer };
    const event = tell && judgement.kind !== 'unreadable' ? this.#event(message, judgement, { transition, at }) : null;
    return { messageId, tenantId, at, attempt: record, transition, event };
  }

  #event(
    message: ClaimedMessage,
    judgement: Exclude<Judgement, { kind: 'unreadable' }>,
    { transition, at }: { transition: MessageUpdate['transition']; at: number },
  ): NewEvent | null {
    const stamp = { id: this.#kit.ids.next(), at };
    const facts = { peer: judgement.peer, attempt: message.attempt };
    switch (transition.to) {
      case 'delivered':
        return deliveredEvent(stamp, message, facts);
      case 'deferred':
        return deferredEvent(stamp, message, { ...facts, nextAttemptAt: transition.dueAt });
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

  #write(update: MessageUpdate, logIt: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#unsettled++;
      this.#waiting.push({ update, logIt, done: resolve });
      if (this.#scheduled) return;
      this.#scheduled = true;
      // What comes in one turn of the event loop is one verb.
      setImmediate(() => {
        this.#scheduled = false;
        const entries = this.#waiting;
        this.#waiting = [];
        void this.#store(entries);
      });
    });
  }

  async #store(entries: Entry[]): Promise<void> {
    let lanes: LaneNotice[];
    try {
      lanes = await this.#kit.store.record(entries.map((entry) => entry.update));
    } catch (error) {
      // One by one, so that a single row that cannot be written does not hold up the others.
      if (entries.length > 1) for (const entry of entries) void this.#store([entry]);
      else this.#keep(entries[0]!, error);
      return;
    }
    for (const entry of entries) this.#settle(entry);
    this.#kit.onLanes(lanes);
  }

  #keep(entry: Entry, error: unknown): void {
    this.#kept.push(entry);
    if (this.#retry || this.#stopped) return;
    this.#retry = setTimeout(() => {
      const entries = this.#kept;
      this.#kept = [];
      this.#retry = null;
      const facts = { error, messages: entries.length };
      this.#kit.log.error(facts, `results could not be stored, and are kept: ${describeError(error)}`);
      void this.#store(entries);
    }, RETRY_AFTER_FAULT_MS);
  }

  #settle(entry: Entry): void {
    entry.logIt();
    entry.done();
    if (--this.#unsettled > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function keyOf(recipient: string): string {
  const parsed = parseAddress(recipient);
  return parsed.ok ? suppressionKey(parsed.address) : recipient.toLowerCase();
}

function attemptFacts({ message, mxGroup }: Finding, { transition }: Decision, at: number): AttemptFacts {
  const bounce = transition.to === 'bounced' ? transition.bounce : null;
  return { outcome: transition.to, bounce, mxGroup, ageMs: at - message.createdAt };
}

function logFinding(log: Logger, { message, judgement }: Finding, { transition }: Decision): void {
  if (judgement.kind === 'unreadable') {
    mailLog.parked(log, message, { reason: judgement.reason });
    return;
  }
  const attempt = { attempt: message.attempt, peer: judgement.peer };
  if (transition.to === 'delivered') mailLog.delivered(log, message, attempt);
  else if (transition.to === 'deferred') {
    const { reason, ambiguous, dueAt } = transition;
    mailLog.deferred(log, message, { ...attempt, reason, ambiguous, nextAttemptAt: dueAt });
  } else if (transition.to === 'bounced') {
    const { bounce, reason, suppress } = transition;
    mailLog.bounced(log, message, { attempt, source: 'smtp', bounce, reason, suppressed: suppress !== null });
  } else mailLog.failed(log, message, { reason: transition.reason, attempts: message.attempt, attempt });
}
