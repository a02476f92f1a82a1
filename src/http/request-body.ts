// A request's body on its way in, whatever the engine: held back until somebody asks, read
// up to a limit, or drained. It never keeps more than the limit, and always settles.
import type { BodyResult } from './http.ts';

export interface BodySource {
  /** Begin, or begin again, to call `push`. */
  flow(): void;
  /** Stop calling `push` soon. */
  pause(): void;
}

type Ending = 'complete' | 'over' | 'stalled' | 'aborted';

interface Waiter {
  limitBytes: number;
  timer: NodeJS.Timeout;
  settle(ending: Ending): void;
}

/** What is kept of a body before a handler asks for it. */
const HELD_BYTES = 64 * 1024;

export class RequestBody {
  readonly #declaredBytes: number | null;
  readonly #source: BodySource;
  #parts: Uint8Array[] = [];
  #receivedBytes = 0;
  #complete: boolean;
  #aborted = false;
  #stalled = false;
  #discarding = false;
  #waiter: Waiter | null = null;
  #result: Promise<BodyResult> | null = null;

  constructor(declaredBytes: number | null, source: BodySource) {
    this.#declaredBytes = declaredBytes;
    this.#source = source;
    this.#complete = declaredBytes === 0;
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** Its length shows only at its end. */
  get chunked(): boolean {
    return this.#declaredBytes === null;
  }

  /** It broke off or stalled: nothing sensible can follow on this connection. */
  get failed(): boolean {
    return this.#aborted || this.#stalled;
  }

  /** How much is still to come, as far as the client has said. */
  get remainingBytes(): number {
    if (this.#complete) return 0;
    return this.#declaredBytes === null ? Number.POSITIVE_INFINITY : this.#declaredBytes - this.#receivedBytes;
  }

  /** A piece from the engine, which may reuse its memory afterwards. */
  push(piece: Uint8Array): void {
    this.#receivedBytes += piece.length;
    if (!this.#discarding && piece.length > 0) this.#parts.push(Buffer.from(piece));
    const waiter = this.#waiter;
    if (waiter === null) {
      if (!this.#discarding && this.#receivedBytes > HELD_BYTES) this.#source.pause();
    } else if (this.#receivedBytes > waiter.limitBytes) {
      waiter.settle('over');
    } else {
      waiter.timer.refresh();
    }
  }

  finish(): void {
    this.#complete = true;
    this.#waiter?.settle('complete');
  }

  /** The connection is gone, or what comes over it is no body any more. */
  abort(): void {
    if (this.#complete) return;
    this.#aborted = true;
    this.#waiter?.settle('aborted');
  }

  read(limitBytes: number, idleMs: number): Promise<BodyResult> {
    this.#result ??= this.#read(limitBytes, idleMs);
    return this.#result;
  }

  async #read(limitBytes: number, idleMs: number): Promise<BodyResult> {
    if (this.#declaredBytes !== null && this.#declaredBytes > limitBytes) return { kind: 'too_large' };
    const ending = await this.#wait(limitBytes, idleMs);
    const parts = this.#parts;
    this.#forget();
    this.#stalled = ending === 'stalled';
    if (ending === 'over') return { kind: 'too_large' };
    if (ending !== 'complete') return { kind: 'broken' };
    const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, this.#receivedBytes);
    return { kind: 'body', bytes };
  }

  /** Whatever comes from now on is thrown away. */
  discard(): void {
    this.#forget();
    if (!this.#complete && !this.#aborted) this.#source.flow();
  }

  /** Throws the rest away, and says when that is over. */
  drain(drainBytes: number, idleMs: number): Promise<Ending> {
    this.#forget();
    return this.#wait(this.#receivedBytes + drainBytes, idleMs);
  }

  #forget(): void {
    this.#discarding = true;
    this.#parts = [];
  }

  #wait(limitBytes: number, idleMs: number): Promise<Ending> {
    // A handler that has answered without waiting for its own readBody gets no body any more.
    this.#waiter?.settle('aborted');
    if (this.#aborted) return Promise.resolve('aborted');
    if (this.#receivedBytes > limitBytes) return Promise.resolve('over');
    if (this.#complete) return Promise.resolve('complete');
    return new Promise((resolve) => {
      const settle = (ending: Ending) => {
        clearTimeout(timer);
        this.#waiter = null;
        resolve(ending);
      };
      const timer = setTimeout(settle, idleMs, 'stalled');
      this.#waiter = { limitBytes, timer, settle };
      this.#source.flow();
    });
  }
}
