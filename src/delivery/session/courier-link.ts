// The main thread's end of one courier session: orders out, reports in, and how long ago the
// session last gave a sign of life.
import { unreachable } from '../../base/errors.ts';
import type { CourierOrder, CourierReport, SessionWord } from '../courier/messages.ts';

export interface CourierLink {
  order(order: CourierOrder): void;
  /** Settles when the session is over, or its thread is: after its last report. */
  over: Promise<void>;
  /** Why it ended without a goodbye; null when it said one. */
  readonly fate: string | null;
  /** Of what was ordered: surely not on the wire, because the courier never took it. */
  untaken(): Set<string>;
}

export class WatchedLink implements CourierLink {
  readonly over: Promise<void>;
  readonly #end: () => void;
  readonly #post: (order: CourierOrder) => void;
  readonly #onReport: (report: CourierReport) => void;
  readonly #elapsed: () => number;
  #fate: string | null = 'the courier thread died in the middle of the session';
  readonly #untakenBatches: string[][] = [];
  #inHand = 0;
  #endOrdered = false;
  #aborted = false;
  #abandoned = false;
  #lastSignAt: number;

  constructor(post: (order: CourierOrder) => void, onReport: (report: CourierReport) => void, elapsed: () => number) {
    this.#post = post;
    this.#onReport = onReport;
    this.#elapsed = elapsed;
    this.#lastSignAt = elapsed();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
  }

  get fate(): string | null {
    return this.#fate;
  }

  untaken(): Set<string> {
    return new Set(this.#untakenBatches.flat());
  }

  get abandoned(): boolean {
    return this.#abandoned;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** Messages in hand, or a goodbye: without either, a session may wait for as long as it likes. */
  get owesSomething(): boolean {
    return this.#inHand > 0 || this.#endOrdered;
  }

  get silentMs(): number {
    return this.#elapsed() - this.#lastSignAt;
  }

  order(order: CourierOrder): void {
    // What was asked of it just now starts its time anew.
    this.#lastSignAt = this.#elapsed();
    if (order.kind === 'batch') {
      this.#inHand += order.messageIds.length;
      this.#untakenBatches.push(order.messageIds);
    } else this.#endOrdered = true;
    if (order.kind === 'abort') this.#aborted = true;
    this.#post(order);
  }

  /** Leaves a session behind that does not end by itself; its thread lives on. */
  abandon(reason: string): void {
    this.#abandoned = true;
    if (this.#fate !== null) this.#fate = reason;
    this.#end();
  }

  /** Its thread is no more, and all that it had said has been heard. */
  cut(): void {
    this.#end();
  }

  hear(word: SessionWord): void {
    this.#lastSignAt = this.#elapsed();
    switch (word.kind) {
      case 'progress':
        return;
      case 'taken':
        this.#untakenBatches.shift();
        return;
      case 'over':
        this.#fate = null;
        this.#end();
        return;
      case 'result':
        this.#inHand--;
        break;
      case 'untried':
        this.#inHand -= word.messageIds.length;
        break;
      case 'more':
      case 'connected':
        break;
      default:
        unreachable(word);
    }
    this.#onReport(word);
  }
}
