// Work collected for the end of a turn of the event loop: done once (OncePerTick), passed on as one batch
// (BatchPerTick), or spread over several turns so that the event loop is not blocked (FewPerTick).

/** However often it is requested in one turn, the work runs once, in the next. */
export class OncePerTick {
  readonly #work: () => void;
  #next: NodeJS.Immediate | null = null;

  constructor(work: () => void) {
    this.#work = work;
  }

  get isPending(): boolean {
    return this.#next !== null;
  }

  request(): void {
    this.#next ??= setImmediate(() => {
      this.#next = null;
      this.#work();
    });
  }

  cancel(): void {
    if (this.#next) clearImmediate(this.#next);
    this.#next = null;
  }
}

/** Items of one turn are one batch, in order. With a maximum, the others follow in later turns. */
export class BatchPerTick<T> {
  readonly #work: (batch: T[]) => void;
  readonly #max: number;
  readonly #turn = new OncePerTick(() => this.#take());
  #waiting: T[] = [];

  constructor(work: (batch: T[]) => void, max = Number.POSITIVE_INFINITY) {
    this.#work = work;
    this.#max = max;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.#turn.request();
  }

  /** Passes on everything now. */
  flush(): void {
    this.#turn.cancel();
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length > 0) this.#work(batch);
  }

  #take(): void {
    const batch = this.#waiting;
    this.#waiting = batch.splice(this.#max);
    if (this.#waiting.length > 0) this.#turn.request();
    this.#work(batch);
  }
}

/** Up to `max` items per turn, the others in later turns, in order. Single items run at once. */
export class FewPerTick<T> {
  readonly #max: number;
  readonly #work: (item: T) => void;
  readonly #waiting = new Set<T>();
  readonly #turn = new OncePerTick(() => this.#begin());
  #doneInTurn = 0;

  constructor(max: number, work: (item: T) => void) {
    this.#max = max;
    this.#work = work;
  }

  /** An item that waits already keeps its position. */
  add(item: T): void {
    this.#waiting.add(item);
    // If others wait, the loop over them reaches this one, too.
    if (this.#waiting.size === 1 && this.#doneInTurn < this.#max) this.#process();
    this.#turn.request();
  }

  stop(): void {
    this.#waiting.clear();
    this.#turn.cancel();
  }

  #begin(): void {
    this.#doneInTurn = 0;
    this.#process();
    if (this.#doneInTurn > 0) this.#turn.request();
  }

  #process(): void {
    for (const item of this.#waiting) {
      if (this.#doneInTurn >= this.#max) return;
      this.#doneInTurn++;
      this.#waiting.delete(item);
      this.#work(item);
    }
  }
}
