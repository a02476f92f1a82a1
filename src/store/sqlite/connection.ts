// The one writing connection. Verbs that arrive while the event loop turns once are committed
// together, with one fsync: a group. Each verb runs in a savepoint, so that one that fails
// takes nobody with it; and nobody is answered before the group's commit.
// Reads run between groups, so they only ever see what is committed.
import { performance } from 'node:perf_hooks';
import type Database from 'better-sqlite3';
import { describeError, Fault } from '../../base/errors.ts';
import { steadyPlan } from './steady-plan.ts';

/** Where tests make the disk fail; the product never passes it. */
export interface StoreFaults {
  beforeVerb?(): void;
  beforeCommit?(verbs: number): void;
}

export interface GroupStats {
  verbs: number;
  elapsedMs: number;
}

interface Verb {
  work: () => unknown;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

type Settled = { verb: Verb; settle: () => void };

// A group is cut here so that the event loop never stands still for long; the rest follows at once.
const GROUP_MAX_VERBS = 1000;
const GROUP_MAX_MS = 20;

export class Connection {
  readonly #db: Database.Database;
  readonly #faults: StoreFaults;
  readonly #onGroup: (stats: GroupStats) => void;
  readonly #statements = new Map<string, Database.Statement>();
  #waiting: Verb[] = [];
  #scheduled = false;
  #drained: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  constructor(db: Database.Database, options: { faults?: StoreFaults; onGroup?: (stats: GroupStats) => void } = {}) {
    this.#db = db;
    this.#faults = options.faults ?? {};
    this.#onGroup = options.onGroup ?? (() => {});
  }

  /** A prepared statement, prepared once. */
  sql(text: string): Database.Statement {
    const known = this.#statements.get(text);
    if (known) return known;
    const statement = this.#db.prepare(steadyPlan(text));
    this.#statements.set(text, statement);
    return statement;
  }

  /** `work` must touch nothing but the database: it may be run a second time. */
  write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closing) return reject(new Fault('the store is closed'));
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  async read<T>(work: () => T): Promise<T> {
    if (this.#closing) throw new Fault('the store is closed');
    try {
      return work();
    } catch (cause) {
      throw storeFault(cause);
    }
  }

  /** Takes nothing new from now on, commits what waits, then closes. */
  close(): Promise<void> {
    this.#closing ??= this.#drain().then(() => void this.#db.close());
    return this.#closing;
  }

  async #drain(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#drained = resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#commitWaiting();
      if (this.#waiting.length > 0) this.#schedule();
      else this.#drained?.();
    });
  }

  #commitWaiting(): void {
    const started = performance.now();
    const group: Settled[] = [];
    const lost = this.#tryGroup(group, started);
    if (lost === null) {
      this.#onGroup({ verbs: group.length, elapsedMs: performance.now() - started });
      for (const { settle } of group) settle();
      return;
    }
    // The whole group is rolled back. Each verb gets one more try on its own, so that a verb
    // that the disk cannot take (too large for what is free) does not fail its neighbours.
    for (const { verb } of group) this.#commitAlone(verb);
  }

  /** Null when the group is on disk; otherwise why it is not. Fills `group` with what took part. */
  #tryGroup(group: Settled[], started: number): unknown {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      while (this.#waiting.length > 0 && group.length < GROUP_MAX_VERBS && performance.now() - started < GROUP_MAX_MS) {
        const verb = this.#waiting[0]!;
        this.#waiting.shift();
        const entry: Settled = { verb, settle: () => {} };
        group.push(entry);
        entry.settle = this.#runInSavepoint(verb);
      }
      this.#faults.beforeCommit?.(group.length);
      this.#db.exec('COMMIT');
      return null;
    } catch (error) {
      this.#rollBack();
      if (group.length === 0) {
        // Not even begun: whoever waits first is told, so that the queue cannot stand still.
        const verb = this.#waiting.shift();
        verb?.reject(storeFault(error));
      }
      return error;
    }
  }

  #runInSavepoint(verb: Verb): () => void {
    this.#db.exec('SAVEPOINT verb');
    try {
      this.#faults.beforeVerb?.();
      const value = verb.work();
      this.#db.exec('RELEASE verb');
      return () => verb.resolve(value);
    } catch (error) {
      // SQLite itself ends the transaction on a full disk, an I/O error and the like.
      if (!this.#db.inTransaction) throw error;
      if (isGroupFatal(error)) throw error;
      this.#db.exec('ROLLBACK TO verb; RELEASE verb');
      return () => verb.reject(storeFault(error));
    }
  }

  #commitAlone(verb: Verb): void {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      this.#faults.beforeVerb?.();
      const value = verb.work();
      this.#faults.beforeCommit?.(1);
      this.#db.exec('COMMIT');
      verb.resolve(value);
    } catch (error) {
      this.#rollBack();
      verb.reject(storeFault(error));
    }
  }

  #rollBack(): void {
    if (this.#db.open && this.#db.inTransaction) this.#db.exec('ROLLBACK');
  }
}

/** Failures of the disk or of memory concern the whole group, whatever SQLite rolled back by itself. */
function isGroupFatal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT|NOTADB|READONLY|BUSY|PROTOCOL|CANTOPEN)/.test(code);
}

function storeFault(error: unknown): unknown {
  if (error instanceof Fault) return error;
  return new Fault('the database could not be used', { detail: describeError(error), cause: error });
}
