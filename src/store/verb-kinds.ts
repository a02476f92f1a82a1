// The kinds of verbs, and what a driver tells about those that it has committed.

export type VerbKind =
  /** Reads what is committed, in one snapshot. */
  | 'read'
  /** Reads much, a bounded slice in each turn of the event loop: it may miss changes made meanwhile. */
  | 'slices'
  /** Changes what read caches or other nodes' memory may hold: tenants, keys, domains, pauses and the like. Nodes are told. */
  | 'write'
  /** Changes messages and their data, and nothing that a cache or other nodes hold, except that it may add lanes. */
  | 'mail'
  /** As `mail`, for delivery results: while many come, a commit waits briefly for more of them. */
  | 'results';

export type WritingKind = Exclude<VerbKind, 'read' | 'slices'>;

/** Verbs that were committed together. */
export interface GroupStats {
  verbs: number;
  elapsedMs: number;
  /** What the try that was committed sent over its connection to the database, and which try that was. */
  sent?: { statements: number; roundTrips: number; tries: number };
}
