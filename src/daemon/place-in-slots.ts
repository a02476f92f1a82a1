// Gives new work to a node: a store in which mail, batches, webhooks and inbound mail for which nobody chose a slot get
// one of this node's.
import type { Ownership } from '../store/ownership.ts';
import type { Store } from '../store/store.ts';

export function placeInSlots(store: Store, ownership: Pick<Ownership, 'slotForNew'>): Store {
  const { submissions, webhooks, inbound } = store;
  const placed = <T extends { slot?: number }>(work: T): T =>
    work.slot === undefined ? Object.assign(work, { slot: ownership.slotForNew() }) : work;
  return {
    ...store,
    submissions: {
      ...submissions,
      accept: (submission) => submissions.accept(placed(submission)),
      acceptBatch(batch) {
        for (const entry of batch.entries) if (entry.kind === 'submission') placed(entry.submission);
        return submissions.acceptBatch(batch);
      },
    },
    webhooks: {
      ...webhooks,
      createWebhook: (webhook, max) => webhooks.createWebhook(placed(webhook), max),
    },
    inbound: {
      ...inbound,
      keepInbound: (mail, quota) => inbound.keepInbound(placed(mail), quota),
    },
  };
}
