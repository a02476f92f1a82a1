// The registry of event types: what each one says, and the family that the interface
// specification groups it under. Schemas, documentation and code are held to this set.
import type { EventType } from '../store/events.ts';

export type EventFamily = 'delivery' | 'bounce' | 'complaint' | 'open';

export const EVENT_TYPES: Record<EventType, { family: EventFamily; meaning: string }> = {
  'email.delivered': { family: 'delivery', meaning: 'The receiving server took the message.' },
  'email.deferred': { family: 'delivery', meaning: 'The first temporary failure of a message, and a notice of delay.' },
  'email.bounced': { family: 'bounce', meaning: 'Refused for good, at once or by a later report.' },
  'email.failed': { family: 'bounce', meaning: 'Given up: the lifetime is over, or there is no way to deliver.' },
  'email.complained': { family: 'complaint', meaning: 'The recipient reported the message as spam.' },
  'email.opened': { family: 'open', meaning: 'The tracking pixel was fetched.' },
  'email.clicked': { family: 'open', meaning: 'A tracked link was followed.' },
};
