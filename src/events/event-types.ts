// The registry of event types: what each one says, and the family that the interface
// specification groups it under. Schemas, documentation and code are held to this set.
import { type EventFamily, type EventType, FAMILY_OF } from '../store/events.ts';

const MEANINGS: Record<EventType, string> = {
  'email.delivered': 'The receiving server took the message.',
  'email.deferred': 'The first temporary failure of a message, and a notice of delay.',
  'email.bounced': 'Refused for good, at once or by a later report.',
  'email.failed': 'Given up: the lifetime is over, or there is no way to deliver.',
  'email.canceled': 'Ended by its sender or an operator before it was sent.',
  'email.complained': 'The recipient reported the message as spam.',
  'email.opened': 'The tracking pixel was fetched.',
  'email.clicked': 'A tracked link was followed.',
};

const TYPES = Object.keys(MEANINGS) as EventType[];

export const EVENT_TYPES = Object.fromEntries(
  TYPES.map((type) => [type, { family: FAMILY_OF[type], meaning: MEANINGS[type] }]),
) as Record<EventType, { family: EventFamily; meaning: string }>;

/** The families, each followed by its types: what a webhook can be restricted to. */
export const EVENT_CHOICES: readonly (EventFamily | EventType)[] = [...new Set(Object.values(FAMILY_OF))].flatMap(
  (family) => [family, ...TYPES.filter((type) => FAMILY_OF[type] === family)],
);
