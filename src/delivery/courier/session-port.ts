// The orders of the main thread, as a courier session reads them.

import type { Socket } from 'node:net';
import { Fault } from '../../base/errors.ts';
import { type Dialler, dialForOctets } from '../../protocol/smtp/dial.ts';
import type { CourierOrder } from './messages.ts';

export class OrderInbox {
  #batches: string[][] = [];
  #ended = false;
  #stopped = false;
  #wake: (() => void) | null = null;
  readonly #aborted = new AbortController();
  readonly #onTaken: () => void;

  constructor(onTaken: () => void) {
    this.#onTaken = onTaken;
  }

  /** Whether the messages that are not on the wire yet shall be given back. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Aborted when what is on the wire shall be cut off, too. */
  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  take(order: CourierOrder): void {
    if (order.kind === 'batch') this.#batches.push(order.messageIds);
    else this.#ended = true;
    if (order.kind === 'stop' || order.kind === 'abort') this.#stopped = true;
    if (order.kind === 'abort') this.#aborted.abort(order.reason);
    this.#wake?.();
  }

  /** Null when the session is to be closed. */
  async nextBatch(): Promise<string[] | null> {
    while (this.#batches.length === 0 && !this.#ended) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
    const batch = this.#batches.shift() ?? null;
    if (batch) this.#onTaken();
    return batch;
  }
}

// Whether a session moves: bytes on its connection, or a new call. It looks at the socket's own
// counters, because whoever listens to a socket takes its data. An aborted session loses its
// connection at once, and gets no other.

export class Pulse {
  readonly #signal: AbortSignal;
  #socket: Socket | null = null;
  #calls = 0;
  #last = '';

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#socket?.destroy(new Fault(String(signal.reason))), { once: true });
  }

  readonly dial: Dialler = async (target) => {
    this.#calls++;
    const socket = await dialForOctets({ ...target, signal: this.#signal });
    this.#calls++;
    this.#socket = socket;
    return socket;
  };

  /** Whether anything has moved since the last time this was asked. */
  moved(): boolean {
    const now = `${this.#calls} ${this.#socket?.bytesRead} ${this.#socket?.bytesWritten}`;
    const changed = now !== this.#last;
    this.#last = now;
    return changed;
  }
}
