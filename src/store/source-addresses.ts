// Contract: from which of the service's own addresses a message is sent, and how much each has
// sent to whom. The store keeps and counts; what the choice depends on comes with each claim.

/** How well an address is known to an MX group. */
export interface SourceUsage {
  address: string;
  /** The last day with mail, in days since 1970 (UTC). */
  day: number;
  /** New messages on that day. */
  usedToday: number;
  /** Days with mail, that day included. */
  daysUsed: number;
}

/** By address. */
export type SourceUsages = ReadonlyMap<string, SourceUsage>;

/** A message whose address is asked for. */
export interface Departing {
  id: string;
  /** The one of its earlier attempts. */
  sourceAddress: string | null;
}

export type SourceChoice =
  | { decision: 'use'; address: string; counted: boolean }
  | { decision: 'wait'; until: number; reason: string };

/** An address that may speak to the hosts in question. */
export interface Candidate {
  ip: string;
  weight: number;
  /** Whether it has been sending for long: then nothing is counted. */
  warm: boolean;
  /** A pause that the receiver called for. */
  pause: { until: number; reason: string } | null;
}

export interface SourceFacts {
  mxGroup: string;
  candidates: readonly Candidate[];
  /** Why there are no candidates. */
  none: string;
  /** New messages per day to one MX group on the first, second, … day; after that without a limit. */
  ramp: readonly number[];
}

/** What a claim must know where there are addresses to choose from (`chooseSource`). */
export interface ClaimSource {
  /** Only what is sent from this address is claimed; null: nothing. What must wait is put off, with the reason. */
  address: string | null;
  facts: SourceFacts;
}

export interface SourceStore {
  /** The first due messages of the lane, and how well each address is known to the group. */
  peekDue(lane: number, of: { now: number; mxGroup: string; limit: number }): Promise<PeekedLane>;
  /** Forgets addresses' standing with groups that had no mail from them since. Returns how many. */
  forgetSourceUsage(beforeDay: number, limit: number): Promise<number>;
}

export interface PeekedLane {
  due: Departing[];
  usages: SourceUsages;
}
