// The one word in which Resend says how far an email is: what happened last, and before anything did, its state.
import type { EventType, StoredEvent } from '../../store/events.ts';
import type { MessageState } from '../../store/queue.ts';

export type LastEvent =
  | 'bounced'
  | 'canceled'
  | 'clicked'
  | 'complained'
  | 'delivered'
  | 'delivery_delayed'
  | 'failed'
  | 'opened'
  | 'queued'
  | 'scheduled'
  | 'sent';

const OF_EVENT: Readonly<Record<EventType, LastEvent>> = {
  'email.delivered': 'delivered',
  'email.deferred': 'delivery_delayed',
  'email.bounced': 'bounced',
  'email.failed': 'failed',
  'email.canceled': 'canceled',
  'email.complained': 'complained',
  'email.opened': 'opened',
  'email.clicked': 'clicked',
};

/** From the least to the most advanced. */
const OF_STATE: Readonly<Record<MessageState, LastEvent>> = {
  scheduled: 'scheduled',
  queued: 'queued',
  sending: 'sent',
  deferred: 'delivery_delayed',
  canceled: 'canceled',
  failed: 'failed',
  bounced: 'bounced',
  delivered: 'delivered',
};

/** `events`: of all the messages. */
export function lastEventOf(states: readonly MessageState[], events: readonly StoredEvent[]): LastEvent {
  const [last] = [...events].sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1));
  return last ? OF_EVENT[last.type] : leastOf(states);
}

/** Of messages whose events were not read: the state of the one that has the longest way to go. */
export function leastOf(states: readonly MessageState[]): LastEvent {
  const order = Object.keys(OF_STATE) as MessageState[];
  return OF_STATE[order.find((state) => states.includes(state)) ?? 'queued'];
}
