// The main thread's side of the writer's thread: sends calls and hands out their answers. An answer is
// given after the commit and after everything that the commit made stale is forgotten; so whoever has
// done something reads what he did.
import { Fault } from '../../base/errors.ts';
import { HostedThread } from '../../base/worker-host.ts';
import { CHECKPOINT_LIMITS, type CheckpointLimits } from './engine/checkpoint-plan.ts';
import { storeFault } from './engine/database-fault.ts';
import { LocalConnection } from './engine/local-connection.ts';
import {
  type Answer,
  faultOf,
  type LogLine,
  type VerbCall,
  type WriterNews,
  type WriterOrder,
  type WriterReport,
  type WriterTask,
  withBuffers,
} from './engine/writer-messages.ts';
import type { GroupStats } from './engine/writing-connection.ts';

export interface WriterOptions {
  file: string;
  /** What the thread runs; the product's own when left out. */
  entry?: URL;
  checkpointLimits?: CheckpointLimits;
  onGroup?(stats: GroupStats): void;
  /** A group could not be committed, and none of its verbs on its own either. */
  onFailedCommit?(error: unknown): void;
  onCheckpointFault(error: unknown): void;
  /** What works beside the store on its thread has something to say. */
  onLogLine?(line: LogLine): void;
  /** The thread has died: what was called and is not answered may be committed or not. */
  onLost(error: unknown): void;
}

interface Caller {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

// So many calls do not wait for the others of this turn: the writer begins while we go on.
const SENT_AT_ONCE = 8;

export class Writer {
  /** Settles when the database is there, with the latest tables. */
  readonly opened: Promise<LocalConnection>;
  readonly #options: WriterOptions;
  readonly #thread: HostedThread<WriterReport>;
  readonly #callers = new Map<number, Caller>();
  #unsent: VerbCall[] = [];
  #lastCall = 0;
  #local: LocalConnection | null = null;
  #listener: ((webhookIds: string[]) => void) | null = null;
  #drained: (() => void) | null = null;
  #closing: Promise<void> | null = null;
  #lost: Fault | null = null;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { file, entry = new URL('./bare-writer-thread.ts', import.meta.url) } = options;
    const task: WriterTask = { file, checkpointLimits: options.checkpointLimits ?? CHECKPOINT_LIMITS };
    const opening = Promise.withResolvers<LocalConnection>();
    this.opened = opening.promise;
    const listener = {
      onMessage: (report: WriterReport) => this.#onReport(report, opening),
      onEnd: (error: unknown) => this.#onEnd(error, opening),
    };
    // A fraction of V8's own measure: nothing that comes here lives for long.
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
      else if (this.#unsent.length >= SENT_AT_ONCE) this.#send();
    });
  }

  watchDeliveries(listener: (webhookIds: string[]) => void): void {
    this.#listener = listener;
    this.#order({ kind: 'watch_deliveries' });
  }

  /** Takes nothing new from now on, waits for what was called, then closes. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #onReport(report: WriterReport, opening: PromiseWithResolvers<LocalConnection>): void {
    if (report.kind === 'news') this.#hear(report.news);
    else if (report.kind === 'due') this.#listener?.(report.webhookIds);
    else if (report.kind === 'log') this.#options.onLogLine?.(report);
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
    this.#local?.close(); // the last connection has to be one that can empty the log
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

  #hear({ answers, forget, groups, faults }: WriterNews): void {
    const { onGroup, onFailedCommit, onCheckpointFault } = this.#options;
    if (forget) this.#local?.forget();
    for (const answer of answers) this.#settle(answer);
    for (const group of groups) onGroup?.(group);
    for (const { of, fault } of faults) (of === 'commit' ? onFailedCommit : onCheckpointFault)?.(faultOf(fault));
    if (this.#callers.size === 0) this.#drained?.();
  }

  #settle([number, well, said]: Answer): void {
    const caller = this.#callers.get(number)!;
    this.#callers.delete(number);
    if (well) caller.resolve(withBuffers(said));
    else caller.reject(faultOf(said));
  }

  #lose(lost: Fault): void {
    this.#lost = lost;
    for (const { reject } of this.#callers.values()) reject(lost);
    this.#callers.clear();
    this.#drained?.();
    this.#options.onLost(lost);
  }
}
