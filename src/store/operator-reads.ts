// Contract: what operators ask of many rows: the queue by MX group, and how tenants' mail fares.
// They are among the portal's reads (reads.ts); the first argument is null, for all tenants.
import type { Standing } from './tenants.ts';

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

export interface TenantStanding extends Standing {
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
