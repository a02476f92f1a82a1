// One attempt to deliver an event: signed, sent, timed. Never throws: an error is an outcome, too.
import { performance } from 'node:perf_hooks';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { eventBody } from '../events/event-body.ts';
import type { WebhookDelivery } from '../store/webhooks.ts';
import { type CallKit, type CallOutcome, callEndpoint } from './call.ts';
import type { DeliveryDecision } from './decide-delivery.ts';
import type { EndpointQueue } from './endpoint-queue.ts';
import { signedRequest } from './sent-request.ts';

export interface Attempt {
  outcome: CallOutcome;
  startedAt: number;
  elapsedMs: number;
}

/** An attempt, and what follows. */
export interface EndpointCall extends Attempt {
  delivery: WebhookDelivery;
  decision: DeliveryDecision;
}

type Addressee = Pick<EndpointQueue, 'keys' | 'target'>;

export async function makeAttempt(
  to: Addressee,
  { event }: WebhookDelivery,
  signal: AbortSignal,
  kit: CallKit & { clock: Clock },
): Promise<Attempt> {
  const startedAt = kit.clock.now();
  const started = performance.now();
  const outcome = await send(to, event, { startedAt, signal, kit });
  return { outcome, startedAt, elapsedMs: performance.now() - started };
}

async function send(
  { keys, target }: Addressee,
  event: WebhookDelivery['event'],
  { startedAt, signal, kit }: { startedAt: number; signal: AbortSignal; kit: CallKit },
): Promise<CallOutcome> {
  try {
    const { headers, body } = signedRequest(eventBody(event), startedAt, keys);
    return await callEndpoint({ target, headers, body, signal }, kit);
  } catch (error) {
    return { kind: 'unanswered', reason: `The endpoint could not be called: ${describeError(error)}.` };
  }
}
