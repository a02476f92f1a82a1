// When a session has to be ended from outside: every wait of an SMTP session has a timeout of its
// own, so one that is silent for twice the longest of them is not waiting for its peer, it is stuck.
// First it is told to cut off what is on the wire; what does not even hear that is given up.
import { SECOND_MS } from '../../base/clock.ts';
import { scaleTimeouts } from '../../protocol/smtp/timeouts.ts';

export interface SilenceFacts {
  /** How long nothing came from the session, and nothing moved on its wire. */
  silentMs: number;
  /** How long the session's whole thread gave no sign of life. */
  threadSilentMs: number;
  /** Whether the session has messages in hand, or was told to end. */
  owesSomething: boolean;
  /** Whether it was told to cut off already. */
  aborted: boolean;
}

export type SilenceVerdict =
  | { decision: 'wait' }
  | { decision: 'abort'; reason: string }
  /** The thread lives, the session does not: it is left behind. */
  | { decision: 'abandon'; reason: string }
  /** The thread hears nothing any more, and all its sessions are stuck with it. */
  | { decision: 'end_thread'; reason: string };

// Shrunk timeouts are for tests, and a thread needs a moment to start on a busy machine.
const SHORTEST_LIMIT_MS = 30 * SECOND_MS;
// Cutting off is done at once where anything is done at all.
const ABORT_SHARE = 0.25;
const HEARTBEATS_PER_LIMIT = 8;
// So many heartbeats may be late before a thread counts as stuck: a large message takes its time.
const MISSED_HEARTBEATS = 3;

/** Twice the longest wait that RFC 5321 section 4.5.3.2 asks for, as it is configured. */
export function silenceLimitMs(timeoutFactor: number): number {
  const longestMs = Math.max(...Object.values(scaleTimeouts(timeoutFactor)));
  return Math.max(2 * longestMs, SHORTEST_LIMIT_MS);
}

/** How often a session or thread has to tell that it is alive. */
export function heartbeatMs(limitMs: number): number {
  return limitMs / HEARTBEATS_PER_LIMIT;
}

export function judgeSilence(facts: SilenceFacts, limitMs: number): SilenceVerdict {
  const { silentMs, threadSilentMs, owesSomething, aborted } = facts;
  if (!owesSomething || silentMs < (aborted ? limitMs * ABORT_SHARE : limitMs)) return { decision: 'wait' };
  if (!aborted) return { decision: 'abort', reason: `nothing moved in this session for ${seconds(silentMs)}` };
  if (threadSilentMs < MISSED_HEARTBEATS * heartbeatMs(limitMs)) {
    return { decision: 'abandon', reason: 'the session was stuck, and did not end when it was told to' };
  }
  return { decision: 'end_thread', reason: `the courier thread was stuck for ${seconds(threadSilentMs)}` };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
