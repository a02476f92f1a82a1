// Contract: from which of our own addresses a message is sent, and how much each address has sent to each MX
// group. The store keeps and counts; what the choice depends on comes with each claim.
import { hash } from 'node:crypto';
import { DAY_MS, toTimestamp } from '../base/clock.ts';

/** How long and how much an address has sent to an MX group. */
export interface SourceUsage {
  address: string;
  /** The last day with mail, in days since 1970 (UTC). */
  day: number;
  /** New messages on that day. */
  usedToday: number;
  /** Days with mail, that day included. */
  daysUsed: number;
}

/** Keyed by address. */
type SourceUsages = ReadonlyMap<string, SourceUsage>;

/** A due message that needs a source address. */
export interface DueMessage {
  id: string;
  /** The address of its earlier attempts. */
  sourceAddress: string | null;
}

type SourceChoice =
  | { decision: 'use'; address: string; counted: boolean }
  | { decision: 'wait'; until: number; reason: string };

/** An address that can reach the hosts in question. */
export interface Candidate {
  ip: string;
  weight: number;
  /** In use for long, so that no ramp applies. */
  warm: boolean;
  /** A suspension by the receiver. */
  pause: { until: number; reason: string } | null;
}

export interface SourceFacts {
  mxGroup: string;
  candidates: readonly Candidate[];
  /** Why there are no candidates. */
  none: string;
  /** New messages per day to one MX group on the first, second, … day; no limit after that. */
  ramp: readonly number[];
}

/** What a claim needs to choose between source addresses (`chooseSource`). */
export interface ClaimSource {
  /** Claims only messages for this address; null: none. Messages that must wait are put off, with the reason. */
  address: string | null;
  facts: SourceFacts;
}

export interface SourceStore {
  /** The first due messages of the lane, and how much each address has sent to the group. */
  peekDue(lane: number, of: { now: number; dueFrom?: number; mxGroup: string; limit: number }): Promise<PeekedLane>;
  /** Forgets usage of addresses by groups that got no mail from them since `beforeDay`. Returns how many. */
  forgetSourceUsage(beforeDay: number, limit: number): Promise<number>;
}

export interface PeekedLane {
  due: DueMessage[];
  usages: SourceUsages;
}

// Choosing the source address is a pure function of what is known, so that a driver can call it inside the
// transaction of a claim. A message keeps the address of its first attempt; a new message gets one by weight, from
// its ID alone, so that the choice can be repeated; an address that is new to a receiver sends it little at first.

// Our own addresses are re-checked every few minutes.
const UNUSABLE_PAUSE_MS = 10 * 60_000;

/** Receivers forget an address that has not sent for this long; then it counts as new to them. */
export const SOURCE_MEMORY_DAYS = 60;

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

export function chooseSource(
  { id, sourceAddress }: DueMessage,
  usages: SourceUsages,
  facts: SourceFacts,
  now: number,
): SourceChoice {
  const { candidates, none } = facts;
  const own = candidates.find(({ ip }) => ip === sourceAddress);
  if (own?.pause) return { decision: 'wait', until: own.pause.until, reason: own.pause.reason };
  if (own) return { decision: 'use', address: own.ip, counted: false };
  if (candidates.length === 0) return { decision: 'wait', until: now + UNUSABLE_PAUSE_MS, reason: none };
  const unpaused = candidates.filter(({ pause }) => pause === null);
  if (unpaused.length === 0) return untilFirstResumes(candidates);
  const free = unpaused.filter((candidate) => leftToday(candidate, usages, facts.ramp, now) > 0);
  if (free.length === 0) return untilTomorrow(unpaused, usages, facts, now);
  const chosen = pickByWeight(id, free);
  return { decision: 'use', address: chosen.ip, counted: !chosen.warm && facts.ramp.length > 0 };
}

/** How many new messages the address may still send to the group today; Infinity without a limit. */
export function leftToday(
  { ip, warm }: Pick<Candidate, 'ip' | 'warm'>,
  usages: SourceUsages,
  ramp: readonly number[],
  now: number,
): number {
  const usage = usages.get(ip);
  const cap = warm ? null : capOf(usage, ramp, dayOf(now));
  if (cap === null) return Number.POSITIVE_INFINITY;
  return cap - (usage?.day === dayOf(now) ? usage.usedToday : 0);
}

/** Days with mail count, not calendar days: a receiver knows an address by what it sends. */
function capOf(usage: SourceUsage | undefined, ramp: readonly number[], today: number): number | null {
  const earlierDays = usage ? usage.daysUsed - (usage.day === today ? 1 : 0) : 0;
  return ramp[earlierDays] ?? null;
}

function untilFirstResumes(candidates: readonly Candidate[]): SourceChoice {
  const [first] = candidates.map(({ pause }) => pause!).sort((a, b) => a.until - b.until);
  return { decision: 'wait', ...first! };
}

function untilTomorrow(
  candidates: readonly Candidate[],
  usages: SourceUsages,
  { mxGroup, ramp }: SourceFacts,
  now: number,
): SourceChoice {
  const until = (dayOf(now) + 1) * DAY_MS;
  const sent = candidates.map(({ ip }) => `${ip} ${capOf(usages.get(ip), ramp, dayOf(now))}`).join(', ');
  const reason = `our addresses are new to ${mxGroup} and have sent it what they may today (${sent}); new messages wait until ${toTimestamp(until)}`;
  return { decision: 'wait', until, reason };
}

/** Weighted rendezvous hashing: adding or removing an address moves only its own share of messages. */
function pickByWeight(id: string, candidates: readonly Candidate[]): Candidate {
  let best = candidates[0]!;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates) {
    const score = -candidate.weight / Math.log(hashFraction(id, candidate.ip));
    if (score > bestScore) [best, bestScore] = [candidate, score];
  }
  return best;
}

const HASH_RANGE = 2 ** 32;

/** Between 0 and 1, both exclusive: always the same for the same two. */
function hashFraction(id: string, ip: string): number {
  return (hash('sha1', `${id} ${ip}`, 'buffer').readUInt32BE(0) + 0.5) / HASH_RANGE;
}
