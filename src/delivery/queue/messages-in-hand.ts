// Which messages somebody in this process answers for: from their claim until their outcome is on
// disk or they are given back. What is marked as being sent and stands not here is a stray.
// It listens to the store's verbs, so that nobody has to remember to tell it.
import type { QueueStore } from '../../store/queue.ts';

type HandVerbs = Pick<QueueStore, 'claim' | 'record' | 'recordEarlier' | 'release'>;

export class MessagesInHand {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Of an earlier process, whose results are not in the database. */
  hold(ids: readonly string[]): void {
    for (const id of ids) this.#ids.add(id);
  }

  /** The store, whose verbs are noted on their way. */
  noting<S extends HandVerbs>(store: S): S {
    return {
      ...store,
      claim: async (...claim: Parameters<HandVerbs['claim']>) => {
        const claimed = await store.claim(...claim);
        for (const { id } of claimed.messages) this.#ids.add(id);
        return claimed;
      },
      record: async (updates: Parameters<HandVerbs['record']>[0]) => {
        // What the database did not take is still in the recorder's hand.
        const lanes = await store.record(updates);
        for (const { messageId } of updates) this.#ids.delete(messageId);
        return lanes;
      },
      recordEarlier: async (updates: Parameters<HandVerbs['recordEarlier']>[0]) => {
        const applied = await store.recordEarlier(updates);
        for (const { messageId } of updates) this.#ids.delete(messageId);
        return applied;
      },
      release: async (...release: Parameters<HandVerbs['release']>) => {
        // Given back in vain is given back: nobody tries that again but the sweeper.
        for (const id of release[0]) this.#ids.delete(id);
        return await store.release(...release);
      },
    };
  }
}
