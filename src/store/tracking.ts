// Contract: opens and clicks: what was fetched of a message, how often, and what was told of it.
import type { NewEvent } from './events.ts';
import type { MessageState } from './queue.ts';

/** Which tracked link of the HTML; null is the pixel. */
export type LinkIndex = number | null;

/** What is known of one link that was fetched before. */
export interface LinkHits {
  link: LinkIndex;
  hits: number;
  events: number;
  lastAt: number;
  lastEventAt: number | null;
}

/** A message as events quote it, and what was fetched of it so far. */
export interface TrackedMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  from: string;
  fromDomain: string;
  recipient: string;
  subject: string;
  state: MessageState;
  finishedAt: number | null;
  attempts: number;
  links: LinkHits[];
}

/** New fetches of one link, and the event that tells of them if there is one. */
export interface HitUpdate {
  tenantId: string;
  messageId: string;
  link: LinkIndex;
  hits: number;
  firstAt: number;
  lastAt: number;
  event: NewEvent | null;
}

export interface TrackingStore {
  /** Null when the message is not known any more. */
  findTracked(tenantId: string, messageId: string): Promise<TrackedMessage | null>;
  /** Counts and events, together. What belongs to a message that is gone is left out. */
  recordHits(updates: HitUpdate[]): Promise<void>;
}
