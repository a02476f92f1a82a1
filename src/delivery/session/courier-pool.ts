// The main thread's view of the courier threads: it starts sessions on them. A thread that dies takes its
// sessions with it and is replaced; a session or thread that is stuck is ended (below). Not piscina
// (src/threads/): many sessions share a thread, and a dying thread's last messages are processed before its
// sessions end.

import { SECOND_MS } from '../../base/clock.ts';
import { describeError, Fault, unreachable } from '../../base/errors.ts';
import { scaleTimeouts } from '../../protocol/smtp/timeouts.ts';
import { FIRST_PAUSE_MS, RestartPauses } from '../../threads/restart-pauses.ts';
import type { CourierReport, CourierSettings, HostNote, SessionPlan } from '../courier/messages.ts';
import { type CourierLink, CourierThread, type WatchedLink } from './courier-thread.ts';

export interface CourierPool {
  start(plan: SessionPlan, onReport: (report: CourierReport) => void): CourierLink;
  /** Threads end soon after they have started, again and again: nothing is sent. Null: they live. */
  trouble(): CourierTrouble | null;
  close(): Promise<void>;
}

export interface CourierTrouble {
  reason: string;
  /** For how long. */
  sinceMs: number;
}

/** The settings of every courier thread; the pool itself adds the heartbeat. */
export type CourierPoolSettings = Omit<CourierSettings, 'heartbeatMs'>;

export interface CourierPoolOptions {
  threads: number;
  /** A thread died and is replaced. */
  onThreadLost(error: unknown): void;
  onHostNote(note: HostNote): void;
  /** A session was stuck and has been ended. */
  onStuck?(reason: string): void;
  /** The silence after which a session is stuck; missing: twice the longest timeout. */
  silenceLimitMs?: number;
  /** The entry file of a courier thread; tests use a stand-in. */
  entry?: URL;
  /** A monotonic clock: a change of the system clock must not end sessions. */
  elapsed?(): number;
}

export function openCourierPool(settings: CourierPoolSettings, options: CourierPoolOptions): CourierPool {
  return new ThreadPool(settings, options);
}

/** A thread that can't work ends within a second or two. */
const LIVES_MS = 10 * SECOND_MS;

class ThreadPool implements CourierPool {
  readonly #settings: CourierSettings;
  readonly #options: CourierPoolOptions;
  readonly #limitMs: number;
  readonly #elapsed: () => number;
  readonly #threads = new Set<CourierThread>();
  /** They take no session any more, and have not ended yet. */
  readonly #dying = new Set<CourierThread>();
  readonly #replacements = new Set<NodeJS.Timeout>();
  readonly #watch: NodeJS.Timeout;
  /** Back-off for threads that can't start. */
  readonly #pauses = new RestartPauses();
  /** No thread starts before this time, not even for a waiting session. */
  #pausedUntil = 0;
  /** Of the last of several early deaths; null: the last thread that died had lived. */
  #failing: { reason: string; since: number } | null = null;
  #closed = false;

