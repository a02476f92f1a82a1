// The only writing connection. Verbs that arrive during one turn of the event loop are a group: they are committed
// together, with one fsync, and none is answered before that commit. A verb that fails does not fail the others: the
// group is rolled back and run again with a savepoint around each. Reads run between groups, so they only ever see
// what is committed. Another process may write as well: each group first drops what was cached before its commits.
import { performance } from 'node:perf_hooks';
import type Database from 'better-sqlite3';
import { Fault } from '../../../base/errors.ts';
import { GroupSums } from '../../sql/group-sums.ts';
import type { Query, RowShape, Steps } from '../../sql/steps.ts';
import type { Connection } from '../../sql/transaction.ts';
import type { GroupStats, WritingKind } from '../../verb-kinds.ts';
import { isGroupFatal, readOrFault, storeFault } from './database-fault.ts';
import { GroupPace } from './group-pace.ts';
import { ReadCache } from './read-cache.ts';
import { Snapshot } from './snapshot.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { answered, perform, Statements } from './statements.ts';
import { isLockedByOthers } from './write-lock.ts';

/** Lets tests make the disk fail; the product never passes it. */
export interface StoreFaults {
  beforeVerb?(): void;
  beforeCommit?(verbs: number): void;
}

export interface ConnectionOptions {
  /** How long the work of a group may take before the rest waits for the next one. */
  groupMaxMs?: number;
  faults?: StoreFaults;
  onGroup?(stats: GroupStats): void;
  /** A group could not be committed, and none of its verbs on its own either. */
  onFailedCommit?(error: unknown): void;
  /** What other connections have cached may have changed: by a verb that runs, or by another process. */
  onCacheStale?(): void;
}

interface Verb {
  work: () => Steps<unknown>;
  /** Whether it changes nothing that is cached. */
  mailOnly: boolean;
  /** Set when the verb has run. */
  settle: () => void;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

// A group is cut here so that the event loop is never blocked for long; the rest follows at once.
const GROUP_MAX_VERBS = 1000;
const GROUP_MAX_MS = 20;

export class WritingConnection extends SqliteTransaction implements Connection {
  readonly #db: Database.Database;
  readonly #options: ConnectionOptions;
  readonly #beginStatement: Database.Statement;
  readonly #commitStatement: Database.Statement;
  readonly #statements: Statements;
  readonly #snapshot: Snapshot;
  readonly #cache: ReadCache;
  readonly #sums = new GroupSums();
  readonly #pace = new GroupPace();
  #waiting: Verb[] = [];
  #scheduled = false;
  #paused: Promise<void> | null = null;
  #drained: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  constructor(db: Database.Database, options: ConnectionOptions = {}) {
    super();
    this.#db = db;
    this.#options = options;
    this.#statements = new Statements(db);
    this.#snapshot = new Snapshot(db);
    this.#cache = new ReadCache(db);
    this.#beginStatement = db.prepare('BEGIN IMMEDIATE');
    this.#commitStatement = db.prepare('COMMIT');
  }

  sql(text: string, shape?: RowShape): Query {
    this.#snapshot.enter();
    return this.#statements.sql(text, shape);
  }

  write<T>(kind: WritingKind, work: () => Steps<T>): Promise<T> {
    if (kind === 'results') this.#pace.resultsCame(performance.now());
    return this.#enqueue(work, kind !== 'write');
  }

