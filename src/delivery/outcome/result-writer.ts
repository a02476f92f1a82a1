// Writes results to the database and never drops one, because a forgotten delivery would be sent twice. A result
// that the database refuses or does not acknowledge is kept, goes to the journal, and counts as unstored.

import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS, SECOND_MS, toTimestamp } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { BatchPerTick } from '../../base/per-tick.ts';
import type { Logger } from '../../observe/log.ts';
import type { ClaimedUpdate } from '../../store/queue.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import type { ResultJournal } from './result-journal.ts';

export interface ResultWriterKit {
  store: StoreVerbs<{ queue: 'record' | 'recordLate' }>;
  clock: Clock;
  log: Logger;
  /** Holds results that the database did not accept. */
  journal: Pick<ResultJournal, 'add' | 'sync' | 'settle'>;
  /** Called with lanes whose next due time changed. */
  onLanes(lanes: LaneNotice[]): void;
}

/** Results that the database has not accepted yet. */
export interface UnstoredResults {
  messages: number;
  since: number;
  reason: string;
  /** It has lasted so long that an operator should look. */
  isAlarm: boolean;
}

type FaultKind = 'refused' | 'unanswered';

interface Entry {
  update: ClaimedUpdate;
  writtenAt: number;
  inJournal: boolean;
  done(): void;
}

const RETRY_AFTER_FAULT_MS = SECOND_MS;
/** A commit takes milliseconds; even a slow disk answers within this time. */
const UNANSWERED_AFTER_MS = 5 * SECOND_MS;
const CHECK_EVERY_MS = SECOND_MS;
const ALARM_AFTER_MS = MINUTE_MS;
const LOG_EVERY_MS = MINUTE_MS;
// Each is a message that may be sent twice if journal and database are both lost.
const MAX_UNSTORED = 1000;

/*
 * An entry goes to the store in the same tick. The store accepts it: it is settled. The store refuses it: it is
 * unstored, in the journal, and retried every second. The store does not answer within five seconds: it is unstored
 * and in the journal, too, and stays with the store, which may still accept or refuse it. A settled entry is not
 * unstored, and leaves the journal.
 */
export class ResultWriter {
  readonly #kit: ResultWriterKit;
  /** Results of one tick of the event loop are one verb. */
  readonly #waiting = new BatchPerTick<Entry>((entries) => void this.#store(entries));
  /** In order of arrival. */
  readonly #unsettled = new Set<Entry>();
  #idle: (() => void)[] = [];
  /** Entries that the database refused, until the next retry. */
  #refused: Entry[] = [];
  #retry: NodeJS.Timeout | null = null;
  #check: NodeJS.Timeout | null = null;
  /** Entries that the database has refused, or not answered in time; `#fault` says why. */
  readonly #unstored = new Set<Entry>();
  #fault: { since: number; reason: string; loggedAt: Partial<Record<FaultKind, number>> } | null = null;
  #stopped = false;

  constructor(kit: ResultWriterKit) {
    this.#kit = kit;
  }

