// Notifies a dispatcher of webhooks that have something due. Collected while verbs write and sent in the next turn of
// the event loop, since a group commits within one turn. Rolled-back work may be reported, too; the dispatcher then
// finds nothing.
import { fromId } from './values.ts';

export class DueNotices {
  readonly #webhooks = new Set<string>();
  #listener: ((webhookIds: string[]) => void) | null = null;

  watch(listener: (webhookIds: string[]) => void): void {
    this.#listener = listener;
  }

  note(webhookIds: readonly Uint8Array[]): void {
    if (this.#listener === null) return;
    if (this.#webhooks.size === 0) setImmediate(() => this.#flush());
    for (const id of webhookIds) this.#webhooks.add(fromId(id));
  }

  #flush(): void {
    const due = [...this.#webhooks];
    this.#webhooks.clear();
    this.#listener?.(due);
  }
}
