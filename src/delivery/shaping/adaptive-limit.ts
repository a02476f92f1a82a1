// How many connections an MX group bears right now: additive increase while mail is delivered,
// halved by what says "too much". Pure: state, sign and time in, state and reason out.
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { GroupConcurrency } from '../../store/shaping.ts';

/*
 * A group begins with all the connections that it may have. `full` (a connection is refused while
 * others are open) lowers the limit to the connections that work; it stays there for a minute, and
 * for twice as long each time that one more connection is refused again. `slow_down` (421, 4.7.x)
 * and doors that nobody opens halve it, at least one is left; bad signs that come within a moment
 * of each other count once. Doors that stay closed also begin a cool-down, in which nobody knocks; it
 * grows with each knock in vain, and a single connection tries the door when it is over. After a
 * time without bad signs, deliveries raise the limit by one connection at a time, until it is
 * what it may be: then there is nothing to remember any more.
 */
export type Sign =
  | { kind: 'delivered' }
  /** The server spoke about the message; nothing in it was about our speed. */
  | { kind: 'answered' }
  | { kind: 'slow_down'; reason: string }
  /** One connection too many: so many others are open and work. */
  | { kind: 'full'; reason: string; working: number }
  /** A connection was opened; with it, so many work. */
  | { kind: 'connected'; working: number }
  | { kind: 'closed'; reason: string }
  /** Nothing is sent until then; afterwards one connection begins. */
  | { kind: 'suspended'; reason: string; until: number };

export interface AdaptiveSurroundings {
  now: number;
  /** 0 <= x < 1. */
  random: () => number;
  /** What the group may have. */
  ceiling: number;
  open: number;
  /** How many doors in a row must stay closed before the group counts as closed. */
  tolerance: number;
  /** A cool-down lasts no longer than a message's own pause after as many attempts. */
  retryStepsMs: readonly number[];
}

// A flock: sessions that were opened before the limit sank still hear the same complaint.
const DEAF_MS = 10 * SECOND_MS;
/** Long enough to see whether the lower limit is low enough. */
const CALM_MS = MINUTE_MS;
// The server's limit does not change every minute, and each try costs it a refusal.
const LONGEST_CALM_MS = 15 * MINUTE_MS;
const RISE_EVERY_MS = 15 * SECOND_MS;
const DELIVERIES_PER_RISE = 10;
// Soon enough that a server that was restarted is found at once; later, a dead one costs little.
const COOL_DOWN_STEPS_MS = [15 * SECOND_MS, 30 * SECOND_MS, ...[1, 2, 5, 10, 15].map((minutes) => minutes * MINUTE_MS)];
const COOL_DOWN_JITTER = 0.2;

export function untroubled(ceiling: number): GroupConcurrency {
  return { limit: ceiling, riseAt: 0, deafUntil: 0, delivered: 0, failures: 0, coolDownUntil: 0, reason: '' };
}

/** Whether there is nothing to remember. */
export function isUntroubled({ limit, failures, coolDownUntil }: GroupConcurrency, ceiling: number): boolean {
  return limit >= ceiling && failures === 0 && coolDownUntil === 0;
}

/** The next state; the very same when nothing changes. */
export function adapt(state: GroupConcurrency, sign: Sign, around: AdaptiveSurroundings): GroupConcurrency {
  switch (sign.kind) {
    case 'delivered':
      return rise(opened(state), around);
    case 'answered':
      return opened(state);
    case 'slow_down':
      return slowDown(opened(state), sign.reason, around);
    case 'full':
      return full(sign.working > 0 ? opened(state) : state, sign, around);
    case 'connected':
      return connected(state, sign.working, around);
    case 'closed':
      return closed(state, sign.reason, around);
    case 'suspended':
      return { ...opened(state), limit: 1, riseAt: sign.until, delivered: 0, reason: sign.reason };
    default:
      return unreachable(sign);
  }
}

/** How many connections may be open: a closed door is tried by one. */
export function permittedConnections(state: GroupConcurrency): number {
  return state.coolDownUntil > 0 ? 1 : state.limit;
}

function opened(state: GroupConcurrency): GroupConcurrency {
  return state.failures === 0 && state.coolDownUntil === 0 ? state : { ...state, failures: 0, coolDownUntil: 0 };
}

function rise(state: GroupConcurrency, { now, ceiling }: AdaptiveSurroundings): GroupConcurrency {
  if (state.limit >= ceiling) return state;
  const delivered = state.delivered + 1;
  if (now < state.riseAt || delivered < DELIVERIES_PER_RISE) return { ...state, delivered };
  const { calmMs, ...rest } = state;
  const limit = state.limit + 1;
  const raised = { ...rest, limit, delivered: 0, riseAt: now + RISE_EVERY_MS };
  return calmMs === undefined || limit >= ceiling ? raised : { ...raised, calmMs };
}

function slowDown(state: GroupConcurrency, reason: string, { now, open }: AdaptiveSurroundings): GroupConcurrency {
  if (now < state.deafUntil) return state;
  const riseAt = Math.max(state.riseAt, now + CALM_MS);
  return { ...state, limit: halved(state.limit, open), riseAt, deafUntil: now + DEAF_MS, delivered: 0, reason };
}

/** Of a flock, each refusal sees more of the connections that were opened meanwhile: the last one is right. */
function full(
  state: GroupConcurrency,
  { reason, working }: { reason: string; working: number },
  { now, ceiling }: AdaptiveSurroundings,
): GroupConcurrency {
  const limit = Math.min(Math.max(working, 1), ceiling);
  if (now < state.deafUntil) return limit === state.limit ? state : { ...state, limit };
  const calmMs = state.calmMs === undefined ? CALM_MS : Math.min(state.calmMs * 2, LONGEST_CALM_MS);
  const riseAt = Math.max(state.riseAt, now + calmMs);
  const lowered = Math.min(limit, state.limit);
  return { ...state, limit: lowered, riseAt, calmMs, deafUntil: now + DEAF_MS, delivered: 0, reason };
}

/** Those that the server lets in take longer to say so than those that it refuses. */
function connected(state: GroupConcurrency, working: number, { now, ceiling }: AdaptiveSurroundings): GroupConcurrency {
  const limit = Math.min(working, ceiling);
  return state.calmMs !== undefined && now < state.deafUntil && limit > state.limit ? { ...state, limit } : state;
}

function closed(state: GroupConcurrency, reason: string, around: AdaptiveSurroundings): GroupConcurrency {
  const { now, random, open, tolerance } = around;
  // Those who knocked before the cool-down began.
  if (now < state.coolDownUntil) return state;
  const failures = state.failures + 1;
  if (failures < tolerance) return { ...state, failures };
  const step = coolDownStep(failures - tolerance, around.retryStepsMs);
  const coolDownUntil = now + Math.round(step * (1 + COOL_DOWN_JITTER * random()));
  const riseAt = coolDownUntil + CALM_MS;
  return { ...state, failures, coolDownUntil, limit: halved(state.limit, open), riseAt, delivered: 0, reason };
}

function coolDownStep(index: number, retryStepsMs: readonly number[]): number {
  const step = (steps: readonly number[]) => steps[Math.min(index, steps.length - 1)] ?? Number.POSITIVE_INFINITY;
  return Math.min(step(COOL_DOWN_STEPS_MS), step(retryStepsMs));
}

/** Of those that are really open, where that is less: a limit that nobody reaches slows nobody down. */
function halved(limit: number, open: number): number {
  return Math.max(1, Math.floor(Math.min(limit, Math.max(open, 1)) / 2));
}
