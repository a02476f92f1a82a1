// Work on very many things without the event loop standing still: a few in this turn of it, the others
// in the turns that follow, in their order. What comes singly is done at once.

export class FewPerTurn<T> {
  readonly #perTurn: number;
  readonly #work: (item: T) => void;
  readonly #line = new Set<T>();
  #doneInTurn = 0;
  #nextTurn: NodeJS.Immediate | null = null;

  constructor(perTurn: number, work: (item: T) => void) {
    this.#perTurn = perTurn;
    this.#work = work;
  }

  /** What stands in the line already keeps its place. */
  add(item: T): void {
    this.#line.add(item);
    // Whoever is at work with the line meets it there.
    if (this.#line.size === 1 && this.#doneInTurn < this.#perTurn) this.#workOff();
    this.#nextTurn ??= setImmediate(() => this.#turn());
  }

  stop(): void {
    this.#line.clear();
    if (this.#nextTurn) clearImmediate(this.#nextTurn);
  }

  #turn(): void {
    this.#nextTurn = null;
    this.#doneInTurn = 0;
    this.#workOff();
    if (this.#doneInTurn > 0) this.#nextTurn ??= setImmediate(() => this.#turn());
  }

  #workOff(): void {
    for (const item of this.#line) {
      if (this.#doneInTurn >= this.#perTurn) return;
      this.#doneInTurn++;
      this.#line.delete(item);
      this.#work(item);
    }
  }
}
