// webhook list | attempts | replay | rotate: how tenants' endpoints do, what they answered, and sending events
// to them once more.
import { HOUR_MS, toTimestamp } from '../../base/clock.ts';
import { counted } from '../../base/text/counted.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import {
  type AttemptView,
  MAX_DELIVERIES_COUNTED,
  MAX_SECRETS,
  type ReplayOutcome,
  type WebhookHealth,
  type WebhookSecret,
} from '../../store/webhooks.ts';
import { replayFailedSince } from '../../webhooks/replay-failed.ts';
import { rotateSecret, SECRET_OVERLAP_MS } from '../../webhooks/webhooks.ts';
import { storeCommand } from '../command.ts';
import { moment, positional, required, tenantName, uuid, wholeNumber } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { renderTable } from '../table.ts';

const DEFAULT_LIMIT = 100;

const webhookId = required(positional(uuid('WEBHOOK', "the webhook's ID, as webhook list shows it")));

export const webhookList = storeCommand({
  name: 'webhook list',
  summary: 'Lists webhooks, oldest first, with their pending deliveries and since when they have been failing.',
  options: { tenant: tenantName("only this tenant's") },
  async run({ store }, { tenant }) {
    return done({ webhooks: (await store.webhooks.listWebhookHealth(tenant ?? null)).map(shownWebhook) });
  },
  render: ({ webhooks }) =>
    renderTable(
      webhooks,
      [
        { title: 'WEBHOOK', value: (webhook) => webhook.id },
        { title: 'TENANT', value: (webhook) => webhook.tenant_id },
        { title: 'DUE', value: (webhook) => countOf(webhook.due) },
        { title: 'FAILED', value: (webhook) => countOf(webhook.failed) },
        { title: 'FAILING SINCE', value: (webhook) => webhook.failing_since },
        { title: 'EVENTS', value: (webhook) => webhook.events?.join(',') ?? 'all' },
        { title: 'URL', value: (webhook) => webhook.url },
      ],
      'No webhooks.',
    ),
});

export const webhookAttempts = storeCommand({
  name: 'webhook attempts',
  summary: 'Lists delivery attempts of a webhook, newest first.',
  options: {
    webhook: webhookId,
    event: uuid('ID', 'only attempts for this event'),
    limit: wholeNumber('N', { min: 1, max: 1000 }, `maximum number of entries; default: ${DEFAULT_LIMIT}`),
  },
  async run({ store }, { webhook, event, limit }) {
    const tenantId = await store.webhooks.ownerOfWebhook(webhook);
    if (tenantId === null) return noWebhook(webhook);
    const filter = { webhookId: webhook, eventId: event ?? null, limit: limit ?? DEFAULT_LIMIT };
    return done({ attempts: (await store.webhooks.listWebhookAttempts(tenantId, filter)).map(shownAttempt) });
  },
  render: ({ attempts }) =>
    renderTable(
      attempts,
      [
        { title: 'AT', value: (attempt) => attempt.started_at },
        { title: 'EVENT', value: (attempt) => attempt.event_id },
        { title: 'TYPE', value: (attempt) => attempt.type },
        { title: 'NO', value: (attempt) => attempt.attempt },
        { title: 'STATUS', value: (attempt) => attempt.status },
        { title: 'MS', value: (attempt) => attempt.elapsed_ms },
        { title: 'NEXT AT', value: (attempt) => attempt.next_attempt_at },
        { title: 'STATE', value: (attempt) => attempt.state },
        { title: 'REASON', value: (attempt) => attempt.reason },
        { title: 'ANSWER', value: (attempt) => attempt.answer?.slice(0, 80) ?? null },
      ],
      'No attempts.',
    ),
});

interface Replayed {
  webhook: string;
  replayed: number;
}

