// How many connections an MX group may have now: additive increase while mail is delivered, halved when the
// receiver says "too much". Pure: state, sign and time in, state and reason out.
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import { GROUP_MEMORY_MS, type GroupConcurrency } from '../../store/shaping.ts';

/*
 * A group begins with all permitted connections. `full` (a connection is refused while others are open) lowers the
 * limit to the connections that work; it stays there for a minute, and twice as long each time that one more connection
 * is refused again. `slow_down` (421, 4.7.x) and failures to connect halve it, to no less than one; such signs count
 * once if they come within a moment of each other. Failures to connect also begin a cool-down without any connection,
 * which grows with each further failure; when it ends, a single connection tries. After a time without such signs,
 * deliveries raise the limit by one connection at a time, up to the ceiling: then there is nothing to remember any
 * more.
 */
export type Sign =
  | { kind: 'delivered' }
  /** The server replied about the message, not about our speed. */
  | { kind: 'answered' }
  | { kind: 'slow_down'; reason: string }
  /** A connection was refused while `working` others are open. */
  | { kind: 'full'; reason: string; working: number }
  /** A connection was opened; `working` counts it, too. */
  | { kind: 'connected'; working: number }
  | { kind: 'closed'; reason: string }
  /** Nothing is sent until then; afterwards one connection starts. */
  | { kind: 'suspended'; reason: string; until: number };

export interface AdaptiveContext {
  now: number;
  /** 0 <= x < 1. */
  random: () => number;
  /** The group's permitted connections. */
  ceiling: number;
  open: number;
  /** How many consecutive failures to connect begin a cool-down. */
  tolerance: number;
  /** A cool-down lasts no longer than a message's own pause after the same number of attempts. */
  retryStepsMs: readonly number[];
}

// Sessions opened before the limit was lowered still get the same refusal.
const IGNORE_MS = 10 * SECOND_MS;
/** Long enough to see whether the lower limit is low enough. */
const CALM_MS = MINUTE_MS;
// The server's limit doesn't change every minute, and each try costs it a refusal.
const MAX_CALM_MS = 15 * MINUTE_MS;
const RISE_EVERY_MS = 15 * SECOND_MS;
const DELIVERIES_PER_RISE = 10;
// A restarted server is found soon; later, a dead one costs little.
const COOL_DOWN_STEPS_MS = [15 * SECOND_MS, 30 * SECOND_MS, ...[1, 2, 5, 10, 15].map((minutes) => minutes * MINUTE_MS)];
const COOL_DOWN_JITTER = 0.2;

export function healthy(ceiling: number): GroupConcurrency {
  return {
    limit: ceiling,
    riseAt: 0,
    ignoresFailuresUntil: 0,
    delivered: 0,
    failures: 0,
    coolDownUntil: 0,
    reason: '',
  };
}

/** Whether there is nothing to remember. */
export function isHealthy({ limit, failures, coolDownUntil }: GroupConcurrency, ceiling: number): boolean {
  return limit >= ceiling && failures === 0 && coolDownUntil === 0;
}

/** What was learnt so long ago says nothing about the receiver any more. */
export function isOutdated({ coolDownUntil, riseAt }: GroupConcurrency, triedAt: number, now: number): boolean {
  return now - Math.max(triedAt, coolDownUntil, riseAt) > GROUP_MEMORY_MS;
}

/** The next state; the same object if nothing changes. */
export function adapt(state: GroupConcurrency, sign: Sign, context: AdaptiveContext): GroupConcurrency {
  switch (sign.kind) {
    case 'delivered':
      return rise(opened(state), context);
    case 'answered':
      return opened(state);
    case 'slow_down':
      return slowDown(opened(state), sign.reason, context);
    case 'full':
      return full(sign.working > 0 ? opened(state) : state, sign, context);
    case 'connected':
      return connected(state, sign.working, context);
    case 'closed':
      return closed(state, sign.reason, context);
    case 'suspended':
      return { ...opened(state), limit: 1, riseAt: sign.until, delivered: 0, reason: sign.reason };
    default:
      return unreachable(sign);
  }
}

