// Notices within one process. Collected while verbs write and passed on in the next turn of the event loop, since a group
// commits within one turn. Rolled-back work may be reported, too; its listener then finds nothing.
import type { NoticeListener, Notices } from '../../notices.ts';
import { fromId } from '../../sql/values.ts';

export class Listeners implements Notices {
  readonly #listeners: NoticeListener[] = [];

  get areThere(): boolean {
    return this.#listeners.length > 0;
  }

  listen(listener: NoticeListener): void {
    this.#listeners.push(listener);
  }

  /** There is no other node. */
  tellLanes(): void {}

  tellInbound(): void {}

  webhooksDue(webhookIds: string[]): void {
    for (const listener of this.#listeners) listener.webhooksDue?.(webhookIds);
  }
}

export class DueNotices {
  readonly listeners = new Listeners();
  readonly #webhooks = new Set<string>();

  note(webhookIds: readonly Uint8Array[]): void {
    if (!this.listeners.areThere) return;
    if (this.#webhooks.size === 0) setImmediate(() => this.#flush());
    for (const id of webhookIds) this.#webhooks.add(fromId(id));
  }

  #flush(): void {
    const due = [...this.#webhooks];
    this.#webhooks.clear();
    this.listeners.webhooksDue(due);
  }
}
