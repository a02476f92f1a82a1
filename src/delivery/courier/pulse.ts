// Whether a session moves: bytes on its connection, or a new call. It looks at the socket's own
// counters, because whoever listens to a socket takes its data. An aborted session loses its
// connection at once, and gets no other.
import type { Socket } from 'node:net';
import { Fault } from '../../base/errors.ts';
import { type Dialler, dialForOctets } from '../../protocol/smtp/dial.ts';

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
