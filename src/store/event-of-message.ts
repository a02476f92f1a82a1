// What all events have in common: what they quote of their message. In the store's room, because an event of an open or
// click is decided and written within one verb; see decide-hits.ts.
import type { EventType, NewEvent } from './events.ts';
import type { Labels } from './submissions.ts';

/** What every event quotes of its message. */
export interface EventSubject {
  id: string;
  submissionId: string;
  from: string;
  recipient: string;
  subject: string;
  labels: Labels | null;
  fromDomain: string;
}

/** The event's own id and time. */
export interface EventStamp {
  id: string;
  at: number;
}

/** The common part of every event, with the part that is named after what happened. */
export function event(
  type: EventType,
  stamp: EventStamp,
  message: EventSubject,
  part: Record<string, unknown>,
): NewEvent {
  const common = {
    message_id: message.id,
    submission_id: message.submissionId,
    from: message.from,
    to: message.recipient,
    subject: message.subject,
    domain: message.fromDomain,
  };
  return { id: stamp.id, type, at: stamp.at, data: { ...common, ...givenLabels(message.labels), ...part } };
}

/** What the call gave, and no more: a message without tags shows no `tags`. */
export function givenLabels(labels: Labels | null): GivenLabels {
  if (labels === null) return {};
  const { tags, metadata, headerMessageId } = labels;
  const header = headerMessageId !== undefined && { header_message_id: headerMessageId };
  return { ...header, ...(tags && { tags }), ...(metadata && { metadata }) };
}

interface GivenLabels {
  header_message_id?: string;
  tags?: Labels['tags'];
  metadata?: Labels['metadata'];
}
