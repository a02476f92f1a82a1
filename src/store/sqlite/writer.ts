// The main thread's side of the writer thread: sends calls and passes on their answers. An answer is passed on after
// the commit, and after everything that it made stale is dropped from the cache, so that a caller always reads what
// it wrote.
import { Fault } from '../../base/errors.ts';
import { HostedThread } from '../../threads/worker-host.ts';
import type { GroupStats } from '../verb-kinds.ts';
import { CHECKPOINT_LIMITS, type CheckpointLimits } from './engine/checkpoint-plan.ts';
import { storeFault } from './engine/database-fault.ts';
import { Listeners } from './engine/due-notices.ts';
import { LocalConnection } from './engine/local-connection.ts';
import {
  type Answer,
  faultOf,
  type VerbCall,
  type WriterBatch,
  type WriterOrder,
  type WriterReport,
  type WriterTask,
  withBuffers,
} from './engine/writer-messages.ts';

export interface WriterOptions {
  file: string;
  /** The module that the thread runs; tests use a stand-in. */
  entry?: URL;
  checkpointLimits?: CheckpointLimits;
  onGroup?(stats: GroupStats): void;
  /** A group could not be committed, and none of its verbs on its own either. */
  onFailedCommit?(error: unknown): void;
  onCheckpointFault(error: unknown): void;
  /** The thread has died: calls without an answer may or may not have been committed. */
  onLost(error: unknown): void;
}

interface Caller {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

// So many calls are sent without waiting for the rest of this turn: the writer starts while this thread goes on.
const SEND_AFTER_CALLS = 8;

export class Writer {
  /** Settles when the database is open and migrated. */
  readonly opened: Promise<LocalConnection>;
  readonly notices = new Listeners();
  readonly #options: WriterOptions;
  readonly #thread: HostedThread<WriterReport>;
  readonly #callers = new Map<number, Caller>();
  #unsent: VerbCall[] = [];
  #lastCall = 0;
  #local: LocalConnection | null = null;
  #drained: (() => void) | null = null;
  #closing: Promise<void> | null = null;
  #lost: Fault | null = null;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { file, entry = new URL('./writer-thread.ts', import.meta.url) } = options;
    const task: WriterTask = { file, checkpointLimits: options.checkpointLimits ?? CHECKPOINT_LIMITS };
    const opening = Promise.withResolvers<LocalConnection>();
    this.opened = opening.promise;
    const listener = {
      onMessage: (report: WriterReport) => this.#onReport(report, opening),
      onEnd: (error: unknown) => this.#onEnd(error, opening),
    };
    // A fraction of V8's default: nothing in this thread lives for long.
    const resourceLimits = { maxYoungGenerationSizeMb: 24 };
    this.#thread = new HostedThread(entry, { workerData: task, name: 'writer', resourceLimits }, listener);
  }

  call(verb: string, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closing) return reject(new Fault('the store is closed'));
      if (this.#lost) return reject(this.#lost);
      const number = ++this.#lastCall;
      this.#callers.set(number, { resolve, reject });
      if (this.#unsent.push([number, verb, args]) === 1) setImmediate(() => this.#send());
      else if (this.#unsent.length >= SEND_AFTER_CALLS) this.#send();
    });
  }

  /** Rejects new calls, waits for the pending ones, then closes. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #onReport(report: WriterReport, opening: PromiseWithResolvers<LocalConnection>): void {
    if (report.kind === 'batch') this.#onBatch(report.batch);
    else if (report.kind === 'not_opened') opening.reject(faultOf(report.fault));
    else this.#openLocal(opening);
  }

  #openLocal(opening: PromiseWithResolvers<LocalConnection>): void {
    try {
      this.#local = new LocalConnection(this.#options.file);
      opening.resolve(this.#local);
    } catch (error) {
      opening.reject(storeFault(error));
      void this.#thread.end();
    }
  }

  #onEnd(error: unknown, opening: PromiseWithResolvers<LocalConnection>): void {
    this.#local?.close();
    const detail = 'the thread that writes has ended';
    const lost = new Fault('the database could not be used', { detail, cause: error });
    if (!this.#local) opening.reject(lost);
    else if (error !== null || !this.#closing) this.#lose(lost);
  }

  async #close(): Promise<void> {
    if (this.#callers.size > 0) await new Promise<void>((resolve) => (this.#drained = resolve));
    this.#local?.close(); // only a writing connection can empty the log, so it must be the last
    this.#order({ kind: 'close' });
    await this.#thread.exited;
  }

  #send(): void {
    if (this.#unsent.length === 0) return;
    const calls = this.#unsent;
    this.#unsent = [];
    this.#order({ kind: 'calls', calls });
  }

  #order(order: WriterOrder): void {
    this.#thread.post(order);
  }

  #onBatch({ answers, forget, webhooksDue, groups, faults }: WriterBatch): void {
    const { onGroup, onFailedCommit, onCheckpointFault } = this.#options;
    if (forget) this.#local?.forget();
    for (const answer of answers) this.#settle(answer);
    if (webhooksDue.length > 0) this.notices.webhooksDue(webhooksDue);
    for (const group of groups) onGroup?.(group);
    for (const { of, fault } of faults) (of === 'commit' ? onFailedCommit : onCheckpointFault)?.(faultOf(fault));
    if (this.#callers.size === 0) this.#drained?.();
  }

  #settle([number, ok, value]: Answer): void {
    const caller = this.#callers.get(number)!;
    this.#callers.delete(number);
    if (ok) caller.resolve(withBuffers(value));
    else caller.reject(faultOf(value));
  }

  #lose(lost: Fault): void {
    this.#lost = lost;
    for (const { reject } of this.#callers.values()) reject(lost);
    this.#callers.clear();
    this.#drained?.();
    this.#options.onLost(lost);
  }
}
