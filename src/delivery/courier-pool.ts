// The courier threads, as the main thread sees them: somebody to hand a session to. A thread
// that dies takes its sessions with it and is replaced. No library: those we know give up on a
// pool for good when one thread dies early, and mail must not wait for a restart.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { SECOND_MS } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type {
  CourierGoodbye,
  CourierOrder,
  CourierReport,
  CourierSettings,
  CourierTaskMessage,
  SessionPlan,
} from './courier/messages.ts';

/** The main thread's end of one session. */
export interface CourierLink {
  order(order: CourierOrder): void;
  /** Settles when the session is over, or its thread is: after its last report. */
  over: Promise<void>;
}

export interface CourierPool {
  start(plan: SessionPlan, onReport: (report: CourierReport) => void): CourierLink;
  close(): Promise<void>;
}

export interface CourierPoolOptions {
  threads: number;
  /** A thread died; another takes its place. */
  onThreadLost(error: unknown): void;
}

// Between the death of a thread and its replacement: one that cannot start must not be
// started in a circle.
const REPLACE_AFTER_MS = SECOND_MS;

interface Session {
  port: MessagePort;
  hear(report: CourierReport | CourierGoodbye): void;
}

interface Thread {
  worker: Worker;
  sessions: Set<Session>;
  /** Why it died, as soon as it has. */
  death: unknown;
}

export function openCourierPool(settings: CourierSettings, options: CourierPoolOptions): CourierPool {
  return new ThreadPool(settings, options);
}

class ThreadPool implements CourierPool {
  readonly #settings: CourierSettings;
  readonly #onThreadLost: (error: unknown) => void;
  readonly #size: number;
  readonly #threads = new Set<Thread>();
  readonly #replacements = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(settings: CourierSettings, { threads, onThreadLost }: CourierPoolOptions) {
    this.#settings = settings;
    this.#onThreadLost = onThreadLost;
    this.#size = threads;
    for (let count = 0; count < threads; count++) this.#spawn();
  }

  start(plan: SessionPlan, onReport: (report: CourierReport) => void): CourierLink {
    const thread = this.#leastBusy();
    const { port1, port2 } = new MessageChannel();
    let goodbye = false;
    const hear = (report: CourierReport | CourierGoodbye) => {
      if (report.kind === 'over') goodbye = true;
      else onReport(report);
    };
    const session = { port: port1, hear };
    thread.sessions.add(session);
    port1.on('message', hear);
    thread.worker.postMessage({ port: port2, plan } satisfies CourierTaskMessage, [port2]);
    const over = new Promise<void>((resolve) => {
      port1.once('close', () => {
        thread.sessions.delete(session);
        if (!goodbye) this.#threads.delete(thread); // it is dying: no new session for it
        resolve();
      });
    });
    return { order: (order) => port1.postMessage(order), over };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#replacements) clearTimeout(timer);
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  #leastBusy(): Thread {
    let best: Thread | null = null;
    for (const thread of this.#threads) if (!best || thread.sessions.size < best.sessions.size) best = thread;
    return best ?? this.#spawn();
  }

  #spawn(): Thread {
    const worker = new Worker(new URL('./courier/worker.ts', import.meta.url), {
      workerData: this.#settings,
      name: 'courier',
    });
    const thread: Thread = { worker, sessions: new Set(), death: null };
    worker.on('error', (error) => {
      thread.death = error;
      this.#threads.delete(thread); // no new session for it
      void worker.terminate();
    });
    worker.on('exit', () => this.#bury(thread));
    this.#threads.add(thread);
    return thread;
  }

  #bury(thread: Thread): void {
    this.#threads.delete(thread);
    thread.death ??= new Fault('the courier thread has ended');
    for (const { port, hear } of thread.sessions) {
      // What it reported with its last breath is true all the same.
      for (let last = receiveMessageOnPort(port); last; last = receiveMessageOnPort(port)) hear(last.message);
      port.close();
    }
    if (this.#closed) return;
    this.#onThreadLost(thread.death);
    const timer = setTimeout(() => {
      this.#replacements.delete(timer);
      // A session that could not wait may have started one already.
      if (this.#threads.size < this.#size) this.#spawn();
    }, REPLACE_AFTER_MS);
    this.#replacements.add(timer);
  }
}
