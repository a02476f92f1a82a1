// Results that an earlier run left in the journal because the database did not accept them. They are stored before
// any mail is sent. A message whose result still can't be stored is not sent again; storing it is retried with every
// sweep.

import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { JournalResult, ResultJournal } from './result-journal.ts';
import type { UnstoredResults } from './result-writer.ts';

export interface EarlierResultsKit {
  store: StoreVerbs<{ queue: 'recordLate' }>;
  journal: Pick<ResultJournal, 'earlier' | 'settle'>;
  clock: Clock;
  log: Logger;
}

const BATCH_SIZE = 100;

export class EarlierResults {
  readonly #kit: EarlierResultsKit;
  #left: readonly JournalResult[];

  constructor(kit: EarlierResultsKit) {
    this.#kit = kit;
    this.#left = kit.journal.earlier;
  }

  /** Messages whose result is known but not in the database. */
  get messageIds(): string[] {
    return this.#left.map(({ messageId }) => messageId);
  }

  get unstored(): UnstoredResults | null {
    if (this.#left.length === 0) return null;
    const since = Math.min(...this.#left.map(({ attempt }) => attempt.startedAt));
    return {
      messages: this.#left.length,
      since,
      reason: "left by an earlier run, and still can't be stored",
      isAlarm: true,
    };
  }

  async store(): Promise<void> {
    if (this.#left.length === 0) return;
    const { log, clock } = this.#kit;
    const results = this.#left;
    // They get the time of storing: retention moves forward along that time and never looks back.
    for (const result of results) result.at = clock.now();
    const left: JournalResult[] = [];
    let applied = 0;
    for (let at = 0; at < results.length; at += BATCH_SIZE) {
      const portion = results.slice(at, at + BATCH_SIZE);
      const outcome = (await this.#storeBatch(portion)) ?? (await this.#storeEach(portion));
      applied += outcome.applied;
      left.push(...outcome.left);
    }
    this.#left = left;
    if (applied > 0) log.warn({ messages: applied }, 'stored results that an earlier run could not store');
    if (left.length > 0)
      log.error(
        { messages: left.length, first: left[0]!.messageId },
        'results of an earlier run still cannot be stored',
      );
  }

  async #storeBatch(results: JournalResult[]): Promise<{ applied: number; left: JournalResult[] } | null> {
    try {
      const applied = await this.#kit.store.queue.recordLate(results);
      for (const result of results) this.#kit.journal.settle(result);
      return { applied, left: [] };
    } catch (error) {
      const { messageId: message_id } = results[0]!;
      this.#kit.log.error({ error, message_id }, `a result of an earlier run was not stored: ${describeError(error)}`);
      return null;
    }
  }

  /** One by one, so that a result that can't be stored doesn't hold up the others. */
  async #storeEach(results: JournalResult[]): Promise<{ applied: number; left: JournalResult[] }> {
    const left: JournalResult[] = [];
    let applied = 0;
    for (const result of results) {
      const outcome = await this.#storeBatch([result]);
      if (outcome) applied += outcome.applied;
      else left.push(result);
    }
    return { applied, left };
  }
}
