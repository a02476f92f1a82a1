// The courier threads, as the main thread sees them: somebody to hand a session to. A thread
// that dies takes its sessions with it and is replaced; a session or thread that is stuck is
// ended (watchdog.ts). No library: those we know give up on a pool for good when one thread dies
// early, and mail must not wait for a restart.
import { MessageChannel, Worker } from 'node:worker_threads';
import { SECOND_MS } from '../base/clock.ts';
import { Fault, unreachable } from '../base/errors.ts';
import type {
  BrokenTlsNote,
  CourierHeartbeat,
  CourierReport,
  CourierSettings,
  CourierTaskMessage,
  SessionPlan,
} from './courier/messages.ts';
import { type CourierLink, WatchedLink } from './courier-link.ts';
import { heartbeatMs, judgeSilence, silenceLimitMs } from './watchdog.ts';

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
  onBrokenTls(note: BrokenTlsNote): void;
  /** A session was stuck, and has been ended. */
  onStuck?(reason: string): void;
  /** After how long without a sign of life; twice the longest timeout when not given. */
  silenceLimitMs?: number;
  /** Where a courier thread begins; tests put a stand-in here. */
  entry?: URL;
  /** Milliseconds that only ever grow; a clock that is set must not end sessions. */
  elapsed?(): number;
}

// Between the death of a thread and its replacement: one that cannot start must not be
// started in a circle.
const REPLACE_AFTER_MS = SECOND_MS;

interface Thread {
  worker: Worker;
  sessions: Set<WatchedLink>;
  /** Why it died, as soon as it has. */
  death: unknown;
  aliveAt: number;
}

export function openCourierPool(settings: CourierPoolSettings, options: CourierPoolOptions): CourierPool {
  return new ThreadPool(settings, options);
}

class ThreadPool implements CourierPool {
  readonly #settings: CourierSettings;
  readonly #options: CourierPoolOptions;
  readonly #limitMs: number;
  readonly #elapsed: () => number;
  readonly #threads = new Set<Thread>();
  readonly #replacements = new Set<NodeJS.Timeout>();
  readonly #watch: NodeJS.Timeout;
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
    const thread = this.#leastBusy();
    const { port1, port2 } = new MessageChannel();
    const link = new WatchedLink(port1, onReport, this.#elapsed);
    thread.sessions.add(link);
    thread.worker.postMessage({ port: port2, plan } satisfies CourierTaskMessage, [port2]);
    void link.over.then(() => thread.sessions.delete(link));
    port1.once('close', () => {
      if (link.fate !== null && !link.abandoned) this.#threads.delete(thread); // it is dying: no new session for it
    });
    return link;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const timer of this.#replacements) clearTimeout(timer);
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  #leastBusy(): Thread {
    let best: Thread | null = null;
    for (const thread of this.#threads) if (!best || thread.sessions.size < best.sessions.size) best = thread;
    return best ?? this.#spawn();
  }

  #spawn(): Thread {
    const worker = new Worker(this.#options.entry ?? new URL('./courier/worker.ts', import.meta.url), {
      workerData: this.#settings,
      name: 'courier',
      // A third of V8's own measure: some 20 MB less at the peak of two busy threads.
      resourceLimits: { maxYoungGenerationSizeMb: 24 },
    });
    const thread: Thread = { worker, sessions: new Set(), death: null, aliveAt: this.#elapsed() };
    worker.on('message', (note: BrokenTlsNote | CourierHeartbeat) => {
      thread.aliveAt = this.#elapsed();
      if (note.kind === 'tls_broken') this.#options.onBrokenTls(note);
    });
    worker.on('error', (error) => {
      thread.death = error;
      this.#threads.delete(thread); // no new session for it
      void worker.terminate();
    });
    worker.on('exit', () => this.#bury(thread));
    this.#threads.add(thread);
    return thread;
  }

  #lookAround(): void {
    for (const thread of this.#threads) for (const link of thread.sessions) this.#lookAt(link, thread);
  }

  #lookAt(link: WatchedLink, thread: Thread): void {
    const { silentMs, owesSomething, aborted } = link;
    const threadSilentMs = this.#elapsed() - thread.aliveAt;
    const verdict = judgeSilence({ silentMs, threadSilentMs, owesSomething, aborted }, this.#limitMs);
    if (verdict.decision === 'wait') return;
    this.#options.onStuck?.(verdict.reason);
    switch (verdict.decision) {
      case 'abort':
        link.order({ kind: 'abort', reason: verdict.reason });
        return;
      case 'abandon':
        link.abandon(verdict.reason);
        return;
      case 'end_thread':
        thread.death ??= new Fault(verdict.reason);
        this.#threads.delete(thread);
        void thread.worker.terminate();
        return;
      default:
        unreachable(verdict);
    }
  }

  #bury(thread: Thread): void {
    this.#threads.delete(thread);
    thread.death ??= new Fault('the courier thread has ended');
    for (const link of thread.sessions) link.cut();
    if (this.#closed) return;
    this.#options.onThreadLost(thread.death);
    const timer = setTimeout(() => {
      this.#replacements.delete(timer);
      // A session that could not wait may have started one already.
      if (this.#threads.size < this.#options.threads) this.#spawn();
    }, REPLACE_AFTER_MS);
    this.#replacements.add(timer);
  }
}
