// The courier threads, as the main thread sees them: somebody to hand a session to. A thread
// that dies takes its sessions with it and is replaced; a session or thread that is stuck is
// ended (below). Not piscina (src/threads/): many sessions share a thread, and what a dying
// thread has still said is heard before its sessions end.

import { SECOND_MS } from '../../base/clock.ts';
import { Fault, unreachable } from '../../base/errors.ts';
import { FIRST_PAUSE_MS, RestartPauses } from '../../base/restart-pauses.ts';
import { scaleTimeouts } from '../../protocol/smtp/timeouts.ts';
import type { CourierReport, CourierSettings, HostNote, SessionPlan } from '../courier/messages.ts';
import { type CourierLink, CourierThread, type WatchedLink } from './courier-thread.ts';

export interface CourierPool {
  start(plan: SessionPlan, onReport: (report: CourierReport) => void): CourierLink;
  close(): Promise<void>;
}

/** What every courier thread is given; how often it has to show that it is alive, the pool adds itself. */
export type CourierPoolSettings = Omit<CourierSettings, 'heartbeatMs'>;

export interface CourierPoolOptions {
  threads: number;
  /** A thread died; another takes its place. */
  onThreadLost(error: unknown): void;
  onHostNote(note: HostNote): void;
  /** A session was stuck, and has been ended. */
  onStuck?(reason: string): void;
  /** After how long without a sign of life; twice the longest timeout when not given. */
  silenceLimitMs?: number;
  /** Where a courier thread begins; tests put a stand-in here. */
  entry?: URL;
  /** Milliseconds that only ever grow; a clock that is set must not end sessions. */
  elapsed?(): number;
}

export function openCourierPool(settings: CourierPoolSettings, options: CourierPoolOptions): CourierPool {
  return new ThreadPool(settings, options);
}

class ThreadPool implements CourierPool {
  readonly #settings: CourierSettings;
  readonly #options: CourierPoolOptions;
  readonly #limitMs: number;
  readonly #elapsed: () => number;
  readonly #threads = new Set<CourierThread>();
  readonly #replacements = new Set<NodeJS.Timeout>();
  readonly #watch: NodeJS.Timeout;
  /** A thread that cannot start must not be started in a circle. */
  readonly #pauses = new RestartPauses();
  /** Before this no thread begins, not even for a session that waits. */
  #pausedUntil = 0;
  #closed = false;

  constructor(settings: CourierPoolSettings, options: CourierPoolOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#limitMs = options.silenceLimitMs ?? silenceLimitMs(settings.timeoutFactor);
    const beatMs = heartbeatMs(this.#limitMs);
    this.#settings = { ...settings, heartbeatMs: beatMs };
    for (let count = 0; count < options.threads; count++) this.#spawn();
    this.#watch = setInterval(() => this.#lookAround(), beatMs);
  }

  start(plan: SessionPlan, onReport: (report: CourierReport) => void): CourierLink {
    return this.#leastBusy().start(plan, onReport);
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
      onDying: (dying) => this.#threads.delete(dying),
      onDead: (dead) => this.#bury(dead),
    });
    this.#threads.add(thread);
    return thread;
  }

  #lookAround(): void {
    for (const thread of this.#threads) for (const link of thread.links) this.#lookAt(link, thread);
  }

  #lookAt(link: WatchedLink, thread: CourierThread): void {
    const { silentMs, owesSomething, aborted } = link;
    const verdict = judgeSilence({ silentMs, threadSilentMs: thread.silentMs, owesSomething, aborted }, this.#limitMs);
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

  #bury(thread: CourierThread): void {
    this.#threads.delete(thread);
    if (this.#closed) return;
    this.#options.onThreadLost(thread.death ?? new Fault('the courier thread has ended'));
    const now = this.#elapsed();
    const pauseMs = this.#pauses.next(thread.livedMs);
    // The first death may be an accident, and what waits need not wait for it.
    if (pauseMs > FIRST_PAUSE_MS) this.#pausedUntil = now + pauseMs;
    const timer = setTimeout(() => {
      this.#replacements.delete(timer);
      // A session that could not wait may have started one already.
      if (this.#threads.size < this.#options.threads) this.#spawn();
    }, pauseMs);
    this.#replacements.add(timer);
  }
}

// When a session has to be ended from outside: every wait of an SMTP session has a timeout of its
// own, so one that is silent for twice the longest of them is not waiting for its peer, it is stuck.
// First it is told to cut off what is on the wire; what does not even hear that is given up.

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

type SilenceVerdict =
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
function heartbeatMs(limitMs: number): number {
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
