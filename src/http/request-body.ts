// A request's body on its way in, whatever the engine: held back until somebody asks, read
// up to a limit and as far as there is room, or drained. It never keeps more, and always settles.
import { BODY_PACE_BYTES, type BodyResult, type BodyRoom } from './http.ts';

export interface BodySource {
  /** Begin, or begin again, to call `push`. */
  flow(): void;
  /** Stop calling `push` soon. */
  pause(): void;
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
  timer: NodeJS.Timeout;
  settle(ending: Ending): void;
}

interface Waiting {
  limitBytes: number;
  idleMs: number;
  paceMs?: number;
}

/** What is kept of a body before a handler asks for it. */
const HELD_BYTES = 64 * 1024;
/** In such steps room is taken for a body whose length shows only at its end. */
const ROOM_STEP_BYTES = 256 * 1024;

export class RequestBody {
  readonly declaredBytes: number | null;
  readonly #source: BodySource;
  #parts: Uint8Array[] = [];
  #receivedBytes = 0;
  #complete: boolean;
  #aborted = false;
  #stalled = false;
  #discarding = false;
  #waiter: Waiter | null = null;
  #room: BodyRoom | null = null;
  /** For so much room was taken; of any body so much is kept without. */
  #roomBytes = HELD_BYTES;
  #result: Promise<BodyResult> | null = null;

  constructor(declaredBytes: number | null, source: BodySource) {
    this.declaredBytes = declaredBytes;
    this.#source = source;
    this.#complete = declaredBytes === 0;
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** Its length shows only at its end. */
  get chunked(): boolean {
    return this.declaredBytes === null;
  }

  /** It broke off or stalled: nothing sensible can follow on this connection. */
  get failed(): boolean {
    return this.#aborted || this.#stalled;
  }

  /** How much is still to come, as far as the client has said. */
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

  /** Whatever comes from now on is thrown away. */
  discard(): void {
    this.#forget();
    if (!this.#complete && !this.#aborted) this.#source.flow();
  }

  /** Throws the rest away, and says when that is over. */
  drain(drainBytes: number, idleMs: number): Promise<Ending> {
    this.#forget();
    return this.#wait({ limitBytes: this.#receivedBytes + drainBytes, idleMs });
  }

  #forget(): void {
    this.#discarding = true;
    this.#parts = [];
  }

  #wait({ limitBytes, idleMs, paceMs }: Waiting): Promise<Ending> {
    // A handler that has answered without waiting for its own readBody gets no body any more.
    this.#waiter?.settle('aborted');
    if (this.#aborted) return Promise.resolve('aborted');
    if (this.#receivedBytes > limitBytes) return Promise.resolve('over');
    if (this.#complete) return Promise.resolve('complete');
    return new Promise((resolve) => {
      const settle = (ending: Ending) => {
        clearTimeout(timer);
        clearInterval(pace);
        this.#waiter = null;
        resolve(ending);
      };
      const timer = setTimeout(settle, idleMs, 'stalled');
      let countedBytes = this.#receivedBytes;
      const pace =
        paceMs &&
        setInterval(() => {
          if (this.#receivedBytes - countedBytes < BODY_PACE_BYTES) settle('stalled');
          countedBytes = this.#receivedBytes;
        }, paceMs);
      this.#waiter = { limitBytes, timer, settle };
      this.#source.flow();
    });
  }
}
