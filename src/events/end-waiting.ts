// Ends a waiting message with an event that says why. A message that is being sent is left to its session.
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { noPeer } from '../base/outcome.ts';
import type { WaitingMessage } from '../store/queue.ts';
import type { StoreVerbs } from '../store/store.ts';
import { type Cancellation, canceledEvent, failedEvent } from './delivery-events.ts';

export interface EndWaitingKit {
  store: StoreVerbs<{ queue: 'endWaiting' }>;
  clock: Clock;
  ids: IdSource;
}

/** False when the message is no longer waiting. */
export function giveUp(kit: EndWaitingKit, message: WaitingMessage, reason: string): Promise<boolean> {
  const { store, clock, ids } = kit;
  const at = clock.now();
  const facts = { peer: noPeer('prepare', reason), attempt: message.attempt };
  return store.queue.endWaiting({
    messageId: message.id,
    tenantId: message.tenantId,
    at,
    attempt: null,
    transition: { to: 'failed', reason },
    event: failedEvent({ id: ids.next(), at }, message, facts),
  });
}

/** False when the message is no longer waiting. */
export function cancel(kit: EndWaitingKit, message: WaitingMessage, cancellation: Cancellation): Promise<boolean> {
  const { store, clock, ids } = kit;
  const at = clock.now();
  return store.queue.endWaiting({
    messageId: message.id,
    tenantId: message.tenantId,
    at,
    attempt: null,
    transition: { to: 'canceled', reason: cancellation.reason },
    event: canceledEvent({ id: ids.next(), at }, message, cancellation),
  });
}
