// Work that is asked for again and again, and must not run beside itself: what is asked for during a run is done by one more.

export class OneAtATime {
  readonly #work: () => Promise<void>;
  #running = false;
  #again = false;

  /** It must not reject. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  run(): void {
    this.#again = true;
    if (!this.#running) void this.#runAll();
  }

  async #runAll(): Promise<void> {
    this.#running = true;
    while (this.#again) {
      this.#again = false;
      await this.#work();
    }
    this.#running = false;
  }
}
