// Contract: what pages ask of the database beside the daemon's own work: lists, searches and sums
// over many rows. Each is a named query of plain arguments with a plain answer; its first argument
// is the tenant (null: an operator asks, across tenants). They are answered by a process of its own
// that only reads, one after the other, in turns per tenant, each within a limit of time.
import type { BounceType } from '../base/outcome.ts';
import type { StoredEvent } from './events.ts';
import type { ChartPoint, HourSpan, ProviderFigures } from './figures.ts';
import type { MessageDetail, MessageState } from './queue.ts';
import type { MessageContent, RejectedRecipient } from './submissions.ts';
import type { Suppression, SuppressionReason } from './suppressions.ts';
import type { RecentResults } from './tenants.ts';

/**
 * The queries as the driver answers them. To add one: a line here, and its function in
 * store/sqlite/reading/reading-queries.ts. Look at a bounded number of rows, whatever is asked for.
 */
export interface PortalQueries extends MessageViewQueries, SuppressionQueries, OperatorQueries, OverviewQueries {
  /** Newest first. Looks through as many messages as it has time for, and says how far it came. */
  searchMessages(tenantId: string, search: MessageSearch): MessagePage;
}

export type ReadOutcome<T> =
  | { kind: 'found'; value: T }
  /** Nobody has looked, or not to the end: the reason is a sentence for whoever asked. */
  | { kind: 'refused'; reason: string };

/** The same as they are called. */
export type PortalReads = {
  [Name in keyof PortalQueries]: (
    ...asked: Parameters<PortalQueries[Name]>
  ) => Promise<ReadOutcome<ReturnType<PortalQueries[Name]>>>;
} & {
  /** Somebody is about to ask: what the first question would have to wait for begins now. */
  warm(): void;
};

// Contract: finding messages of a tenant by what its people know of them.

export interface MessageSearch {
  /** Everything that is given must be so. */
  state?: MessageState;
  /** The exact address as it was accepted; case does not count. With it goes `recipientDomain`. */
  recipient?: string;
  /** Of the recipient: ASCII, lower case. */
  recipientDomain?: string;
  /** Of the sender: the name of a domain of the tenant, revoked ones too. */
  senderDomain?: string;
  apiKeyId?: string;
  /** Accepted at this time or later. */
  from?: number;
  /** Accepted before this time. */
  until?: number;
  /** Only older ones than this message. */
  olderThan?: string;
  limit: number;
  /** For how long it may look, in milliseconds. */
  budgetMs: number;
}

export interface FoundMessage {
  id: string;
  submissionId: string;
  recipient: string;
  recipientName: string | null;
  state: MessageState;
  parked: boolean;
  bounce: BounceType | null;
  complained: boolean;
  attempts: number;
  lastReason: string | null;
  from: string;
  subject: string;
  createdAt: number;
  finishedAt: number | null;
}

export interface MessagePage {
  messages: FoundMessage[];
  /** Where to go on (`olderThan`); null: there is nothing older. */
  next: string | null;
  /** How many were looked at, and whether that is all there was time for, before the page was full. */
  lookedThrough: number;
  ranOutOfTime: boolean;
}

// Contract: one message as its tenant's people look at it, and what was to be sent.

export interface MessageView {
  message: MessageDetail;
  recipientName: string | null;
  fromName: string | null;
  bounce: BounceType | null;
  complained: boolean;
  senderDomain: string;
  apiKey: { id: string; name: string } | null;
  idempotencyKey: string | null;
  /** The first ones, and whether there are more. */
  events: StoredEvent[];
  moreEvents: boolean;
  /** Recipients of the same call that were dropped before it was queued. */
  rejected: RejectedRecipient[];
  /** The other messages of the same call. */
  siblings: MessageSibling[];
  /** Null when it has been erased. */
  content: ContentView | null;
}

export interface MessageSibling {
  id: string;
  recipient: string;
  state: MessageState;
}

export interface ContentView {
  hasHtml: boolean;
  /** As much of it as a page shows. */
  text: string | null;
  textIsCut: boolean;
  /** The tenant's own. */
  headers: [name: string, value: string][];
  chars: number;
}

/** All that the composer needs, and nothing that signs. */
export type ComposedContent = Omit<MessageContent, 'signing'> & { signing: { domain: string } };

export interface MessageViewQueries {
  /** Null: no such message of this tenant. */
  messageView(tenantId: string, messageId: string): MessageView | null;
  /** Null: no such message, or its content has been erased. */
  messageHtml(tenantId: string, messageId: string): string | null;
  /** The same. `too_large` when html and text have more characters than that. */
  messageContent(tenantId: string, messageId: string, mostChars: number): ComposedContent | 'too_large' | null;
}

