// The main thread's orders to one courier session.

import type { Socket } from 'node:net';
import { Fault } from '../../base/errors.ts';
import type { SmtpStage, StageMark } from '../../base/outcome.ts';
import { type Dialler, dialForOctets } from '../../protocol/smtp/dial.ts';
import type { Batch, CourierOrder } from './messages.ts';

interface InboxPort {
  /** The session has taken the next batch. */
  taken(): void;
  /** Of the messages that were asked for, these are given back. */
  withdrawn(messageIds: string[]): void;
}

export class OrderInbox {
  #batches: Batch[] = [];
  /** Of all its messages that were not given back, whether a command of it has been sent. */
  readonly #messages = new Map<string, { isBegun: boolean }>();
  #ended = false;
  #stopped = false;
  #wake: (() => void) | null = null;
  readonly #aborted = new AbortController();
  readonly #port: InboxPort;

  constructor(port: InboxPort) {
    this.#port = port;
  }

  /** A command of the message is sent next. False: it was given back. */
  begin(messageId: string): boolean {
    const message = this.#messages.get(messageId);
    if (message) message.isBegun = true;
    return message !== undefined;
  }

  /** False: it was given back. */
  holds(messageId: string): boolean {
    return this.#messages.has(messageId);
  }

  /** Whether messages that are not on the wire yet must be given back. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Aborted when what is on the wire must be cut off, too. */
  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  receive(order: CourierOrder): void {
    if (order.kind === 'withdraw') {
      this.#withdraw(order.messageIds);
      return;
    }
    if (order.kind === 'batch') {
      this.#batches.push(order);
      for (const id of order.messageIds) this.#messages.set(id, { isBegun: false });
    } else this.#ended = true;
    if (order.kind === 'stop' || order.kind === 'abort') this.#stopped = true;
    if (order.kind === 'abort') this.#aborted.abort(order.reason);
    this.#wake?.();
  }

  #withdraw(asked: string[]): void {
    const messageIds = asked.filter((id) => this.#messages.get(id)?.isBegun === false);
    for (const id of messageIds) this.#messages.delete(id);
    this.#port.withdrawn(messageIds);
  }

  /** Null: close the session. */
  async nextBatch(): Promise<Batch | null> {
    while (this.#batches.length === 0 && !this.#ended) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
    const batch = this.#batches.shift() ?? null;
    if (batch) this.#port.taken();
    return batch;
  }
}

// Whether a session makes progress: bytes on its connection, or a new connection attempt. It reads the
// socket's own counters, because a listener for data would consume it. An aborted session loses its
// connection at once, and can't open another.

export class Activity {
  readonly #signal: AbortSignal;
  #socket: Socket | null = null;
  #dials = 0;
  #last = '';

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#socket?.destroy(new Fault(String(signal.reason))), { once: true });
  }

  readonly dial: Dialler = async (target) => {
    this.#dials++;
    const socket = await dialForOctets({ ...target, signal: this.#signal });
    this.#dials++;
    this.#socket = socket;
    return socket;
  };

  /** Whether there was progress since the last call. */
  moved(): boolean {
    const now = `${this.#dials} ${this.#socket?.bytesRead} ${this.#socket?.bytesWritten}`;
    const changed = now !== this.#last;
    this.#last = now;
    return changed;
  }
}

/** A session has few stages per message; a server that is tried over and over has no more to tell. */
const MAX_MARKS = 64;

/** When the stages of the message on the wire were over; those of a new connection belong to its first message. */
export class StageTimes {
  readonly #now: () => number;
  #marks: StageMark[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly note = (stage: SmtpStage): void => {
    if (this.#marks.length < MAX_MARKS) this.#marks.push([stage, this.#now()]);
  };

  take(): StageMark[] {
    const marks = this.#marks;
    this.#marks = [];
    return marks;
  }
}
