// Contract: from which of the service's own addresses a message is sent, and how much each has
// sent to whom. The store keeps and counts; who decides is handed in with each claim.

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

/** What a claim must know where there are addresses to choose from. */
export interface ClaimSource {
  /** Only what is sent from this address is claimed; null: nothing, but what must wait is put off. */
  address: string | null;
  mxGroup: string;
  /** Today, in days since 1970 (UTC). */
  day: number;
  /** Pure: it may be asked again. What must wait is put off, with the reason. */
  choose(message: Departing, usages: SourceUsages): SourceChoice;
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
