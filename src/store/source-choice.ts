// From which of our own addresses a message goes: one pure function of what is known, so that a
// driver can ask it inside the transaction of a claim. A message keeps the address of its first
// attempt; a new one gets its own by weight, from its id alone, so that the choice can be repeated;
// an address that is new to a receiver sends it little at first.
import { hash } from 'node:crypto';
import { DAY_MS, toTimestamp } from '../base/clock.ts';
import type { Candidate, Departing, SourceChoice, SourceFacts, SourceUsage, SourceUsages } from './source-addresses.ts';

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