export const webhookReplay = storeCommand({
  name: 'webhook replay',
  summary: 'Sends one event again, or every event that failed for good since a given time. Event IDs stay the same.',
  options: {
    webhook: webhookId,
    event: uuid('ID', 'this event, whatever its state'),
    'failed-since': moment('TIME', 'every event that failed for good since then'),
  },
  check(values) {
    const one = (values.event === undefined) !== (values['failed-since'] === undefined);
    return one ? null : 'give exactly one of --event and --failed-since';
  },
  async run(services, { webhook, event, 'failed-since': since }): Promise<Answer<Replayed>> {
    const tenantId = await services.store.webhooks.ownerOfWebhook(webhook);
    if (tenantId === null) return noWebhook(webhook);
    if (event === undefined) {
      const target = { webhookId: webhook, since: since ?? 0 };
      const replayed = await replayFailedSince(services, tenantId, target);
      const data = { webhook_id: webhook, since: toTimestamp(target.since), events: replayed };
      await recordAct(services, tenantId, 'webhook.failed_replayed', data);
      return done({ webhook, replayed });
    }
    const outcome = await services.store.webhooks.replayDelivery(
      tenantId,
      { webhookId: webhook, eventId: event },
      services.clock.now(),
    );
    if (outcome !== 'due') return failed(refusalOf(outcome, { webhook, event }));
    await recordAct(services, tenantId, 'webhook.event_replayed', { webhook_id: webhook, event_id: event });
    return done({ webhook, replayed: 1 });
  },
  render: ({ replayed }) =>
    replayed === 0
      ? 'No event has failed for good since then: there is nothing to send again. Events that are still retried go on.'
      : `${counted(replayed, 'event is', 'events are')} sent again now.`,
});

export const webhookRotate = storeCommand({
  name: 'webhook rotate',
  summary: `Creates a new secret for a webhook and prints it once. The old secret also signs for ${SECRET_OVERLAP_MS / HOUR_MS} hours.`,
  options: { webhook: webhookId },
  async run({ store, clock, vault }, { webhook }) {
    const tenantId = await store.webhooks.ownerOfWebhook(webhook);
    const secrets = tenantId === null ? [] : await store.webhooks.listWebhookSecrets(tenantId, webhook, clock.now());
    const rotated = tenantId === null ? null : await rotateSecret({ store, clock, vault: vault() }, tenantId, webhook);
    if (rotated === null) return noWebhook(webhook);
    await recordAct({ store, clock }, tenantId, 'webhook.secret_rotated', { webhook_id: webhook });
    const { secret, previousUntil } = rotated;
    return done({
      webhook,
      secret: secret.toString('base64'),
      previous_until: toTimestamp(previousUntil),
      ended_early: earlierUntil(secrets),
    });
  },
  render: ({ secret, previous_until: until, ended_early: early }) => {
    const shown = `The new secret is shown only once:\n${secret}\nUntil ${until} events are signed with the secret before it, too.`;
    return early === null
      ? shown
      : `${shown}\nThe oldest secret, which was valid until ${early}, is no longer used: at most ${MAX_SECRETS} sign.`;
  },
});

/** Where as many sign as may, the oldest ends with the next rotation. */
function earlierUntil(secrets: readonly WebhookSecret[]): string | null {
  const oldest = secrets[MAX_SECRETS - 1];
  return oldest?.expiresAt ? toTimestamp(oldest.expiresAt) : null;
}

function refusalOf(
  outcome: Exclude<ReplayOutcome, 'due'>,
  { webhook, event }: { webhook: string; event: string },
): string {
  switch (outcome) {
    case 'no_webhook':
      return `there is no webhook ${webhook}`;
    case 'no_event':
      return `its tenant has no event ${event}; old events are erased (retention.records_days)`;
    case 'under_way':
      return `the event ${event} is being sent right now`;
  }
}

function noWebhook(webhook: string): Answer<never> {
  return failed(`there is no webhook ${webhook}`);
}

function countOf(count: number): string {
  return count === MAX_DELIVERIES_COUNTED ? `${count}+` : String(count);
}

function shownWebhook(webhook: WebhookHealth) {
  return {
    id: webhook.id,
    tenant_id: webhook.tenantId,
    url: webhook.url,
    description: webhook.description,
    created_at: toTimestamp(webhook.createdAt),
    /** Null: every event. */
    events: webhook.events ?? null,
    failing_since: webhook.failingSince === null ? null : toTimestamp(webhook.failingSince),
    due: webhook.due,
    failed: webhook.failed,
  };
}

function shownAttempt(attempt: AttemptView) {
  return {
    event_id: attempt.eventId,
    type: attempt.eventType,
    attempt: attempt.number,
    started_at: toTimestamp(attempt.startedAt),
    elapsed_ms: attempt.elapsedMs,
    status: attempt.status,
    reason: attempt.reason,
    answer: attempt.answer,
    next_attempt_at: attempt.nextAt === null ? null : toTimestamp(attempt.nextAt),
    state: attempt.state,
  };
}
