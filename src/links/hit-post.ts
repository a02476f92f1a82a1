// Opens and clicks as requests leave them: noted here and answered at once, and sent every few milliseconds to where
// they are decided and written (hit-verbs.ts), so that requests cost this thread nothing but their answers.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import type { Hit } from './hit-recorder.ts';
import type { HitVerbs } from './hit-verbs.ts';
import { hitText, joinHits } from './sent-hits.ts';

export interface HitPostKit {
  desk: HitVerbs;
  clock: Clock;
  log: Logger;
}

/** A small part of the second that a crash may cost. */
const SENT_AFTER_MS = 20;
/** The other thread has other work to do: never too many at once. */
const MOST_AT_ONCE = 50;
/** Some 20,000 of the usual length, two seconds at 10,000 per second: so far the other thread never is behind. */
const MOST_UNTAKEN_CHARS = 8_000_000;

export class HitPost {
  readonly #kit: HitPostKit;
  #noted: string[] = [];
  #untakenChars = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(kit: HitPostKit) {
    this.#kit = kit;
  }

  note(hit: Omit<Hit, 'at'>): void {
    if (this.#closed) return;
    if (this.#untakenChars >= MOST_UNTAKEN_CHARS) {
      this.#dropped++;
      return;
    }
    const text = hitText({ ...hit, at: this.#kit.clock.now() });
    this.#untakenChars += text.length;
    this.#noted.push(text);
    if (this.#noted.length >= MOST_AT_ONCE) this.#send();
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#send();
    }, SENT_AFTER_MS);
  }

  /** All that was noted is written. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#send();
    await this.#kit.desk.closeHits();
  }

  #send(): void {
    const count = this.#noted.length;
    if (count === 0) return;
    const chars = this.#noted.reduce((sum, { length }) => sum + length, 0);
    const sent = joinHits(this.#noted);
    this.#noted = [];
    this.#kit.desk
      .takeHits(sent)
      .catch((error: unknown) => this.#kit.log.error({ error, hits: count }, 'opens and clicks are lost'))
      .finally(() => {
        this.#untakenChars -= chars;
        this.#tellOfDropped();
      });
  }

  #tellOfDropped(): void {
    if (this.#dropped === 0) return;
    this.#kit.log.warn({ dropped: this.#dropped }, 'too many opens and clicks; some were not counted');
    this.#dropped = 0;
  }
}
