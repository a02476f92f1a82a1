// The main thread's end of one courier session: orders out, reports in, and how long ago the
// session last gave a sign of life.
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { unreachable } from '../base/errors.ts';
import type {
  CourierGoodbye,
  CourierOrder,
  CourierProgress,
  CourierReceipt,
  CourierReport,
} from './courier/messages.ts';

export interface CourierLink {
  order(order: CourierOrder): void;
  /** Settles when the session is over, or its thread is: after its last report. */
  over: Promise<void>;
  /** Why it ended without a goodbye; null when it said one. */
  readonly fate: string | null;
  /** Of what was ordered: surely not on the wire, because the courier never took it. */
  untaken(): Set<string>;
}

type Heard = CourierReport | CourierReceipt | CourierProgress | CourierGoodbye;

export class WatchedLink implements CourierLink {
  readonly over: Promise<void>;
  readonly #port: MessagePort;
  readonly #onReport: (report: CourierReport) => void;
  readonly #elapsed: () => number;
  #fate: string | null = 'the courier thread died in the middle of the session';
  readonly #untakenBatches: string[][] = [];
  #inHand = 0;
  #endOrdered = false;
  #aborted = false;
  #abandoned = false;
  #lastSignAt: number;

  constructor(port: MessagePort, onReport: (report: CourierReport) => void, elapsed: () => number) {
    this.#port = port;
    this.#onReport = onReport;
    this.#elapsed = elapsed;
    this.#lastSignAt = elapsed();
    this.over = new Promise((resolve) => port.once('close', () => resolve()));
    port.on('message', (heard: Heard) => this.#hear(heard));
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
    this.#port.postMessage(order);
  }

  /** Leaves a session behind that does not end by itself; its thread lives on. */
  abandon(reason: string): void {
    this.#abandoned = true;
    if (this.#fate !== null) this.#fate = reason;
    this.cut();
  }

  /** Ends it from this side. What it reported with its last breath is true all the same. */
  cut(): void {
    for (let last = receiveMessageOnPort(this.#port); last; last = receiveMessageOnPort(this.#port)) {
      this.#hear(last.message);
    }
    this.#port.close();
  }

  #hear(heard: Heard): void {
    this.#lastSignAt = this.#elapsed();
    switch (heard.kind) {
      case 'progress':
        return;
      case 'taken':
        this.#untakenBatches.shift();
        return;
      case 'over':
        this.#fate = null;
        return;
      case 'result':
        this.#inHand--;
        break;
      case 'untried':
        this.#inHand -= heard.messageIds.length;
        break;
      case 'more':
        break;
      default:
        unreachable(heard);
    }
    this.#onReport(heard);
  }
}
