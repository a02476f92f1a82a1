// Contract: what a database server says of itself, for the doctor. A store in a file has none.

export interface ServerFacts {
  /** Such as `15.5`. */
  version: string;
  /** Of the hosts of store.url the one that answered. */
  host: string;
  /** Those that accept writes, too, although another server was promoted after them. */
  outdated: readonly string[];
  /** How far its clock is ahead of this machine's, as far as the round trip leaves no doubt. */
  clockAheadMs: number;
  /** `fsync` and `full_page_writes`, without which a crash of its machine may ruin it. */
  survivesCrash: boolean;
  /** What a commit waits for: `on`, `remote_apply`, `remote_write`, `local` or `off`. */
  synchronousCommit: string;
  /** Null: no synchronous standby is configured. */
  standbyNames: string | null;
  /** Null: this user may not see them. */
  standbys: ServerStandby[] | null;
  /** The oldest open transaction of others; null: none, or not to be seen by this user. */
  oldestTransaction: { ageMs: number; application: string; user: string } | null;
  connections: { used: number; most: number };
  /** Of the two thousand million after which it would stop to write. */
  transactionsUnfrozen: number;
  nodes: { node: string; version: string; seenMsAgo: number | null }[];
}

export interface ServerStandby {
  name: string;
  /** A commit waits for it. */
  isSynchronous: boolean;
  isStreaming: boolean;
}
