// Contract: what pages read from the database besides the daemon's own work: lists, searches and sums over
// many rows. Each is a named query with plain arguments and a plain answer; its first argument is the tenant
// (null: an operator, across tenants). A separate read-only process answers one query after the other, taking
// turns between tenants, each within a time limit.
import type { BounceType } from '../base/outcome.ts';
import type { StoredEvent } from './events.ts';
import type {
  ChartPoint,
  HourSpan,
  ProviderFigures,
  ServiceFigures,
  ServiceFiguresAsked,
  TagChart,
  TagFigures,
} from './figures.ts';
import type { MessageViewQueries } from './message-view.ts';
import type { MessageState } from './queue.ts';
import type { ContentReader, Labels, Tag } from './submissions.ts';
import type { FoundSuppressions, SuppressionSearch } from './suppressions.ts';
import type { RecentResults } from './tenants.ts';
import type { TransportSecurityReader } from './transport-security.ts';

/**
 * The queries as the driver answers them. To add one: its signature here, and its function in
 * store/sql/reading/reading-queries.ts. Each must read a bounded number of rows, whatever its arguments.
 */
export interface PortalQueries extends MessageViewQueries, SuppressionQueries, OperatorQueries, OverviewQueries {
  /** Newest first. Scans as many messages as its limits allow, and says how far it got. */
  searchMessages(tenantId: string, search: MessageSearch): MessagePage;
}

export type ReadOutcome<T> =
  | { kind: 'found'; value: T }
  /** The query did not run, or not to its end: the reason is a sentence for the user. */
  | { kind: 'refused'; reason: string };

/** The queries as callers see them. */
export type PortalReads = {
  [Name in keyof PortalQueries]: (
    ...args: Parameters<PortalQueries[Name]>
  ) => Promise<ReadOutcome<ReturnType<PortalQueries[Name]>>>;
} & {
  /** A query is expected soon: starts the process that it would have to wait for. */
  warm(): void;
};

// Contract: searching a tenant's messages by what its users know of them.

export interface MessageSearch {
  /** All conditions that are given must hold. */
  state?: MessageState;
  /** All spellings of one address, ignoring case. Always together with `recipientDomain`. */
  recipient?: string;
  /** Of the recipient: ASCII, lower case. */
  recipientDomain?: string;
  /** Of the sender: the name of a domain of the tenant, revoked ones too. */
  senderDomain?: string;
  /** All spellings of one address, ignoring case. Always together with `senderDomain`. */
  sender?: string;
  tag?: Tag;
  apiKeyId?: string;
  /** Part of the subject or of the recipient's address; only the case of ASCII letters is ignored. */
  textPart?: string;
  /** Part of the ID of the message or of its submission: hexadecimal digits, without hyphens. */
  idPart?: string;
  /** Accepted at this time or later. */
  from?: number;
  /** Accepted before this time. */
  until?: number;
  /** Only messages older than this one. */
  olderThan?: string;
  limit: number;
  /** Time limit in milliseconds. */
  budgetMs: number;
  /** Messages; rounded up to whole strides. Left out: as many as there is time for. */
  maxScanned?: number;
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
  labels: Labels | null;
  createdAt: number;
  finishedAt: number | null;
}

export interface MessagePage {
  messages: FoundMessage[];
  /** Where to continue (`olderThan`); null: there is nothing older. */
  next: string | null;
  /** How many messages were scanned, and whether a limit ended that before the page was full. */
  scanned: number;
  stoppedEarly: boolean;
}

// Contract: what operators read over many rows: the queue by MX group, and tenants' recent results. The first
// argument is null, for all tenants.

export interface QueueGroupSums {
  /** Null: no mail has been sent to these domains yet, so their group is not known. */
  mxGroup: string | null;
  waiting: number;
  lanes: number;
  tenants: number;
  nextDueAt: number;
  /** The last reason of one of its messages; null: none was tried. */
  lastReason: string | null;
}

export interface QueueOverview {
  groups: QueueGroupSums[];
  /** Messages that wait for an operator. */
  parked: number;
  sending: number;
  /** When the message that expires first was accepted. */
  oldestCreatedAt: number | null;
}

/** All conditions that are given must hold; a group of null means domains whose group is not known. */
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
  /** Longest lane first. */
  lanes: QueueLaneView[];
  /** The number of all matching lanes. */
  laneCount: number;
  waiting: number;
  /** Messages of these lanes, by due time, parked ones last. */
  messages: QueueMessageView[];
}

export interface TenantResults extends RecentResults {
  tenantId: string;
}

export interface OperatorQueries {
  queueOverview(tenantId: null): QueueOverview;
  queueSlice(tenantId: null, slice: QueueSlice): QueueSliceView;
  /** Messages that wait for an operator, because one has paused them or because they can't be sent as they are. */
  parkedMessages(tenantId: null, limit: number): QueueMessageView[];
  /** Over each tenant's last `window` finished messages. */
  recentResultsOf(tenantId: null, tenantIds: readonly string[], window: number): TenantResults[];
  serviceFigures(tenantId: null, asked: ServiceFiguresAsked): ServiceFigures;
}

// Contract: what a tenant's overview shows: onboarding steps, figures, waiting mail, latest events.

/** Which onboarding steps a new tenant has done. */
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

/** A tenant's waiting mail to one domain. */
export interface WaitingLane {
  lane: number;
  domain: string;
  /** Counted up to MAX_COUNTED. */
  messages: number;
  /** When the oldest of them was accepted. */
  oldestAt: number;
  oldestId: string;
  /** The result of the oldest message's last attempt; null when it has had none. */
  lastReason: string | null;
  /** Null: all of them are parked. */
  dueAt: number | null;
}

export const MAX_COUNTED = 10_000;
export const MAX_LANES = 5000;

export interface WaitingMail {
  /** Accepted and not finished, including messages being sent. */
  open: number;
  /** The longest waiting first. */
  lanes: WaitingLane[];
  /** The number of further domains with waiting mail. */
  otherLanes: number;
  /** False when a limit was reached, so that the oldest message may be elsewhere. */
  complete: boolean;
}

/** Answered by the reading process. */
export interface OverviewQueries {
  chartFigures(
    tenantId: string,
    span: HourSpan & { stepHours: number },
  ): { points: ChartPoint[]; providers: ProviderFigures[] };
  /** Of whole hours or days. */
  tagChart(tenantId: string, asked: HourSpan & { tag: Tag; stepHours: 1 | 24 }): TagChart;
  tagFigures(tenantId: string, asked: HourSpan & { limit: number }): TagFigures;
  waitingMail(tenantId: string, limit: number): WaitingMail;
  /** Newest first. */
  latestEvents(tenantId: string, limit: number): StoredEvent[];
}

interface SuppressionQueries {
  searchSuppressions(tenantId: string, search: SuppressionSearch): FoundSuppressions;
}

// Contract: what a courier thread reads.

export interface CourierReads {
  contents: ContentReader;
  transportSecurity: TransportSecurityReader;
}
