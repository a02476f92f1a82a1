// What the sessions of a courier thread say, gathered for one turn of its event loop: a message to the
// other thread each would cost it, and wake the main thread, as much as the delivery itself does there.
import type { CourierNews, SessionWord } from './messages.ts';

export class Outbox {
  readonly #post: (news: CourierNews) => void;
  #held: CourierNews = [];

  constructor(post: (news: CourierNews) => void) {
    this.#post = post;
  }

  add(session: number, word: SessionWord): void {
    if (this.#held.length === 0) setImmediate(() => this.flush());
    this.#held.push([session, word]);
  }

  /** Also before anything that may take long, or be the end of the thread. */
  flush(): void {
    if (this.#held.length === 0) return;
    const news = this.#held;
    this.#held = [];
    this.#post(news);
  }
}
