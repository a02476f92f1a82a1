// Ends a message that waits, with an event that says why: its lifetime is over, or an operator
// has cancelled it. A message that is being sent right now is left to whoever sends it.
import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import { noPeer } from '../../base/outcome.ts';
import { failedEvent } from '../../events/delivery-events.ts';
import type { ClaimedMessage, QueueStore } from '../../store/queue.ts';

export interface GiveUpKit {
  store: Pick<QueueStore, 'endWaiting'>;
  clock: Clock;
  ids: IdSource;
}

/** False when the message is no longer waiting. */
export function giveUp({ store, clock, ids }: GiveUpKit, message: ClaimedMessage, reason: string): Promise<boolean> {
  const at = clock.now();
  const facts = { peer: noPeer('prepare', reason), attempt: message.attempt };
  const event = failedEvent({ id: ids.next(), at }, message, facts);
  const { id: messageId, tenantId } = message;
  return store.endWaiting({ messageId, tenantId, at, attempt: null, transition: { to: 'failed', reason }, event });
}
