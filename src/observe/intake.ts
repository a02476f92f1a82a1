// Whether new mail is taken in. It is not while the disk is nearly full, the database cannot be
// written, or the process has grown too large; what is queued is delivered all the same, which is
// what makes room again. Each cause ends a little later than it began, so that the answer does not flutter.
// Before the disk closes it, what may go is erased: that is room within the database, which new mail takes first.
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { type Refusal, refuse } from '../base/refusals.ts';
import type { Logger } from './log.ts';

/** For everybody who takes mail in, and for whoever asks how the daemon is. */
export interface IntakeState {
  accepting: boolean;
  /** Why not; null while mail is taken. */
  reason: string | null;
  /** Since when it has been so. */
  since: number;
}

export type IntakeCause = 'disk' | 'memory' | 'database';

export interface IntakeFacts {
  /** The part of the data folder's disk that is free, 0 to 1; null: it cannot be told. */
  diskFreeShare: number | null;
  /** The part of that disk that the database has free within its file. */
  reusableShare: number;
  residentBytes: number;
  /** What the database said when it could not be written last; null: it can. */
  databaseFault: string | null;
}

export interface IntakeLimits {
  /** 0: the disk is not looked at. */
  minDiskFreeShare: number;
  /** Infinity: the memory is not looked at. */
  maxResidentBytes: number;
}

export interface IntakeKit {
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  limits: IntakeLimits;
  diskFreeShare(): Promise<number | null>;
  /** Asked for when the disk is short of room only. */
  reusableShare(): Promise<number>;
  /** Erases some of what may go; says what that was, null when there was nothing. */
  makeRoom(): Promise<string | null>;
  residentBytes(): number;
  /** Rejects while nothing can be written to the database. */
  proveWritable(): Promise<void>;
}

// A fifth more than the limit: at 10 % free, mail is taken again at 12 %.
const DISK_RECOVERY_FACTOR = 1.2;
// In one look: what is erased at once takes a tenth of a second, and there may be much of it.
const MAX_ROUNDS = 20;
// The write-ahead log and everybody else on the disk need free room in the file system itself.
const REUSABLE_PART = 0.5;
// The heap shrinks in steps of some percent at each full collection.
const MEMORY_RECOVERY_FACTOR = 0.9;
// On a full disk one small write in a few succeeds: it takes several in a row.
const PROOFS_NEEDED = 2;
// Longer than a few checks, so that the answer to the next try is a new one.
const RETRY_AFTER_SECS = 10;
const MIB = 1024 * 1024;

/** Every cause that holds, with its reason; none: mail is taken. `holding` are those of the last decision. */
export function decideIntake(
  facts: IntakeFacts,
  limits: IntakeLimits,
  holding: ReadonlyMap<IntakeCause, string>,
): ReadonlyMap<IntakeCause, string> {
  const causes = new Map<IntakeCause, string>();
  const { residentBytes, databaseFault } = facts;
  const leastFree = limits.minDiskFreeShare * (holding.has('disk') ? DISK_RECOVERY_FACTOR : 1);
  const free = roomFor(facts, limits);
  if (free !== null && free < leastFree) {
    const ofDatabase = facts.reusableShare > 0 ? ' (including space that the database can reuse)' : '';
    causes.set(
      'disk',
      `only ${percent(free)} of the disk is free${ofDatabase}; at least ${percent(leastFree)} must be`,
    );
  }
  const mostResident = limits.maxResidentBytes * (holding.has('memory') ? MEMORY_RECOVERY_FACTOR : 1);
  if (residentBytes > mostResident) {
    causes.set('memory', `the process uses ${mib(residentBytes)} of memory; the limit is ${mib(mostResident)}`);
  }
  if (databaseFault !== null) causes.set('database', `the database cannot be written: ${databaseFault}`);
  return causes;
}

/** What is free for new mail, as a part of the disk; null: it cannot be told. */
function roomFor(
  { diskFreeShare, reusableShare }: Pick<IntakeFacts, 'diskFreeShare' | 'reusableShare'>,
  { minDiskFreeShare }: IntakeLimits,
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
  #room: Pick<IntakeFacts, 'diskFreeShare' | 'reusableShare'> = { diskFreeShare: null, reusableShare: 0 };

  constructor(kit: IntakeKit) {
    this.#kit = kit;
    this.#since = kit.clock.now();
  }

  get state(): IntakeState {
    const accepting = this.#causes.size === 0;
    return { accepting, reason: accepting ? null : [...this.#causes.values()].join('; '), since: this.#since };
  }

  /** A commit has failed, and not because of what was to be written. */
  commitFailed(error: unknown): void {
    const fault = describeError(error);
    // Once per outage: what the disk denies gets its advice from the log, whoever else meets the fault or nobody does.
    if (this.#databaseFault === null) this.#kit.log.error({ error }, `the database cannot be written: ${fault}`);
    this.#databaseFault = fault;
    this.#proofs = 0;
    this.#decide();
  }

  /** Looks at everything again. */
  async check(): Promise<IntakeState> {
    await this.#lookAtDisk();
    if (this.#databaseFault !== null) await this.#askDatabase();
    this.#decide();
    return this.state;
  }

  /** For a new submission: null while mail is taken. */
  refusal(): Refusal | null {
    const { accepting, reason } = this.state;
    if (accepting) return null;
    const message = `New mail is not accepted at the moment: ${reason}. Nothing was queued; retry later.`;
    return { ...refuse('internal_error', message), retryAfterSecs: RETRY_AFTER_SECS };
  }

  async #lookAtDisk(): Promise<void> {
    const { diskFreeShare: lookAt, limits, log } = this.#kit;
    const enough = limits.minDiskFreeShare * DISK_RECOVERY_FACTOR;
    const diskFreeShare = await lookAt();
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
      // A database that cannot be written has a cause of its own; the disk is judged without it.
      log.warn({ error }, `no space could be freed: ${describeError(error)}`);
    }
  }

  async #askDatabase(): Promise<void> {
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
