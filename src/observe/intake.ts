// Whether new mail is accepted. It is not while the disk is nearly full, the database cannot be written, or the process
// uses too much memory; queued mail is still delivered, which frees space again. Each cause ends a little later than it
// began, so that the state does not flap. Before a full disk closes the intake, old data is erased: that frees space
// within the database, which new mail uses first.
import type { Clock } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import { type Refusal, refuse } from '../base/refusals.ts';
import type { Logger } from './log.ts';

/** For all parts that accept mail, and for health checks. */
export interface IntakeState {
  accepting: boolean;
  /** Null while mail is accepted. */
  reason: string | null;
  /** Since when this state has lasted. */
  since: number;
}

export type IntakeCause = 'disk' | 'memory' | 'database';

export interface DiskRoom {
  /** The share of the data folder's disk that is free, 0 to 1; null: unknown. */
  diskFreeShare: number | null;
  /** The share of that disk that is free within the database file. */
  reusableShare: number;
}

export interface IntakeFacts extends DiskRoom {
  residentBytes: number;
  /** The last error when the database could not be written; null: it can. */
  databaseFault: string | null;
}

export interface IntakeLimits {
  /** 0: disk space is not checked. */
  minDiskFreeShare: number;
  /** Infinity: memory is not checked. */
  maxResidentBytes: number;
}

export interface IntakeKit {
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  limits: IntakeLimits;
  diskFreeShare(): Promise<number | null>;
  /** Called only when the disk is nearly full. */
  reusableShare(): Promise<number>;
  /** Erases some old data; returns what it was, null when there was nothing. */
  makeRoom(): Promise<string | null>;
  residentBytes(): number;
  /** Rejects while the database cannot be written. */
  proveWritable(): Promise<void>;
}

// A fifth above the limit: at a limit of 10 %, mail is accepted again at 12 %.
export const DISK_RECOVERY_FACTOR = 1.2;
// Per check: one round takes a tenth of a second, and there may be much to erase.
const MAX_ROUNDS = 20;
// The write-ahead log and other users of the disk need free space in the file system itself.
const REUSABLE_PART = 0.5;
// The heap shrinks in steps of some percent at each full collection.
const MEMORY_RECOVERY_FACTOR = 0.9;
// On a full disk a small write may succeed now and then, so several in a row are needed.
const PROOFS_NEEDED = 2;
// Longer than a few checks, so that the next attempt meets a new state.
const RETRY_AFTER_SECS = 10;
const MIB = 1024 * 1024;

/** All causes that apply, with their reasons; none: mail is accepted. `holding` are those of the last decision. */
export function decideIntake(
  facts: IntakeFacts,
  limits: IntakeLimits,
  holding: ReadonlyMap<IntakeCause, string>,
): ReadonlyMap<IntakeCause, string> {
  const causes = new Map<IntakeCause, string>();
  const { residentBytes, databaseFault } = facts;
  const minFree = limits.minDiskFreeShare * (holding.has('disk') ? DISK_RECOVERY_FACTOR : 1);
  const free = roomFor(facts, limits);
  if (free !== null && free < minFree) {
    const ofDatabase = facts.reusableShare > 0 ? ' (including space that the database can reuse)' : '';
    causes.set('disk', `only ${percent(free)} of the disk is free${ofDatabase}; at least ${percent(minFree)} must be`);
  }
  const maxResident = limits.maxResidentBytes * (holding.has('memory') ? MEMORY_RECOVERY_FACTOR : 1);
  if (residentBytes > maxResident) {
    causes.set('memory', `the process uses ${mib(residentBytes)} of memory; the limit is ${mib(maxResident)}`);
  }
  if (databaseFault !== null) causes.set('database', `the database cannot be written: ${databaseFault}`);
  return causes;
}

