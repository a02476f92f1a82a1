// Ends a message that nobody has begun to send, with an event that says why. What is on the wire is left to its session.
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { noPeer } from '../base/outcome.ts';
import type { MessageUpdate, WaitingMessage } from '../store/queue.ts';
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
  return kit.store.queue.endWaiting(canceledUpdate(kit, message, cancellation));
}

export function canceledUpdate(
  { clock, ids }: Pick<EndWaitingKit, 'clock' | 'ids'>,
  message: WaitingMessage,
  cancellation: Cancellation,
): MessageUpdate {
  const at = clock.now();
  return {
    messageId: message.id,
    tenantId: message.tenantId,
    at,
    attempt: null,
    transition: { to: 'canceled', reason: cancellation.reason },
    event: canceledEvent({ id: ids.next(), at }, message, cancellation),
  };
}

/**
 * Ends messages that are claimed, as long as none of their commands has been sent; returns them.
 */
export type EndBegun = (
  messageIds: readonly string[],
  end: (message: WaitingMessage) => MessageUpdate,
) => Promise<WaitingMessage[]>;

/** Where no delivery runs. */
export const NOTHING_BEGUN: EndBegun = async () => [];
