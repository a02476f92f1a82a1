// The verbs of whatever looks at mail: webhooks, feed, charts, lists, pages of the portal.
import type { PortalReads, ReadOutcome } from '../../../../src/store/reads.ts';
import type { WebhookDelivery } from '../../../../src/store/webhooks.ts';
import { countAll, T0 } from '../../conformance/harness.ts';
import { newHits, UNSUSPICIOUS } from '../../conformance/tracking.ts';
import { type Asked, HOUR_MS, type HotVerbs, PAGE, SIDE_BY_SIDE, SPAN, together } from './asked.ts';
import { BEGIN, BIG_TENANT, BUSY_WEBHOOK, idOf } from './filled.ts';

export function webhookVerbs({ bench, samples }: Asked): HotVerbs {
  const { store } = bench;
  const webhookId = BUSY_WEBHOOK;
  let deliveries: WebhookDelivery[] = [];
  const claim = async () => {
    const owners = [await bench.owner()];
    const claims = [0, 4, 8, 12].map((n) => ({ webhookId: idOf(`webhook ${n}`), limit: 10 }));
    const claimed = await store.webhooks.claimDeliveries(claims, { owners, now: T0, leaseUntil: [T0 + HOUR_MS] });
    deliveries = claimed.flatMap((claim) => claim.deliveries);
    if (deliveries.length < 2) throw new Error('no delivery was claimed');
  };
  const result = { startedAt: T0, elapsedMs: 1, status: 200, reason: '', answer: null };
  const list = (state: 'due' | 'delivered' | 'failed' | null, after: { at: number; eventId: string } | null) => () =>
    store.webhooks.listWebhookDeliveries(BIG_TENANT, { webhookId, state, after, limit: 10 });
  const after = { at: T0 - HOUR_MS, eventId: samples.events[0]! };
  return {
    dueWebhooks: () => store.webhooks.dueWebhooks([1], null, 500),
    readEndpoints: () => store.webhooks.readEndpoints([webhookId, idOf('webhook 4')], T0),
    claimDeliveries: claim,
    recordDeliveries: () =>
      Promise.all(
        deliveries.map((delivery) =>
          store.webhooks.recordDeliveries([{ ...result, delivery, end: { to: 'delivered' } }], T0),
        ),
      ),
    listFailingWebhooks: () => store.webhooks.listFailingWebhooks(T0),
    noteFailureTold: () => store.webhooks.noteFailureTold({ webhookId, failingSince: T0 }, T0),
    listWebhookHealth: () => store.webhooks.listWebhookHealth(BIG_TENANT),
    'attempts of an event': () =>
      store.webhooks.listWebhookAttempts(BIG_TENANT, { webhookId, eventId: samples.events[0]!, limit: 10 }),
    'attempts of a webhook': () =>
      store.webhooks.listWebhookAttempts(BIG_TENANT, { webhookId, eventId: null, limit: 10 }),
    'failed attempts of a webhook': () =>
      store.webhooks.listWebhookAttempts(BIG_TENANT, { webhookId, eventId: null, limit: 10, state: 'failed' }),
    'deliveries of a webhook': list(null, null),
    'deliveries of a webhook, further': list(null, { ...after, at: 0 }),
    'due deliveries': list('due', null),
    'failed deliveries': list('failed', null),
    'failed deliveries, further': list('failed', after),
    'delivered deliveries': list('delivered', null),
    replayFailed: () => store.webhooks.replayFailed(BIG_TENANT, { webhookId, since: T0 - HOUR_MS, limit: 10 }, T0),
    replayDelivery: () => store.webhooks.replayDelivery(BIG_TENANT, { webhookId, eventId: samples.events[0]! }, T0),
    deleteWebhook: () => store.webhooks.deleteWebhook(idOf('tenant 2'), idOf('webhook 2')),
    forgetDeletedWebhooks: () => store.webhooks.forgetDeletedWebhooks(10),
  };
}

