// An attempt as the store records it.
import type { DeliveryEnd, DeliveryResult, WebhookDelivery } from '../store/webhooks.ts';
import type { CallOutcome } from './call.ts';
import type { DeliveryDecision } from './decide-delivery.ts';

export interface AttemptOutcome {
  delivery: WebhookDelivery;
  /** Null: no call was made, and the delivery is released. */
  outcome: CallOutcome | null;
  decision: DeliveryDecision | null;
  startedAt: number;
  elapsedMs: number;
}

export function toResult({ delivery, outcome, decision, startedAt, elapsedMs }: AttemptOutcome): DeliveryResult {
  const { webhookId, eventSeq, attempt, step, owner } = delivery;
  const answered = outcome?.kind === 'answered' ? outcome : null;
  return {
    delivery: { webhookId, eventSeq, attempt, step, owner },
    end: endOf(decision),
    startedAt,
    elapsedMs,
    status: answered?.status ?? null,
    reason: decision?.reason ?? '',
    answer: answered?.answer ?? null,
  };
}

function endOf(decision: DeliveryDecision | null): DeliveryEnd {
  switch (decision?.decision) {
    case 'delivered':
      return { to: 'delivered' };
    case 'retry':
      return { to: 'due', dueAt: decision.until };
    case 'give_up':
      return { to: 'failed' };
    case undefined:
      return { to: 'released' };
  }
}
