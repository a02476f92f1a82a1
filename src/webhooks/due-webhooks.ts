// Which webhooks have deliveries that are due, now or later: asked page by page, since there may be very many.
import type { StoreVerbs } from '../store/store.ts';

const PAGE = 1000;

export async function* dueWebhooks(
  store: StoreVerbs<{ webhooks: 'dueWebhooks' }>,
  slots: readonly number[],
  isOver: () => boolean,
): AsyncGenerator<{ webhookId: string; dueAt: number }> {
  for (let after: string | null = null; !isOver(); ) {
    const page = await store.webhooks.dueWebhooks(slots, after, PAGE);
    yield* page.found;
    if (page.last === null) return;
    after = page.last;
  }
}
