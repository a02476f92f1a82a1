// The store and the model side by side: everything that the model knows, asked for by verbs that read.
import type { Walk } from './walk.ts';

export async function compare(walk: Walk): Promise<void> {
  await compareMessages(walk);
  await compareEvents(walk);
  await compareLists(walk);
  await compareWebhooks(walk);
}

async function compareMessages({ model, store, same }: Walk): Promise<void> {
  for (const message of model.messages.values()) {
    const { id, tenantId, state, attempts, dueAt, parked, ambiguous, finishedAt, recipient } = message;
    const found = await store.queue.findMessage(tenantId, id);
    const facts = found && {
      ...{ state: found.state, attempts: found.attempts, dueAt: found.dueAt, parked: found.parked },
      ...{ ambiguous: found.ambiguous, finishedAt: found.finishedAt, recipient: found.recipient },
    };
    same(facts, { state, attempts, dueAt, parked, ambiguous, finishedAt, recipient }, `message ${id}`);
    const recorded = found!.attemptList.map(({ attempt }) => attempt);
    same(
      recorded,
      [...message.recorded].toSorted((a, b) => a - b),
      `attempts of ${id}`,
    );
  }
  same(await store.figures.countOpenMessages(), model.openMessages(), 'open messages');
  for (const submission of model.submissions.values()) {
    const { id, tenantId, idempotencyKey, messageIds } = submission;
    const found = await store.queue.findSubmission(tenantId, id);
    const shown = found?.messages.map((message) => [message.id, message.state]);
    same(
      shown,
      messageIds.map((messageId) => [messageId, model.messages.get(messageId)?.state]),
      'submission',
    );
    if (idempotencyKey === null) continue;
    same(await store.submissions.findBatch(tenantId, idempotencyKey), null, 'no batch');
    const receipt = await store.submissions.findReceipt(tenantId, idempotencyKey);
    same({ id: receipt?.id, messageIds: receipt?.messageIds }, { id, messageIds }, 'receipt');
  }
}

async function compareEvents({ model, store, same }: Walk): Promise<void> {
  for (const tenantId of model.tenants.keys()) {
    const events = await store.events.listEvents(tenantId, { after: null, limit: 10_000 });
    const own = model.events.filter((event) => event.tenantId === tenantId);
    same(
      events === 'unknown' ? events : events.map(({ id, messageId, type }) => ({ id, messageId, type })),
      own.map(({ id, messageId, type }) => ({ id, messageId, type })),
      'events',
    );
    const newest = model.newestEvents.get(tenantId);
    if (newest) same(await store.events.listEvents(tenantId, { after: newest, limit: 1 }), [], 'events after the last');
  }
}

async function compareLists({ model, store, now, same }: Walk): Promise<void> {
  const page = { after: null, limit: 1000 };
  for (const tenant of model.tenants.values()) {
    same(await store.tenants.getTenant(tenant.id), tenant, 'tenant');
    const own = [...model.domains.values()].filter(({ tenantId }) => tenantId === tenant.id);
    same((await store.domains.listDomains(tenant.id)).toSorted(byId), own.toSorted(byId), 'domains');
    const entries = [...model.suppressions].filter(([key]) => key.startsWith(tenant.id)).map(([, entry]) => entry);
    same(await store.suppressions.listSuppressions(tenant.id, page), entries.toSorted(byAddress), 'suppressions');
    const search = { prefix: '', reason: 'manual', after: null, limit: 1000 } as const;
    const manual = entries.filter(({ reason }) => reason === 'manual').toSorted(byAddress);
    same((await store.suppressions.searchSuppressions(tenant.id, search)).entries, manual, 'searchSuppressions');
    const [first] = entries;
    if (first) same(await store.suppressions.getSuppression(tenant.id, first.address), first, 'getSuppression');
    for (const { address } of [...entries.slice(0, 2), ...[...model.platform.values()].slice(0, 2)]) {
      const reason = await store.suppressions.findReasonAgainst(tenant.id, address, now);
      same(reason, model.suppressionReason(tenant.id, address, now), 'findReasonAgainst');
    }
  }
  same(
    await store.suppressions.listPlatformSuppressions(page),
    [...model.platform.values()].toSorted(byAddress),
    'platform',
  );
}

async function compareWebhooks({ model, store, heard, same }: Walk): Promise<void> {
  await new Promise(setImmediate); // the dispatcher is told in the turn behind a commit
  const untold = [...model.due].filter((id) => !heard.has(id));
  same(untold, [], 'webhooks whose dispatcher was not told');
  heard.clear();
  model.due.clear();
  const health = await store.webhooks.listWebhookHealth(null);
  const wanted = [...model.webhooks.values()].map(({ id, tenantId, target, deliveries }) => {
    const all = [...deliveries.values()];
    const due = all.filter(({ dueAt }) => dueAt !== null).length;
    return { id, tenantId, target, due, failed: all.filter(({ state }) => state === 'failed').length };
  });
  const found = health.map(({ id, tenantId, target, due, failed }) => ({ id, tenantId, target, due, failed }));
  same(found.toSorted(byId), wanted.toSorted(byId), 'webhooks');
  const { found: dueWebhooks } = await store.webhooks.dueWebhooks([1], null, 1000);
  const nextOf = new Map(dueWebhooks.map(({ webhookId, dueAt }) => [webhookId, dueAt]));
  for (const { id, deliveries } of model.webhooks.values()) {
    const times = [...deliveries.values()].flatMap(({ dueAt }) => dueAt ?? []);
    same(nextOf.get(id), times.length === 0 ? undefined : Math.min(...times), 'the next delivery of a webhook');
  }
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
const byAddress = (a: { address: string }, b: { address: string }) => (a.address < b.address ? -1 : 1);