/** Free space for new mail, as a share of the disk; null: unknown. */
export function roomFor(
  { diskFreeShare, reusableShare }: DiskRoom,
  { minDiskFreeShare }: Pick<IntakeLimits, 'minDiskFreeShare'>,
): number | null {
  if (diskFreeShare === null) return null;
  return diskFreeShare + Math.min(reusableShare, minDiskFreeShare * REUSABLE_PART);
}

export class Intake {
  readonly #kit: IntakeKit;
  #causes: ReadonlyMap<IntakeCause, string> = new Map();
  #since: number;
  #databaseFault: string | null = null;
  #proofs = 0;
  #room: DiskRoom = { diskFreeShare: null, reusableShare: 0 };

  constructor(kit: IntakeKit) {
    this.#kit = kit;
    this.#since = kit.clock.now();
  }

  get state(): IntakeState {
    const accepting = this.#causes.size === 0;
    return { accepting, reason: accepting ? null : [...this.#causes.values()].join('; '), since: this.#since };
  }

  /** A commit has failed, and not because of its content. */
  commitFailed(error: unknown): void {
    // Once per outage: the log adds advice for resource faults.
    if (this.#databaseFault === null) {
      this.#kit.log.error({ error }, `the database cannot be written: ${describeError(error)}`);
    }
    // Tenants and peers read this one.
    this.#databaseFault = error instanceof Fault && error.detail ? 'the log says why' : describeError(error);
    this.#proofs = 0;
    this.#decide();
  }

  /** Re-checks all causes. */
  async check(): Promise<IntakeState> {
    await this.#checkDisk();
    if (this.#databaseFault !== null) await this.#probeDatabase();
    this.#decide();
    return this.state;
  }

  /** For a new submission: null while mail is accepted. */
  refusal(): Refusal | null {
    const { accepting, reason } = this.state;
    if (accepting) return null;
    const message = `New mail is not accepted at the moment: ${reason}. Nothing was queued; retry later.`;
    return { ...refuse('internal_error', message), retryAfterSecs: RETRY_AFTER_SECS };
  }

  async #checkDisk(): Promise<void> {
    const { diskFreeShare: readFreeShare, limits, log } = this.#kit;
    const enough = limits.minDiskFreeShare * DISK_RECOVERY_FACTOR;
    const diskFreeShare = await readFreeShare();
    this.#room = { diskFreeShare, reusableShare: 0 };
    if (diskFreeShare === null || diskFreeShare >= enough) return;
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        this.#room = { diskFreeShare, reusableShare: await this.#kit.reusableShare() };
        if ((roomFor(this.#room, limits) ?? 0) >= enough) return;
        const made = await this.#kit.makeRoom();
        if (made === null) return;
        log.warn({ fact: 'intake_made_room', erased: made }, `the disk is nearly full; erased to free space: ${made}`);
      }
    } catch (error) {
      // A database that cannot be written is a cause of its own; the disk is judged without it.
      log.warn({ error }, `no space could be freed: ${describeError(error)}`);
    }
  }

  async #probeDatabase(): Promise<void> {
    try {
      await this.#kit.proveWritable();
      this.#proofs++;
      if (this.#proofs >= PROOFS_NEEDED) this.#databaseFault = null;
    } catch (error) {
      this.commitFailed(error);
    }
  }

  #decide(): void {
    const { clock, log, limits, residentBytes } = this.#kit;
    const facts = {
      ...this.#room,
      residentBytes: residentBytes(),
      databaseFault: this.#databaseFault,
    };
    const before = this.#causes;
    this.#causes = decideIntake(facts, limits, before);
    const changed = before.size !== this.#causes.size || [...before.keys()].some((cause) => !this.#causes.has(cause));
    if (!changed) return;
    if (before.size === 0 || this.#causes.size === 0) this.#since = clock.now();
    const { accepting, reason } = this.state;
    if (accepting) log.info({ fact: 'intake_opened' }, 'new mail is accepted again');
    else log.warn({ fact: 'intake_closed', reason }, `new mail is not accepted: ${reason}`);
  }
}

function percent(share: number): string {
  return `${Math.floor(share * 1000) / 10} %`;
}

function mib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}
