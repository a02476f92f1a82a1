// What was opened, in order, to be closed in reverse order: when the daemon stops, and when its start fails.

type Close = () => void | Promise<void>;

export class ClosingStack {
  readonly #steps: Close[] = [];
  #closing: Promise<void> | null = null;

  add(close: Close): void {
    this.#steps.push(close);
  }

  /** Runs every step, even after one has failed; then throws the first failure. Later calls wait for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#run();
    return this.#closing;
  }

  async #run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.reverse()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