  /** Resolves when the result is on disk. */
  write(update: ClaimedUpdate): Promise<void> {
    return new Promise((resolve) => {
      const entry: Entry = { update, writtenAt: this.#kit.clock.now(), inJournal: false, done: resolve };
      this.#unsettled.add(entry);
      this.#waiting.add(entry);
      this.#scheduleCheck();
    });
  }

  /** Resolves when everything is on disk. */
  async flush(): Promise<void> {
    if (this.#unsettled.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Null: the database accepts results. */
  get unstored(): UnstoredResults | null {
    if (this.#fault === null) return null;
    const { since, reason } = this.#fault;
    const isAlarm = this.#kit.clock.now() - since >= ALARM_AFTER_MS;
    return { messages: this.#unstored.size, since, reason, isAlarm };
  }

  /** So many results are unstored that nothing more should be sent. */
  get isFull(): boolean {
    return this.#unstored.size >= MAX_UNSTORED;
  }

  /** At the end of the process: unstored results are left in the journal for the next start. */
  stop(): void {
    this.#stopped = true;
    if (this.#retry) clearTimeout(this.#retry);
    if (this.#check) clearTimeout(this.#check);
    if (this.#unsettled.size === 0) return;
    const { log, journal } = this.#kit;
    for (const entry of this.#unsettled) this.#addToJournal(entry);
    journal.sync();
    const results = [...this.#unsettled].filter(({ update }) => update.attempt !== null);
    const kept = results.filter(({ inJournal }) => inJournal).length;
    if (kept > 0)
      log.error({ messages: kept }, 'results were not stored in time: the next start reads them from the journal');
    const lost = results.length - kept;
    if (lost > 0) log.error({ messages: lost }, 'results are lost: neither the database nor the journal accepted them');
    // These were not sent, so no result is lost.
    const unread = this.#unsettled.size - results.length;
    if (unread > 0)
      log.warn({ messages: unread }, 'messages that cannot be read were not parked in time: the next start does that');
  }

  async #store(entries: Entry[]): Promise<void> {
    let lanes: LaneNotice[];
    try {
      lanes = await this.#record(entries.map((entry) => entry.update));
    } catch (error) {
      // One by one, so that a single row that can't be written doesn't hold up the others.
      if (entries.length > 1) for (const entry of entries) void this.#store([entry]);
      else this.#keep(entries[0]!, error);
      return;
    }
    for (const entry of entries) this.#settle(entry);
    this.#kit.onLanes(lanes);
  }

  /** What comes after its claim is over is a late result: it may still say that the message has arrived. */
  async #record(updates: ClaimedUpdate[]): Promise<LaneNotice[]> {
    const { store, log } = this.#kit;
    const { lanes, over } = await store.queue.record(updates);
    if (over.length === 0) return lanes;
    const late = updates.filter(({ messageId }) => over.includes(messageId));
    const counted = await store.queue.recordLate(late);
    const [message_id] = over;
    log.warn({ messages: late.length, counted, message_id }, 'results came after their messages had been taken back');
    return lanes;
  }

  #keep(entry: Entry, error: unknown): void {
    this.#refused.push(entry);
    this.#countAsUnstored(entry, { since: this.#kit.clock.now(), reason: describeError(error) });
    if (this.#retry || this.#stopped) return;
    this.#retry = setTimeout(() => {
      const entries = this.#refused;
      this.#refused = [];
      this.#retry = null;
      const what = 'results could not be stored; they are kept in the journal and tried again every second';
      this.#logFault('refused', `${what}: ${describeError(error)}`, { error, messages: entries.length });
      // It gets the time of storing: retention moves forward along that time and never looks back.
      for (const { update } of entries) update.at = this.#kit.clock.now();
      void this.#store(entries);
    }, RETRY_AFTER_FAULT_MS);
  }

  #scheduleCheck(): void {
    if (this.#check || this.#stopped || this.#unsettled.size === 0) return;
    this.#check = setTimeout(() => {
      this.#check = null;
      this.#findUnanswered();
      this.#scheduleCheck();
    }, CHECK_EVERY_MS);
  }

  /** A database that hangs refuses nothing, so entries without an answer are found here. */
  #findUnanswered(): void {
    const now = this.#kit.clock.now();
    const reason = 'the database does not answer';
    let isSilent = false;
    for (const entry of this.#unsettled) {
      if (this.#unstored.has(entry)) {
        this.#addToJournal(entry); // the journal may have had no space before
        continue;
      }
      if (now - entry.writtenAt < UNANSWERED_AFTER_MS) break;
      this.#countAsUnstored(entry, { since: entry.writtenAt, reason });
      isSilent = true;
    }
    isSilent ||= this.#fault?.reason === reason;
    const messages = this.#unstored.size;
    if (isSilent)
      this.#logFault('unanswered', `${reason}: results are kept in the journal until it does`, { messages });
  }

  #countAsUnstored(entry: Entry, { since, reason }: { since: number; reason: string }): void {
    this.#unstored.add(entry);
    this.#addToJournal(entry);
    this.#fault = { since, loggedAt: {}, ...this.#fault, reason };
  }

  /** Keeps the entry in the journal until the database has it; once is enough. */
  #addToJournal(entry: Entry): void {
    if (!entry.inJournal) entry.inJournal = this.#kit.journal.add(entry.update);
  }

  #logFault(kind: FaultKind, words: string, facts: { error?: unknown; messages: number }): void {
    const now = this.#kit.clock.now();
    if (!this.#fault) return;
    const { loggedAt } = this.#fault;
    if (now - (loggedAt[kind] ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return;
    loggedAt[kind] = now;
    this.#kit.log.error({ ...facts, since: toTimestamp(this.#fault.since) }, words);
  }

  #settle(entry: Entry): void {
    if (entry.inJournal) this.#kit.journal.settle(entry.update);
    entry.done();
    if (this.#unstored.delete(entry) && this.#unstored.size === 0) this.#fault = null;
    this.#unsettled.delete(entry);
    if (this.#unsettled.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