// Contract: what operators ask of many rows: the queue by MX group, and how tenants' mail fares.
// They are among the portal's reads (reads.ts); the first argument is null, for all tenants.

export interface QueueGroupSums {
  /** Null: no mail has gone to these domains yet, so nobody knows where it goes. */
  mxGroup: string | null;
  waiting: number;
  lanes: number;
  tenants: number;
  nextDueAt: number;
  /** What was said of one of its messages last; null: none was tried. */
  lastReason: string | null;
}

export interface QueueOverview {
  groups: QueueGroupSums[];
  /** Messages that wait for a person. */
  parked: number;
  sending: number;
  /** Of the message that expires first. */
  oldestCreatedAt: number | null;
}

/** What is given must be so; a group of null is that of domains whose group nobody knows. */
export interface QueueSlice {
  mxGroup?: string | null;
  tenantId?: string;
  domain?: string;
  lanes: number;
  messages: number;
}

export interface QueueLaneView {
  tenantId: string;
  tenantName: string;
  domain: string;
  mxGroup: string | null;
  waiting: number;
  nextDueAt: number;
}

export interface QueueMessageView {
  id: string;
  tenantId: string;
  recipient: string;
  attempts: number;
  parked: boolean;
  dueAt: number | null;
  createdAt: number;
  lastReason: string | null;
}

export interface QueueSliceView {
  /** The fullest first. */
  lanes: QueueLaneView[];
  /** How many there are in all. */
  laneCount: number;
  waiting: number;
  /** Of these lanes, those that are due first on top, and parked ones behind. */
  messages: QueueMessageView[];
}

export interface TenantStanding extends RecentResults {
  tenantId: string;
}

export interface OperatorQueries {
  queueOverview(tenantId: null): QueueOverview;
  queueSlice(tenantId: null, slice: QueueSlice): QueueSliceView;
  /** Those that wait for a person: an operator has paused them, or they cannot be sent as they are. */
  parkedMessages(tenantId: null, limit: number): QueueMessageView[];
  /** Over each one's last `window` messages that have ended. */
  standingsOf(tenantId: null, tenantIds: readonly string[], window: number): TenantStanding[];
}

// Contract: what a tenant's overview shows: how far it has come, its figures, what waits, what happened last.

/** What a new tenant has done so far. */
export interface OnboardingFacts {
  /** One that is not revoked. */
  hasKey: boolean;
  hasSent: boolean;
  hasDomain: boolean;
  hasVerifiedDomain: boolean;
  hasWebhook: boolean;
}

export interface OnboardingStore {
  onboardingFacts(tenantId: string): Promise<OnboardingFacts>;
}

/** A tenant's mail to one domain, as far as it waits. */
export interface WaitingLane {
  lane: number;
  domain: string;
  /** Looked at up to MOST_COUNTED of them. */
  messages: number;
  /** When the oldest of them was accepted. */
  oldestAt: number;
  oldestId: string;
  /** What became of the oldest one's last attempt; null when it has had none. */
  lastReason: string | null;
  /** Null: all of them are parked. */
  dueAt: number | null;
}

export const MOST_COUNTED = 10_000;
export const MOST_LANES = 5000;

export interface WaitingMail {
  /** Accepted and not finished, what is being sent included. */
  open: number;
  /** Those that have waited longest first. */
  lanes: WaitingLane[];
  /** Domains beside those. */
  otherLanes: number;
  /** Where there was more to look at than is looked at, the oldest may be elsewhere. */
  complete: boolean;
}

/** Answered by the reading process. */
export interface OverviewQueries {
  chartFigures(
    tenantId: string,
    span: HourSpan & { stepHours: number },
  ): { points: ChartPoint[]; providers: ProviderFigures[] };
  waitingMail(tenantId: string, limit: number): WaitingMail;
  /** Newest first. */
  latestEvents(tenantId: string, limit: number): StoredEvent[];
}

// Contract: looking through a tenant's suppression list.

export interface SuppressionSearch {
  /** Only addresses that begin so: lower case, domain in ASCII. */
  prefix: string;
  reason: SuppressionReason | null;
  /** Behind this address. */
  after: string | null;
  limit: number;
}

export interface FoundSuppressions {
  /** In the order of the alphabet. */
  entries: Suppression[];
  /** Where to go on; null: that is all. There may be fewer entries than asked for, and more to come. */
  next: string | null;
}

interface SuppressionQueries {
  searchSuppressions(tenantId: string, search: SuppressionSearch): FoundSuppressions;
}