/** The connections that may be open: only one after a cool-down. */
export function permittedConnections(state: GroupConcurrency): number {
  return state.coolDownUntil > 0 ? 1 : state.limit;
}

function opened(state: GroupConcurrency): GroupConcurrency {
  return state.failures === 0 && state.coolDownUntil === 0 ? state : { ...state, failures: 0, coolDownUntil: 0 };
}

function rise(state: GroupConcurrency, { now, ceiling }: AdaptiveContext): GroupConcurrency {
  if (state.limit >= ceiling) return state;
  const delivered = state.delivered + 1;
  if (now < state.riseAt || delivered < DELIVERIES_PER_RISE) return { ...state, delivered };
  const { calmMs, ...rest } = state;
  const limit = state.limit + 1;
  const raised = { ...rest, limit, delivered: 0, riseAt: now + RISE_EVERY_MS };
  return calmMs === undefined || limit >= ceiling ? raised : { ...raised, calmMs };
}

function slowDown(state: GroupConcurrency, reason: string, { now, open }: AdaptiveContext): GroupConcurrency {
  if (now < state.ignoresFailuresUntil) return state;
  const riseAt = Math.max(state.riseAt, now + CALM_MS);
  return {
    ...state,
    limit: halved(state.limit, open),
    riseAt,
    ignoresFailuresUntil: now + IGNORE_MS,
    delivered: 0,
    reason,
  };
}

/** Of simultaneous refusals, each later one sees more of the connections opened meanwhile: the last one is right. */
function full(
  state: GroupConcurrency,
  { reason, working }: { reason: string; working: number },
  { now, ceiling }: AdaptiveContext,
): GroupConcurrency {
  const limit = Math.min(Math.max(working, 1), ceiling);
  if (now < state.ignoresFailuresUntil) return limit === state.limit ? state : { ...state, limit };
  const calmMs = state.calmMs === undefined ? CALM_MS : Math.min(state.calmMs * 2, MAX_CALM_MS);
  const riseAt = Math.max(state.riseAt, now + calmMs);
  const lowered = Math.min(limit, state.limit);
  return { ...state, limit: lowered, riseAt, calmMs, ignoresFailuresUntil: now + IGNORE_MS, delivered: 0, reason };
}

/** Accepted connections take longer to report than refused ones. */
function connected(state: GroupConcurrency, working: number, { now, ceiling }: AdaptiveContext): GroupConcurrency {
  const limit = Math.min(working, ceiling);
  return state.calmMs !== undefined && now < state.ignoresFailuresUntil && limit > state.limit
    ? { ...state, limit }
    : state;
}

function closed(state: GroupConcurrency, reason: string, context: AdaptiveContext): GroupConcurrency {
  const { now, random, open, tolerance } = context;
  // Attempts from before the cool-down.
  if (now < state.coolDownUntil) return state;
  const failures = state.failures + 1;
  if (failures < tolerance) return { ...state, failures };
  const step = coolDownStep(failures - tolerance, context.retryStepsMs);
  const coolDownUntil = now + Math.round(step * (1 + COOL_DOWN_JITTER * random()));
  const riseAt = coolDownUntil + CALM_MS;
  return { ...state, failures, coolDownUntil, limit: halved(state.limit, open), riseAt, delivered: 0, reason };
}

function coolDownStep(index: number, retryStepsMs: readonly number[]): number {
  const step = (steps: readonly number[]) => steps[Math.min(index, steps.length - 1)] ?? Number.POSITIVE_INFINITY;
  return Math.min(step(COOL_DOWN_STEPS_MS), step(retryStepsMs));
}

/** Half of the connections in use, if fewer than the limit: lowering a limit that is not reached has no effect. */
function halved(limit: number, open: number): number {
  return Math.max(1, Math.floor(Math.min(limit, Math.max(open, 1)) / 2));
}
