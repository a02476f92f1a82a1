// Writes down what became of each message: judged, decided, stored with its event, and only
// then logged and announced. A result is never dropped, because a forgotten delivery would be sent
// twice: when the database cannot take it, it is kept, goes to the journal beside the database, and is tried again.
import type { Clock } from '../base/clock.ts';
import { MINUTE_MS, SECOND_MS, toTimestamp } from '../base/clock.ts';
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
import type { ResultJournal } from './result-journal.ts';

export interface RecorderKit {
  store: Pick<QueueStore, 'record'>;
  clock: Clock;
  ids: IdSource;
  random: () => number;
  policy: RetryPolicy;
  log: Logger;
  /** Where results go that the database did not take. */
  journal: Pick<ResultJournal, 'add' | 'sync' | 'settle'>;
  /** What is due next, as far as the records changed it. */
  onLanes(lanes: LaneNotice[]): void;
  /** Hears how messages end. */
  endWatch?: EndWatch;
  /** When mail that is due then can really go, by the pauses that are known now; null: nobody knows. */
  earliestAttempt?(finding: Finding, dueAt: number): number | null;
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

/** What the database has not taken so far. */
export interface UnstoredResults {
  messages: number;
  since: number;
  reason: string;
  /** For so long that somebody should look. */
  isAlarm: boolean;
}

interface Decided extends Decision {
  /** When it will really be tried again, as far as that is known. */
  nextAttemptAt: number | null;
}

interface Entry {
  update: MessageUpdate;
  inJournal: boolean;
  logIt(): void;
  done(): void;
}

const RETRY_AFTER_FAULT_MS = SECOND_MS;
const ALARM_AFTER_MS = MINUTE_MS;
const TOLD_EVERY_MS = MINUTE_MS;
// Each is a message that may be sent twice should journal and database be lost together.
const MAX_KEPT = 1000;

export class Recorder {
  readonly #kit: RecorderKit;
  #waiting: Entry[] = [];
  #scheduled = false;
  readonly #unsettled = new Set<Entry>();
  #idle: (() => void)[] = [];
  /** What the database did not take, and the time when it is asked again. */
  #kept: Entry[] = [];
  #retry: NodeJS.Timeout | null = null;
  /** Those that the database has refused at least once; while there are any, why. */
  readonly #refused = new Set<Entry>();
  #fault: { since: number; reason: string; toldAt: number } | null = null;
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
    const nextAttemptAt = this.#nextAttemptAt(finding, decision);
    const update = this.#update(finding, { ...decision, nextAttemptAt }, moment.now);
    return this.#write(update, () => {
      logFinding(this.#kit.log, finding, { ...decision, nextAttemptAt });
      this.#kit.onAttempt?.(attemptFacts(finding, decision, moment.now));
    });
  }

  /** Waits until everything is on disk. */
  async flush(): Promise<void> {
    if (this.#unsettled.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Null while the database takes what it is given. */
  get unstored(): UnstoredResults | null {
    if (this.#fault === null) return null;
    const { since, reason } = this.#fault;
    const isAlarm = this.#kit.clock.now() - since >= ALARM_AFTER_MS;
    return { messages: this.#refused.size, since, reason, isAlarm };
  }

  /** So many results wait for the database that nothing more should be sent. */
  get isFull(): boolean {
    return this.#refused.size >= MAX_KEPT;
  }

  /** The end of the process: what the database did not take until now is left to the next start. */
  stop(): void {
    this.#stopped = true;
    if (this.#retry) clearTimeout(this.#retry);
    if (this.#unsettled.size === 0) return;
    const { log, journal } = this.#kit;
    for (const entry of this.#unsettled) this.#enterInJournal(entry);
    journal.sync();
    const kept = [...this.#unsettled].filter(({ inJournal }) => inJournal).length;
    if (kept > 0)
      log.error({ messages: kept }, 'results were not stored in time: the next start reads them from the journal');
    const lost = this.#unsettled.size - kept;
    if (lost > 0) log.error({ messages: lost }, 'results are lost: neither the database nor the journal took them');
  }

  /** Its own time, or the end of a pause behind that; null where nobody knows, or where its lifetime ends before. */
  #nextAttemptAt(finding: Finding, { transition }: Decision): number | null {
    if (transition.to !== 'deferred') return null;
    const { dueAt } = transition;
    const at = this.#kit.earliestAttempt ? this.#kit.earliestAttempt(finding, dueAt) : dueAt;
    return at !== null && at < finding.message.expiresAt ? at : null;
  }

  #update({ message, startedAt, judgement }: Finding, decided: Decided, at: number): MessageUpdate {
    const { transition, tell, nextAttemptAt } = decided;
    const { id: messageId, tenantId, attempt } = message;
    const record =
      judgement.kind === 'unreadable'
        ? null
        : { messageId, tenantId, attempt, startedAt, outcome: judgement.kind, peer: judgement.peer };
    const event =
      tell && judgement.kind !== 'unreadable'
        ? this.#event(message, judgement, { transition, nextAttemptAt, at })
        : null;
    return { messageId, tenantId, at, attempt: record, transition, event };
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

  #write(update: MessageUpdate, logIt: () => void): Promise<void> {
    return new Promise((resolve) => {
      const entry: Entry = { update, inJournal: false, logIt, done: resolve };
      this.#unsettled.add(entry);
      this.#waiting.push(entry);
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
    this.#refused.add(entry);
    this.#enterInJournal(entry);
    const reason = describeError(error);
    this.#fault = { since: this.#kit.clock.now(), toldAt: Number.NEGATIVE_INFINITY, ...this.#fault, reason };
    if (this.#retry || this.#stopped) return;
    this.#retry = setTimeout(() => {
      const entries = this.#kept;
      this.#kept = [];
      this.#retry = null;
      this.#tellFault(error, entries.length);
      // It counts from when it is stored: retention walks along that time, and does not come back.
      for (const { update } of entries) update.at = this.#kit.clock.now();
      void this.#store(entries);
    }, RETRY_AFTER_FAULT_MS);
  }

  /** Beside the database, until the database has it; once is enough. */
  #enterInJournal(entry: Entry): void {
    if (!entry.inJournal) entry.inJournal = this.#kit.journal.add(entry.update);
  }

  #tellFault(error: unknown, messages: number): void {
    const now = this.#kit.clock.now();
    if (!this.#fault || now - this.#fault.toldAt < TOLD_EVERY_MS) return;
    this.#fault.toldAt = now;
    const what = 'results could not be stored; they are kept in the journal and tried again every second';
    this.#kit.log.error({ error, messages, since: toTimestamp(this.#fault.since) }, `${what}: ${describeError(error)}`);
  }

  #settle(entry: Entry): void {
    if (entry.inJournal) this.#kit.journal.settle(entry.update);
    entry.logIt();
    entry.done();
    if (this.#refused.delete(entry) && this.#refused.size === 0) this.#fault = null;
    this.#unsettled.delete(entry);
    if (this.#unsettled.size > 0) return;
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

function logFinding(log: Logger, { message, judgement }: Finding, { transition, nextAttemptAt }: Decided): void {
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
