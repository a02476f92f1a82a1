// Contract: opens and clicks: what was fetched of a message, how often, and which events were written.
import type { NewEvent } from './events.ts';
import type { MessageState } from './queue.ts';
import type { Labels } from './submissions.ts';

/** Which tracked link of the HTML; null is the pixel. */
export type LinkIndex = number | null;

/** The fetches of one link so far. */
export interface LinkHits {
  link: LinkIndex;
  hits: number;
  events: number;
  lastAt: number;
  lastEventAt: number | null;
}

/** A message with what its events need, and what was fetched of it so far. */
export interface TrackedMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  from: string;
  fromDomain: string;
  recipient: string;
  subject: string;
  labels: Labels | null;
  state: MessageState;
  finishedAt: number | null;
  attempts: number;
  links: LinkHits[];
}

/** New fetches of one link, with their event if there is one. */
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
  /** Null when the message is not stored any more. */
  findTracked(tenantId: string, messageId: string): Promise<TrackedMessage | null>;
  /** Counts and events, in one transaction. Messages that are gone are ignored. */
  recordHits(updates: HitUpdate[]): Promise<void>;
}