export function pageVerbs({ bench, samples }: Asked): HotVerbs {
  const { store } = bench;
  const [messageId] = samples.delivered;
  return {
    listEvents: () => store.events.listEvents(BIG_TENANT, { after: samples.events[0]!, limit: 10 }),
    'listEvents from an unknown one': () => store.events.listEvents(BIG_TENANT, { after: bench.id(), limit: 10 }),
    'listEvents from the first': () => store.events.listEvents(BIG_TENANT, { after: null, limit: 10 } as never),
    eventsOfMessage: () => together((n) => store.events.eventsOfMessage(BIG_TENANT, samples.delivered[n]!)),
    findTracked: () => store.tracking.findTracked(BIG_TENANT, messageId!),
    recordHits: () =>
      store.tracking.recordHits(
        samples.delivered
          .slice(0, SIDE_BY_SIDE)
          .map((id) => ({ tenantId: BIG_TENANT, messageId: id, links: [newHits(bench)] })),
        UNSUSPICIOUS,
      ),
    recentResultsOf: () => store.tenants.recentResultsOf(BIG_TENANT, 1000),
    resultsSinceReview: () => store.reputation.resultsSinceReview(BIG_TENANT, 1000),
    tally: () => countAll(store, 500),
    chartOf: () => store.figures.chartOf(BIG_TENANT, { ...SPAN, stepHours: 1 }),
    providersOf: () => store.figures.providersOf(BIG_TENANT, SPAN),
    tagChartOf: () =>
      store.figures.tagChartOf(BIG_TENANT, { tag: { name: 'kind', value: '1' }, ...SPAN, stepHours: 1 }),
    tagsOf: () => store.figures.tagsOf(BIG_TENANT, { ...SPAN, limit: 10 }),
    onboardingFacts: () => store.figures.onboardingFacts(BIG_TENANT),
  };
}

export function portalVerbs({ reads, samples }: Asked): HotVerbs {
  const found = async <T>(outcome: Promise<ReadOutcome<T>>) => {
    const answer = await outcome;
    if (answer.kind === 'refused') throw new Error(answer.reason);
  };
  const [id] = samples.delivered;
  const search = (filter: Parameters<PortalReads['searchMessages']>[1]) => () =>
    found(reads.searchMessages(BIG_TENANT, filter));
  const limits = { limit: 20, budgetMs: 60_000 };
  const [, recipientDomain] = samples.recipient.split('@');
  return {
    search: search(limits),
    'search by recipient': search({ ...limits, recipient: samples.recipient, recipientDomain: recipientDomain! }),
    'search by domain': search({ ...limits, recipientDomain: 'in3.test' }),
    'search by state': search({ ...limits, state: 'bounced' }),
    'search for text': search({ ...limits, textPart: 'order 77', maxScanned: 2000 }),
    'search by tag': search({ ...limits, tag: { name: 'kind', value: '3' } }),
    'search for nothing': search({ ...limits, textPart: 'there is no such', maxScanned: 2000 }),
    'search in time': search({ ...limits, from: BEGIN, until: BEGIN + 24 * HOUR_MS }),
    messageView: () => found(reads.messageView(BIG_TENANT, id!)),
    messageContent: () => found(reads.messageContent(BIG_TENANT, id!, 1_000_000)),
    latestEvents: () => found(reads.latestEvents(BIG_TENANT, 10)),
    waitingMail: () => found(reads.waitingMail(BIG_TENANT, 10)),
    queueOverview: () => found(reads.queueOverview(null)),
    queueSlice: () => found(reads.queueSlice(null, { tenantId: BIG_TENANT, lanes: 10, messages: 10 })),
    parkedMessages: () => found(reads.parkedMessages(null, 10)),
    'results of tenants': () => found(reads.recentResultsOf(null, [BIG_TENANT, idOf('tenant 1')], 1000)),
    serviceFigures: () =>
      found(reads.serviceFigures(null, { ...SPAN, stepHours: 1, source: null, provider: null, limit: 10 })),
    chartFigures: () => found(reads.chartFigures(BIG_TENANT, { ...SPAN, stepHours: 1 })),
    tagChart: () => found(reads.tagChart(BIG_TENANT, { tag: { name: 'kind', value: '1' }, ...SPAN, stepHours: 1 })),
    tagFigures: () => found(reads.tagFigures(BIG_TENANT, { ...SPAN, limit: 10 })),
    messageTexts: () => found(reads.messageTexts(BIG_TENANT, id!)),
    'searchSuppressions of the portal': () =>
      found(reads.searchSuppressions(BIG_TENANT, { ...PAGE, prefix: 'gone-4', reason: null })),
  };
}
