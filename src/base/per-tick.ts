// Work gathered for the end of a turn of the event loop: done once (OncePerTick), handed over as one batch
// (BatchPerTick), or spread over several turns so that the event loop never stands still (FewPerTick).

/** However often it is asked for in one turn, the work is done once, in the next. */
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

/** Items of one turn are one batch, in their order. With a maximum, the others follow in the next turns. */
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

  /** Everything at once. */
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

/** A few items in this turn, the others in the turns that follow, in their order. What comes singly is done at once. */
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

  /** An item that waits already keeps its place. */
  add(item: T): void {
    this.#waiting.add(item);
    // If there are others, the loop that works on them comes to this one.
    if (this.#waiting.size === 1 && this.#doneInTurn < this.#max) this.#workOff();
    this.#turn.request();
  }

  stop(): void {
    this.#waiting.clear();
    this.#turn.cancel();
  }

  #begin(): void {
    this.#doneInTurn = 0;
    this.#workOff();
    if (this.#doneInTurn > 0) this.#turn.request();
  }

  #workOff(): void {
    for (const item of this.#waiting) {
      if (this.#doneInTurn >= this.#max) return;
      this.#doneInTurn++;
      this.#waiting.delete(item);
      this.#work(item);
    }
  }
}
