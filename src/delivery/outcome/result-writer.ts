// Brings results into the database, and never drops one, because a forgotten delivery would be sent twice. What the
// database refuses, or does not answer for, is kept, goes to the journal beside the database, and counts as unstored.

import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS, SECOND_MS, toTimestamp } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { BatchPerTick } from '../../base/per-tick.ts';
import type { Logger } from '../../observe/log.ts';
import type { MessageUpdate } from '../../store/queue.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import type { ResultJournal } from './result-journal.ts';

export interface ResultWriterKit {
  store: StoreVerbs<{ queue: 'record' }>;
  clock: Clock;
  log: Logger;
  /** Where results go that the database did not take. */
  journal: Pick<ResultJournal, 'add' | 'sync' | 'settle'>;
  /** What is due next, as far as the records changed it. */
  onLanes(lanes: LaneNotice[]): void;
}

/** What the database has not taken so far. */
export interface UnstoredResults {
  messages: number;
  since: number;
  reason: string;
  /** For so long that somebody should look. */
  isAlarm: boolean;
}

type FaultKind = 'refused' | 'unanswered';

interface Entry {
  update: MessageUpdate;
  writtenAt: number;
  inJournal: boolean;
  done(): void;
}

const RETRY_AFTER_FAULT_MS = SECOND_MS;
/** A commit takes milliseconds; a disk that is only slow still answers within this time. */
const UNANSWERED_AFTER_MS = 5 * SECOND_MS;
const CHECK_EVERY_MS = SECOND_MS;
const ALARM_AFTER_MS = MINUTE_MS;
const TOLD_EVERY_MS = MINUTE_MS;
// Each is a message that may be sent twice should journal and database be lost together.
const MAX_KEPT = 1000;

/*
 * An entry is handed to the store in the turn in which it came. The store takes it: it is settled. The store refuses it:
 * it is unstored, in the journal, and handed over again every second. The store does not answer within five seconds: it
 * is unstored and in the journal too, and stays with the store, which may still take or refuse it. What is settled is
 * not unstored, and leaves the journal.
 */
export class ResultWriter {
  readonly #kit: ResultWriterKit;
  /** Results of one turn of the event loop are one verb. */
  readonly #waiting = new BatchPerTick<Entry>((entries) => void this.#store(entries));
  /** In the order in which they came. */
  readonly #unsettled = new Set<Entry>();
  #idle: (() => void)[] = [];
  /** What the database refused, and the time when it is asked again. */
  #refused: Entry[] = [];
  #retry: NodeJS.Timeout | null = null;
  #check: NodeJS.Timeout | null = null;
  /** Those that the database has refused at least once, or not answered for; while there are any, why. */
  readonly #unstored = new Set<Entry>();
  #fault: { since: number; reason: string; toldAt: Partial<Record<FaultKind, number>> } | null = null;
  #stopped = false;

  constructor(kit: ResultWriterKit) {
    this.#kit = kit;
  }

  /** Settles when it is on disk. */
  write(update: MessageUpdate): Promise<void> {
    return new Promise((resolve) => {
      const entry: Entry = { update, writtenAt: this.#kit.clock.now(), inJournal: false, done: resolve };
      this.#unsettled.add(entry);
      this.#waiting.add(entry);
      this.#checkLater();
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
    return { messages: this.#unstored.size, since, reason, isAlarm };
  }

  /** So many results wait for the database that nothing more should be sent. */
  get isFull(): boolean {
    return this.#unstored.size >= MAX_KEPT;
  }

  /** The end of the process: what the database did not take until now is left to the next start. */
  stop(): void {
    this.#stopped = true;
    if (this.#retry) clearTimeout(this.#retry);
    if (this.#check) clearTimeout(this.#check);
    if (this.#unsettled.size === 0) return;
    const { log, journal } = this.#kit;
    for (const entry of this.#unsettled) this.#enterInJournal(entry);
    journal.sync();
    const results = [...this.#unsettled].filter(({ update }) => update.attempt !== null);
    const kept = results.filter(({ inJournal }) => inJournal).length;
    if (kept > 0)
      log.error({ messages: kept }, 'results were not stored in time: the next start reads them from the journal');
    const lost = results.length - kept;
    if (lost > 0) log.error({ messages: lost }, 'results are lost: neither the database nor the journal accepted them');
    // They were not sent, so nothing is lost with them.
    const unread = this.#unsettled.size - results.length;
    if (unread > 0)
      log.warn({ messages: unread }, 'messages that cannot be read were not parked in time: the next start does that');
  }

  async #store(entries: Entry[]): Promise<void> {
    let lanes: LaneNotice[];
    try {
      lanes = await this.#kit.store.queue.record(entries.map((entry) => entry.update));
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
    this.#refused.push(entry);
    this.#countAsUnstored(entry, { since: this.#kit.clock.now(), reason: describeError(error) });
    if (this.#retry || this.#stopped) return;
    this.#retry = setTimeout(() => {
      const entries = this.#refused;
      this.#refused = [];
      this.#retry = null;
      const what = 'results could not be stored; they are kept in the journal and tried again every second';
      this.#tellFault('refused', `${what}: ${describeError(error)}`, { error, messages: entries.length });
      // It counts from when it is stored: retention walks along that time, and does not come back.
      for (const { update } of entries) update.at = this.#kit.clock.now();
      void this.#store(entries);
    }, RETRY_AFTER_FAULT_MS);
  }

  #checkLater(): void {
    if (this.#check || this.#stopped || this.#unsettled.size === 0) return;
    this.#check = setTimeout(() => {
      this.#check = null;
      this.#findUnanswered();
      this.#checkLater();
    }, CHECK_EVERY_MS);
  }

  /** A database that hangs refuses nothing. */
  #findUnanswered(): void {
    const now = this.#kit.clock.now();
    const reason = 'the database does not answer';
    let isSilent = false;
    for (const entry of this.#unsettled) {
      if (this.#unstored.has(entry)) {
        this.#enterInJournal(entry); // which may have had no room before
        continue;
      }
      if (now - entry.writtenAt < UNANSWERED_AFTER_MS) break;
      this.#countAsUnstored(entry, { since: entry.writtenAt, reason });
      isSilent = true;
    }
    isSilent ||= this.#fault?.reason === reason;
    const messages = this.#unstored.size;
    if (isSilent)
      this.#tellFault('unanswered', `${reason}: results are kept in the journal until it does`, { messages });
  }

  #countAsUnstored(entry: Entry, { since, reason }: { since: number; reason: string }): void {
    this.#unstored.add(entry);
    this.#enterInJournal(entry);
    this.#fault = { since, toldAt: {}, ...this.#fault, reason };
  }

  /** Beside the database, until the database has it; once is enough. */
  #enterInJournal(entry: Entry): void {
    if (!entry.inJournal) entry.inJournal = this.#kit.journal.add(entry.update);
  }

  #tellFault(kind: FaultKind, words: string, facts: { error?: unknown; messages: number }): void {
    const now = this.#kit.clock.now();
    if (!this.#fault) return;
    const { toldAt } = this.#fault;
    if (now - (toldAt[kind] ?? Number.NEGATIVE_INFINITY) < TOLD_EVERY_MS) return;
    toldAt[kind] = now;
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