  async read<T>(work: () => Steps<T>): Promise<T> {
    if (this.#closing) throw new Fault('the store is closed');
    return readOrFault(() => {
      if (this.#cache.checkIfOld()) this.#options.onCacheStale?.();
      return this.#snapshot.run(() => perform(work()));
    });
  }

  /** A transaction that writes is alone. */
  beginEvents(): Steps<void> {
    return answered(undefined);
  }

  cached<T>(name: string, look: () => Steps<T>): Steps<T> {
    return this.#cache.cached(name, look);
  }

  addUp(name: string, by: number, write: (sum: number) => Steps<void>): void {
    this.#sums.addUp(name, by, write);
  }

  /** Commits nothing until `over` settles, since another connection needs the write lock. Callers keep waiting. */
  pause(over: Promise<void>): void {
    const resume = () => {
      if (this.#paused !== pause) return;
      this.#paused = null;
      if (this.#waiting.length > 0) this.#schedule();
    };
    const pause: Promise<void> = over.then(resume, resume);
    this.#paused = pause;
  }

  /** Whether another process holds the write lock: within this process it is never held for long. */
  lockedByOthers(): boolean {
    return this.#paused === null && isLockedByOthers(this.#db);
  }

  /** Rejects new verbs, commits those that wait, then closes. */
  close(): Promise<void> {
    this.#closing ??= this.#drain().then(() => void this.#db.close());
    return this.#closing;
  }

  #enqueue<T>(work: () => Steps<T>, mailOnly: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closing) return reject(new Fault('the store is closed'));
      this.#waiting.push({ work, mailOnly, settle: () => {}, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  async #drain(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#drained = resolve));
  }

  #schedule(atOnce = false): void {
    if (this.#scheduled || this.#paused) return;
    this.#scheduled = true;
    const delayMs = atOnce ? 0 : this.#pace.delayMs(performance.now());
    const commit = () => {
      this.#scheduled = false;
      if (this.#paused || this.#waiting.length === 0) return; // a pause schedules again at its end
      this.#commitWaiting();
      if (this.#waiting.length > 0) this.#schedule(true);
      else this.#drained?.();
    };
    if (delayMs >= 1) setTimeout(commit, delayMs);
    else setImmediate(commit);
  }

  #commitWaiting(): void {
    const started = performance.now();
    const group: Verb[] = [];
    const lost = this.#tryGroup(group);
    this.#waiting = this.#waiting.slice(group.length);
    if (lost === null) {
      this.#pace.committed(performance.now());
      this.#options.onGroup?.({ verbs: group.length, elapsedMs: performance.now() - started });
      for (const { settle } of group) settle();
      return;
    }
    if (group.length === 0) {
      // Not even begun: reject the first verb in the queue, so that the queue cannot get stuck.
      this.#waiting.shift()?.reject(storeFault(lost));
    }
    // The whole group is rolled back. Each verb gets one more try on its own, so that a verb
    // that the disk cannot hold (larger than the free space) does not fail the others.
    const committed = group.filter((verb) => this.#commitAlone(verb));
    if (committed.length === 0) this.#options.onFailedCommit?.(lost);
  }

  /** Null when the group is on disk; otherwise the error. Fills `group` with the verbs that ran. */
  #tryGroup(group: Verb[]): unknown {
    try {
      this.#begin();
      if (!this.#runAll(group, (verb) => this.#runBare(verb))) {
        this.#rollBack();
        this.#begin();
        this.#runAll(group, (verb) => this.#runInSavepoint(verb));
      }
      this.#commit(group.length);
      return null;
    } catch (error) {
      this.#rollBack();
      return error;
    }
  }

  /** Fills `group` from the waiting verbs, as time allows; stops and returns false as soon as `run` does. */
  #runAll(group: Verb[], run: (verb: Verb) => boolean): boolean {
    group.length = 0;
    const endsAt = performance.now() + (this.#options.groupMaxMs ?? GROUP_MAX_MS);
    const max = Math.min(this.#waiting.length, GROUP_MAX_VERBS);
    do {
      const verb = this.#waiting[group.length]!;
      group.push(verb);
      if (!run(verb)) return false;
    } while (group.length < max && performance.now() < endsAt);
    return true;
  }

  /** False when the verb itself failed; throws when the whole group is affected. */
  #runBare(verb: Verb): boolean {
    try {
      this.#work(verb);
      return true;
    } catch (error) {
      if (this.#isGroupFatal(error)) throw error;
      return false;
    }
  }

  #runInSavepoint(verb: Verb): boolean {
    this.#db.exec('SAVEPOINT verb');
    try {
      this.#work(verb);
      perform(this.#sums.write(this));
      this.#db.exec('RELEASE verb');
    } catch (error) {
      if (this.#isGroupFatal(error)) throw error;
      this.#db.exec('ROLLBACK TO verb; RELEASE verb');
      this.#forget();
      verb.settle = () => verb.reject(storeFault(error));
    }
    return true;
  }

  /** SQLite itself ends the transaction on a full disk, an I/O error and the like. */
  #isGroupFatal(error: unknown): boolean {
    return !this.#db.inTransaction || isGroupFatal(error);
  }

  #commitAlone(verb: Verb): boolean {
    try {
      this.#begin();
      this.#work(verb);
      this.#commit(1);
      verb.settle();
      return true;
    } catch (error) {
      this.#rollBack();
      verb.reject(storeFault(error));
      return false;
    }
  }

  #work(verb: Verb): void {
    if (!verb.mailOnly) {
      perform(this.#sums.write(this));
      this.#cache.suspend();
      this.#options.onCacheStale?.();
    }
    this.#options.faults?.beforeVerb?.();
    const value = perform(verb.work());
    verb.settle = () => verb.resolve(value);
  }

  #begin(): void {
    this.#beginStatement.run();
    if (this.#cache.check()) this.#options.onCacheStale?.();
  }

  #commit(verbs: number): void {
    perform(this.#sums.write(this));
    this.#options.faults?.beforeCommit?.(verbs);
    this.#commitStatement.run();
    this.#cache.resume();
  }

  #rollBack(): void {
    this.#forget();
    if (this.#db.open && this.#db.inTransaction) this.#db.exec('ROLLBACK');
    this.#cache.resume();
  }

  /** Drops the sums and cached rows of verbs that are rolled back. */
  #forget(): void {
    this.#sums.clear();
    this.#cache.clear();
  }
}
