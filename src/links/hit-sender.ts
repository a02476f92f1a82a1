// The sender of opens and clicks: requests note them here and are answered at once; every few milliseconds they are
// sent to the writer thread (hit-verbs.ts), so that requests cost this thread nothing but their responses.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import type { Hit } from './hit-recorder.ts';
import type { HitVerbs } from './hit-verbs.ts';
import { hitText, joinHits } from './sent-hits.ts';

export interface HitSenderKit {
  verbs: HitVerbs;
  clock: Clock;
  log: Logger;
}

/** A small part of the second that a crash may lose. */
const SEND_AFTER_MS = 20;
/** The other thread has other work, too, so batches stay small. */
const MAX_BATCH = 50;
/** Some 20,000 of the usual length, two seconds at 10,000 per second: the other thread is never that far behind. */
const MAX_PENDING_CHARS = 8_000_000;

export class HitSender {
  readonly #kit: HitSenderKit;
  #noted: string[] = [];
  #pendingChars = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(kit: HitSenderKit) {
    this.#kit = kit;
  }

  note(hit: Omit<Hit, 'at'>): void {
    if (this.#closed) return;
    if (this.#pendingChars >= MAX_PENDING_CHARS) {
      this.#dropped++;
      return;
    }
    const text = hitText({ ...hit, at: this.#kit.clock.now() });
    this.#pendingChars += text.length;
    this.#noted.push(text);
    if (this.#noted.length >= MAX_BATCH) this.#send();
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#send();
    }, SEND_AFTER_MS);
  }

  /** Settles when everything noted is written. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#send();
    await this.#kit.verbs.closeHits();
  }

  #send(): void {
    const count = this.#noted.length;
    if (count === 0) return;
    const chars = this.#noted.reduce((sum, { length }) => sum + length, 0);
    const sent = joinHits(this.#noted);
    this.#noted = [];
    this.#kit.verbs
      .takeHits(sent)
      .catch((error: unknown) => this.#kit.log.error({ error, hits: count }, 'opens and clicks are lost'))
      .finally(() => {
        this.#pendingChars -= chars;
        this.#reportDropped();
      });
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    this.#kit.log.warn({ dropped: this.#dropped }, 'too many opens and clicks; some were not counted');
    this.#dropped = 0;
  }
}
