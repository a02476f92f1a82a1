// Tells a dispatcher which webhooks got something due. Noted while a verb writes, told in the next
// turn of the event loop: a group commits within one. What was rolled back is told too; whoever
// hears it finds nothing.
import { fromId } from './values.ts';

export class DueNotices {
  readonly #webhooks = new Set<string>();
  #listener: ((webhookIds: string[]) => void) | null = null;

  watch(listener: (webhookIds: string[]) => void): void {
    this.#listener = listener;
  }

  note(webhookIds: readonly Uint8Array[]): void {
    if (this.#listener === null) return;
    if (this.#webhooks.size === 0) setImmediate(() => this.#tell());
    for (const id of webhookIds) this.#webhooks.add(fromId(id));
  }

  #tell(): void {
    const told = [...this.#webhooks];
    this.#webhooks.clear();
    this.#listener?.(told);
  }
}
