// Contract: limits that hold over all nodes that share a store: how often keys may call, how much may be sent, and how often
// people may try to sign in or make the service send mail. Keys of throttles are hashes of what they count for.

import type { ThrottleRule } from '../base/throttle-rule.ts';

/** What calls have cost: the time in which their bucket earns as much. */
export interface Spending {
  /** A UUID, of an API key or a tenant. */
  id: string;
  costMs: number;
}

export interface CallBucketStore {
  /**
   * Takes from each bucket, below zero if need be. Returns for each in how many milliseconds it is full again, by the
   * store's clock. No ID may be named twice.
   */
  spendCalls(spendings: readonly Spending[]): Promise<number[]>;
  /** Erases up to `limit` buckets that are full; returns how many. */
  eraseFullBuckets(limit: number): Promise<number>;
}

/** A node wants to send more under a limit. */
export interface PortionWish {
  /** What is limited. */
  subject: string;
  /** So many messages within so long. */
  limit: number;
  spanMs: number;
  wanted: number;
  /** Of what it took earlier: what it will not send after all. */
  returned: number;
}

export interface Portion {
  granted: number;
  /** Taken by all nodes within the span, this portion included. */
  taken: number;
  /** When more can be taken, by the store's clock; 0: now. */
  freeInMs: number;
}

export interface PortionStore {
  /**
   * All nodes together get no more than the limit within the span. What is granted counts from now on, whenever it is sent.
   * A span is counted in sixtieths: a portion can count for one of them longer. No subject may be named twice.
   */
  takePortions(wishes: readonly PortionWish[]): Promise<Portion[]>;
  /** Erases up to `limit` counts that are older than their span; returns how many. */
  erasePortions(limit: number): Promise<number>;
}

/** A node wants connections to a receiver, under a limit for all nodes. */
export interface ConnectionWish {
  mxGroup: string;
  node: string;
  limit: number;
  /** It may open so many before it has the answer, of those that it was given; no other node gets them. */
  kept: number;
  /** Not less than `kept`, unless it has more than it needs. */
  wanted: number;
  leaseMs: number;
}

export interface ConnectionShare {
  /** It may have so many open until its lease is over. */
  connections: number;
  /** It should have no more than that as soon as it can: others lack the rest. */
  goal: number;
}

export interface ConnectionStore {
  /**
   * What all nodes may have open is never more than the limit, as long as none keeps what it was not given. A node that wants
   * some gets its even part of them, in turns where there are too few, and more if others want less. Who wants none has none.
   * No group may be named twice.
   */
  shareConnections(wishes: readonly ConnectionWish[]): Promise<ConnectionShare[]>;
}

export interface Gate {
  key: Buffer;
  rule: ThrottleRule;
}

export interface ThrottleStore {
  /**
   * 0: the attempt is allowed, and counted at each gate; otherwise for how long the last of them is closed, and nothing is
   * counted. One transaction, so that concurrent attempts can't pass together.
   */
  takeAttempt(gates: readonly Gate[], now: number): Promise<number>;
  /** Forgets the attempts at some gates, and takes back one attempt at others, after which those are open. */
  settleAttempt(settled: { forgiven: readonly Buffer[]; refunded: readonly Buffer[] }): Promise<void>;
  /** All but `kept` gates are forgotten by this time; null: there are not that many. */
  forgottenBeyond(kept: number): Promise<number | null>;
  /** Erases up to `limit` gates that are forgotten by then; returns how many. */
  eraseAttempts(forgottenBy: number, limit: number): Promise<number>;
}