  constructor(settings: CourierPoolSettings, options: CourierPoolOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#limitMs = options.silenceLimitMs ?? silenceLimitMs(settings.timeoutFactor);
    const beatMs = heartbeatMs(this.#limitMs);
    this.#settings = { ...settings, heartbeatMs: beatMs };
    for (let count = 0; count < options.threads; count++) this.#spawn();
    this.#watch = setInterval(() => this.#checkAll(), beatMs);
  }

  start(plan: SessionPlan, onReport: (report: CourierReport) => void): CourierLink {
    return this.#leastBusy().start(plan, onReport);
  }

  trouble(): CourierTrouble | null {
    if ([...this.#threads].some(({ livedMs }) => livedMs >= LIVES_MS)) this.#failing = null;
    return this.#failing && { reason: this.#failing.reason, sinceMs: this.#elapsed() - this.#failing.since };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const timer of this.#replacements) clearTimeout(timer);
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  #leastBusy(): CourierThread {
    let best: CourierThread | null = null;
    for (const thread of this.#threads) if (!best || thread.sessions < best.sessions) best = thread;
    return best ?? this.#spawn();
  }

  #spawn(): CourierThread {
    const thread = new CourierThread({
      settings: this.#settings,
      entry: this.#options.entry ?? new URL('../courier/worker.ts', import.meta.url),
      startAfterMs: Math.max(0, this.#pausedUntil - this.#elapsed()),
      elapsed: this.#elapsed,
      onHostNote: this.#options.onHostNote,
      onDying: (dying) => {
        if (this.#threads.delete(dying)) this.#dying.add(dying);
      },
      onDead: (dead) => this.#onDead(dead),
    });
    this.#threads.add(thread);
    return thread;
  }

  #checkAll(): void {
    for (const thread of this.#threads) for (const link of thread.links) this.#check(link, thread);
  }

  #check(link: WatchedLink, thread: CourierThread): void {
    const { silentMs, isBusy, aborted } = link;
    const verdict = judgeSilence({ silentMs, threadSilentMs: thread.silentMs, isBusy, aborted }, this.#limitMs);
    if (verdict.decision === 'wait') return;
    this.#options.onStuck?.(verdict.reason);
    switch (verdict.decision) {
      case 'abort':
        link.order({ kind: 'abort', reason: verdict.reason });
        return;
      case 'abandon':
        thread.abandon(link, verdict.reason);
        return;
      case 'end_thread':
        thread.death ??= new Fault(verdict.reason);
        this.#threads.delete(thread);
        void thread.terminate();
        return;
      default:
        unreachable(verdict);
    }
  }

  #onDead(thread: CourierThread): void {
    this.#threads.delete(thread);
    this.#dying.delete(thread);
    if (this.#closed) return;
    const death = thread.death ?? new Fault('the courier thread has ended');
    this.#options.onThreadLost(death);
    const now = this.#elapsed();
    const pauseMs = this.#pauses.next(thread.livedMs);
    // The first death may be an accident, so waiting sessions don't wait for the pause.
    const isAgain = pauseMs > FIRST_PAUSE_MS;
    if (isAgain) this.#pausedUntil = now + pauseMs;
    const isEarly = isAgain && thread.livedMs < LIVES_MS;
    this.#failing = isEarly ? { reason: describeError(death), since: this.#failing?.since ?? now } : null;
    const timer = setTimeout(() => {
      this.#replacements.delete(timer);
      // A session that needed a thread may have started one already; one that dies right now has a pause of its own.
      if (this.#threads.size + this.#dying.size < this.#options.threads) this.#spawn();
    }, pauseMs);
    this.#replacements.add(timer);
  }
}

// Decides when a session must be ended from outside: every wait of an SMTP session has a timeout, so one that
// is silent for twice the longest timeout is not waiting for its peer, but stuck. First it is ordered to cut
// off what is on the wire; if it doesn't even do that, it is abandoned.

export interface SilenceFacts {
  /** How long the session has sent no message, and nothing on the wire. */
  silentMs: number;
  /** How long its thread has given no sign of life. */
  threadSilentMs: number;
  /** Whether the session has messages in flight, or was ordered to end. */
  isBusy: boolean;
  /** Whether it was ordered to abort already. */
  aborted: boolean;
}

type SilenceVerdict =
  | { decision: 'wait' }
  | { decision: 'abort'; reason: string }
  /** The thread is alive, the session is not: it is abandoned. */
  | { decision: 'abandon'; reason: string }
  /** The thread doesn't respond, and all its sessions are stuck with it. */
  | { decision: 'end_thread'; reason: string };

// For tests with short timeouts: a thread needs a moment to start on a busy machine.
const MIN_LIMIT_MS = 30 * SECOND_MS;
// A session that still runs aborts at once.
const ABORT_SHARE = 0.25;
const HEARTBEATS_PER_LIMIT = 8;
// Heartbeats that may be missed before a thread counts as stuck: a large message takes a while.
const MISSED_HEARTBEATS = 3;

/** Twice the longest timeout of RFC 5321 section 4.5.3.2, as configured. */
export function silenceLimitMs(timeoutFactor: number): number {
  const longestMs = Math.max(...Object.values(scaleTimeouts(timeoutFactor)));
  return Math.max(2 * longestMs, MIN_LIMIT_MS);
}

/** How often sessions and threads report that they are alive. */
function heartbeatMs(limitMs: number): number {
  return limitMs / HEARTBEATS_PER_LIMIT;
}

export function judgeSilence(facts: SilenceFacts, limitMs: number): SilenceVerdict {
  const { silentMs, threadSilentMs, isBusy, aborted } = facts;
  if (!isBusy || silentMs < (aborted ? limitMs * ABORT_SHARE : limitMs)) return { decision: 'wait' };
  if (!aborted) return { decision: 'abort', reason: `nothing moved in this session for ${seconds(silentMs)}` };
  if (threadSilentMs < MISSED_HEARTBEATS * heartbeatMs(limitMs)) {
    return { decision: 'abandon', reason: 'the session was stuck, and did not end when it was told to' };
  }
  return { decision: 'end_thread', reason: `the courier thread was stuck for ${seconds(threadSilentMs)}` };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
