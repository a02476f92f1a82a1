// A request's body while it is received, for any engine: held back until a handler reads it, read up to a limit and as
// far as there is room, or drained. It never keeps more, and always settles.
import type { BodyResult, BodyRoom } from './http.ts';
import type { StallWatch } from './stall-watch.ts';

export interface BodySource {
  /** Starts or resumes calls of `push`. */
  flow(): void;
  /** Stops calls of `push` soon. */
  pause(): void;
  /** Begins the engine's own limit on waiting anew, where it has one. */
  keepOpen?(): void;
}

export interface BodyReading {
  limitBytes: number;
  idleMs: number;
  paceMs: number;
  room?: BodyRoom;
}

type Ending = 'complete' | 'over' | 'no_room' | 'stalled' | 'aborted';

interface Waiter {
  limitBytes: number;
  settle(ending: Ending): void;
}

interface Waiting {
  limitBytes: number;
  idleMs: number;
  paceMs?: number;
}

/** What is kept of a body before a handler reads it. */
const HELD_BYTES = 64 * 1024;
/** Room is taken in such steps for a body whose length is known only at its end. */
const ROOM_STEP_BYTES = 256 * 1024;

export class RequestBody {
  readonly declaredBytes: number | null;
  readonly #source: BodySource;
  readonly #stalls: StallWatch;
  #parts: Uint8Array[] = [];
  #receivedBytes = 0;
  #complete: boolean;
  #aborted = false;
  #stalled = false;
  #discarding = false;
  #waiter: Waiter | null = null;
  #room: BodyRoom | null = null;
  /** Room was taken for so many bytes; this much of any body is kept without. */
  #roomBytes = HELD_BYTES;
  #result: Promise<BodyResult> | null = null;

  constructor(declaredBytes: number | null, source: BodySource, stalls: StallWatch) {
    this.declaredBytes = declaredBytes;
    this.#source = source;
    this.#stalls = stalls;
    this.#complete = declaredBytes === 0;
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** Its length is known only at its end. */
  get chunked(): boolean {
    return this.declaredBytes === null;
  }

  /** It was cut off or stalled: the connection can't be used for another request. */
  get failed(): boolean {
    return this.#aborted || this.#stalled;
  }

  /** How much is still to come, as declared. */
  get remainingBytes(): number {
    if (this.#complete) return 0;
    return this.declaredBytes === null ? Number.POSITIVE_INFINITY : this.declaredBytes - this.#receivedBytes;
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
    } else if (!this.#hasRoom(waiter.limitBytes)) {
      waiter.settle('no_room');
    }
  }

  finish(): void {
    this.#complete = true;
    this.#waiter?.settle('complete');
  }

  /** The connection is gone, or its data is not a valid body. */
  abort(): void {
    if (this.#complete) return;
    this.#aborted = true;
    this.#waiter?.settle('aborted');
  }

  read(reading: BodyReading): Promise<BodyResult> {
    this.#result ??= this.#read(reading);
    return this.#result;
  }

  async #read({ limitBytes, idleMs, paceMs, room }: BodyReading): Promise<BodyResult> {
    const declared = this.declaredBytes;
    if (declared !== null && declared > limitBytes) return { kind: 'too_large' };
    this.#room = room ?? null;
    if (!this.#hasRoom(limitBytes)) return { kind: 'no_room' };
    const ending = await this.#wait({ limitBytes, idleMs, paceMs });
    const parts = this.#parts;
    this.#room = null;
    this.#forget();
    this.#stalled = ending === 'stalled';
    if (ending === 'over') return { kind: 'too_large' };
    if (ending === 'no_room') return { kind: 'no_room' };
    if (ending !== 'complete') return { kind: 'broken' };
    const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, this.#receivedBytes);
    return { kind: 'body', bytes };
  }

  #hasRoom(limitBytes: number): boolean {
    const room = this.#room;
    const needed = this.declaredBytes ?? this.#receivedBytes;
    if (room === null || needed <= this.#roomBytes) return true;
    const wanted = this.declaredBytes ?? Math.min(limitBytes, Math.max(needed, this.#roomBytes + ROOM_STEP_BYTES));
    if (!room.take(wanted - this.#roomBytes)) return false;
    this.#roomBytes = wanted;
    return true;
  }

  /** Everything that comes from now on is dropped. */
  discard(): void {
    this.#forget();
    if (!this.#complete && !this.#aborted) this.#source.flow();
  }

  /** Drops the rest, and resolves when it has ended. */
  drain(drainBytes: number, idleMs: number): Promise<Ending> {
    this.#forget();
    return this.#wait({ limitBytes: this.#receivedBytes + drainBytes, idleMs });
  }

  #forget(): void {
    this.#discarding = true;
    this.#parts = [];
  }

  #wait({ limitBytes, idleMs, paceMs }: Waiting): Promise<Ending> {
    // A handler that has replied without waiting for its own readBody no longer gets the body.
    this.#waiter?.settle('aborted');
    if (this.#aborted) return Promise.resolve('aborted');
    if (this.#receivedBytes > limitBytes) return Promise.resolve('over');
    if (this.#complete) return Promise.resolve('complete');
    return new Promise((resolve) => {
      const settle = (ending: Ending) => {
        this.#stalls.end(watched);
        this.#waiter = null;
        resolve(ending);
      };
      const watched = this.#stalls.begin({
        receivedBytes: () => this.#receivedBytes,
        idleMs,
        paceMs,
        // What is only drained may also end by the engine's limit: it has no pace of its own to keep.
        keepOpen: () => paceMs !== undefined && this.#source.keepOpen?.(),
        onStalled: () => settle('stalled'),
      });
      this.#waiter = { limitBytes, settle };
      this.#source.flow();
    });
  }
}
