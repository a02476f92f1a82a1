// Finds bodies that have stopped coming. One timer looks at all that a server waits for: nearly every body is there within
// a millisecond, and two timers of its own would cost more than all else that is done to receive it. It counts its own
// looks and not the time, so that a pause of this process is not held against its clients.
import { BODY_PACE_BYTES } from './http.ts';

/** A body, or the rest of one that is dropped. */
export interface Incoming {
  receivedBytes(): number;
  /** So long without a byte. */
  idleMs: number;
  /** In each such period it must bring `BODY_PACE_BYTES`. */
  paceMs?: number | undefined;
  /** Called every few seconds: the limits here are the ones that count. */
  keepOpen(): void;
  /** Called once; it is not watched any more. */
  onStalled(): void;
}

/** uWebSockets closes after 8 s, at the least. By the clock, which goes on while this process has no time to look. */
const KEEP_OPEN_EVERY_MS = 2_000;

class Watch {
  readonly #incoming: Incoming;
  /** Before the first look not even one whole period has passed. */
  #idleLooks = -1;
  #paceLooks = -1;
  #keptOpenAt = performance.now();
  #seenBytes: number;
  #countedBytes: number;

  constructor(incoming: Incoming) {
    this.#incoming = incoming;
    this.#seenBytes = incoming.receivedBytes();
    this.#countedBytes = this.#seenBytes;
  }

  /** Whether it has stalled. */
  look(everyMs: number): boolean {
    const { idleMs, paceMs = Number.POSITIVE_INFINITY } = this.#incoming;
    const bytes = this.#incoming.receivedBytes();
    this.#idleLooks = bytes === this.#seenBytes ? this.#idleLooks + 1 : 0;
    this.#seenBytes = bytes;
    if (this.#idleLooks * everyMs >= idleMs) return true;
    if (++this.#paceLooks * everyMs < paceMs) return false;
    const isSlow = bytes - this.#countedBytes < BODY_PACE_BYTES;
    this.#countedBytes = bytes;
    this.#paceLooks = 0;
    return isSlow;
  }

  keepOpen(now: number): void {
    if (now - this.#keptOpenAt < KEEP_OPEN_EVERY_MS) return;
    this.#keptOpenAt = now;
    this.#incoming.keepOpen();
  }

  stall(): void {
    this.#incoming.onStalled();
  }
}

export class StallWatch {
  readonly #everyMs: number;
  readonly #watched = new Set<Watch>();
  #timer: NodeJS.Timeout | null = null;

  /** In whole milliseconds, as timers are: a stall is noticed up to so much later, and never earlier. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  begin(incoming: Incoming): Watch {
    const watch = new Watch(incoming);
    this.#watched.add(watch);
    this.#timer ??= setInterval(() => this.#look(), this.#everyMs).unref();
    return watch;
  }

  end(watch: Watch): void {
    this.#watched.delete(watch);
  }

  /** Goes on as long as there is something to look at: the timer outlives short gaps between bodies. */
  #look(): void {
    if (this.#watched.size === 0) {
      clearInterval(this.#timer!);
      this.#timer = null;
    }
    const now = performance.now();
    for (const watch of this.#watched) {
      watch.keepOpen(now);
      if (!watch.look(this.#everyMs)) continue;
      this.#watched.delete(watch);
      watch.stall();
    }
  }
}
