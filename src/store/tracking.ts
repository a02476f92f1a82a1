// Contract: opens and clicks: what was fetched of a message, how often, and which events were written.
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

/** New fetches of a message: at most one entry per link. */
export interface MessageHits {
  tenantId: string;
  messageId: string;
  links: NewHits[];
}

/** New fetches of one link. */
export interface NewHits {
  link: LinkIndex;
  /** The link's target; empty for the pixel. */
  url: string;
  /** The number of links in the message; 0 for the pixel. */
  linkCount: number;
  hits: number;
  firstAt: number;
  lastAt: number;
  /** The fetch that an event would show: the first that seems human, otherwise the first. */
  shown: ShownHit;
  /** Of the event, if there is one. */
  eventId: string;
}

export interface ShownHit {
  at: number;
  ip: string;
  userAgent: string | null;
  /** The reason of the rule that its address or User-Agent matches, or null. */
  machineReason: string | null;
}

/** How to recognize scanners that pretend to be browsers. */
export interface MachineTiming {
  beforeDeliveryMs: number;
  burstLinks: number;
  burstWithinMs: number;
  burstAfterDeliveryMs: number;
}

export interface TrackingStore {
  /** Null when the message is not stored any more. */
  findTracked(tenantId: string, messageId: string): Promise<TrackedMessage | null>;
  /**
   * Finds the messages, has decide-hits.ts judge what was fetched of them, and writes counts and events: all in one
   * transaction. Messages that are gone are ignored.
   */
  recordHits(messages: MessageHits[], timing: MachineTiming): Promise<void>;
}
