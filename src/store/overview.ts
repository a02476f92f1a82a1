// Contract: what a tenant's overview shows: how far it has come, its figures, what waits, what happened last.
import type { ChartPoint, HourSpan, ProviderFigures } from './chart-figures.ts';
import type { StoredEvent } from './events.ts';

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
