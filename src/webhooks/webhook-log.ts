// Webhooks in the log: one function per fact. URLs are never logged: their query can contain a secret.
import { toTimestamp } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import type { FailingWebhook, WebhookDelivery } from '../store/webhooks.ts';
import type { CallOutcome } from './call.ts';
import type { DeliveryDecision } from './decide-delivery.ts';

export function attempted(
  log: Logger,
  delivery: WebhookDelivery,
  { decision, outcome, elapsedMs }: { decision: DeliveryDecision; outcome: CallOutcome; elapsedMs: number },
): void {
  const { webhookId, attempt, event } = delivery;
  const facts = {
    fact: `webhook_${decision.decision}`,
    webhook_id: webhookId,
    tenant_id: event.tenantId,
    event_id: event.id,
    message_id: event.messageId,
    attempt,
    status: outcome.kind === 'answered' ? outcome.status : null,
    elapsed_ms: Math.round(elapsedMs),
    reason: decision.reason,
  };
  switch (decision.decision) {
    case 'delivered':
      // Thousands per second; the attempts are stored.
      log.debug(facts, 'webhook delivered');
      break;
    case 'retry':
      log.info({ ...facts, next_attempt_at: toTimestamp(decision.until) }, 'webhook delivery failed; it is retried');
      break;
    case 'give_up':
      log.warn(facts, 'webhook delivery failed for good');
      break;
  }
}

/** The tenant's owners are notified, too. */
export function failing(log: Logger, { webhookId, tenantId, failingSince }: FailingWebhook): void {
  const facts = { fact: 'webhook_failing', webhook_id: webhookId, tenant_id: tenantId };
  log.warn({ ...facts, since: toTimestamp(failingSince) }, 'webhook has been failing for an hour');
}
