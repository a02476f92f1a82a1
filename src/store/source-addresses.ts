// Contract: from which of the service's own addresses a message is sent, and how much each has
// sent to whom. The store keeps and counts; what the choice depends on comes with each claim.
import { hash } from 'node:crypto';
import { DAY_MS, toTimestamp } from '../base/clock.ts';

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
type SourceUsages = ReadonlyMap<string, SourceUsage>;

/** A message whose address is asked for. */
export interface Departing {
  id: string;
  /** The one of its earlier attempts. */
  sourceAddress: string | null;
}

type SourceChoice =
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

// From which of our own addresses a message goes: one pure function of what is known, so that a
// driver can ask it inside the transaction of a claim. A message keeps the address of its first
// attempt; a new one gets its own by weight, from its id alone, so that the choice can be repeated;
// an address that is new to a receiver sends it little at first.

// What is wrong with our own addresses is looked at again every few minutes.
const UNUSABLE_PAUSE_MS = 10 * 60_000;

/** Receivers forget an address that is silent for so long; then it is new to them again. */
export const SOURCE_MEMORY_DAYS = 60;

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

export function chooseSource(
  { id, sourceAddress }: Departing,
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
  if (unpaused.length === 0) return allPaused(candidates);
  const free = unpaused.filter((candidate) => leftToday(candidate, usages, facts.ramp, now) > 0);
  if (free.length === 0) return usedUp(unpaused, usages, facts, now);
  const chosen = heaviest(id, free);
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

/** Days with mail count, not days on the calendar: an address becomes known by what it sends. */
function capOf(usage: SourceUsage | undefined, ramp: readonly number[], today: number): number | null {
  const earlierDays = usage ? usage.daysUsed - (usage.day === today ? 1 : 0) : 0;
  return ramp[earlierDays] ?? null;
}

function allPaused(candidates: readonly Candidate[]): SourceChoice {
  const [first] = candidates.map(({ pause }) => pause!).sort((a, b) => a.until - b.until);
  return { decision: 'wait', ...first! };
}

function usedUp(
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

/** Weighted rendezvous hashing: each gets its share, and who is added or lost moves no other's messages. */
function heaviest(id: string, candidates: readonly Candidate[]): Candidate {
  let best = candidates[0]!;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates) {
    const score = -candidate.weight / Math.log(lot(id, candidate.ip));
    if (score > bestScore) [best, bestScore] = [candidate, score];
  }
  return best;
}

const LOTS = 2 ** 32;

/** Between 0 and 1, neither included: always the same for the same two. */
function lot(id: string, ip: string): number {
  return (hash('sha1', `${id} ${ip}`, 'buffer').readUInt32BE(0) + 0.5) / LOTS;
}
