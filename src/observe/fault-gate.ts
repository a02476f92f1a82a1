// Resource faults of the machine make every part of the daemon log errors, many times a second. Only one line per
// minute of such a fault is logged: the first error, what to do, and how many lines were held back. Lines of events
// (those with a `fact`) always pass, and so do all other errors.
import { type Clock, MINUTE_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Facts, Logger } from './log.ts';

export type ResourceFault = 'descriptors' | 'database_disk_full' | 'disk_full' | 'disk_read_only' | 'disk_failing';

// Codes of Node and SQLite, and SQLite's messages: an error that has crossed a thread has only its message. PostgreSQL has a
// disk of its own, of which its SQLSTATE comes first, since its message is that of the system.
const SIGNS: readonly (readonly [ResourceFault, RegExp])[] = [
  ['descriptors', /\bE[MN]FILE\b|too many (open )?files|SQLITE_CANTOPEN|unable to open database file/i],
  ['database_disk_full', /\b53100\b|database server's disk is full/],
  [
    'disk_full',
    /\bENOSPC\b|\bEDQUOT\b|SQLITE_FULL|database or disk is full|no space left|the disk is full|disk quota of this user/i,
  ],
  ['disk_read_only', /\bEROFS\b|SQLITE_READONLY|readonly database|read-only file system|disk is read-only/i],
  ['disk_failing', /\bEIO\b|SQLITE_IOERR|disk I\/O error/i],
];

const ADVICE: Readonly<Record<ResourceFault, string>> = {
  descriptors:
    "The daemon can't open more files: raise its open-file limit (LimitNOFILE in the systemd unit, or ulimit -n) and restart it, or check that data.dir still exists",
  database_disk_full: 'The disk of the database server is full: free space on it; the daemon recovers automatically',
  disk_full: 'The disk of data.dir is full: free space on it; the daemon recovers automatically',
  disk_read_only:
    'The disk of data.dir is read-only: check dmesg for its errors and remount it writable; the daemon recovers automatically',
  disk_failing:
    'The disk of data.dir reports errors, or the kernel has made it read-only: check dmesg and its SMART values, and take a backup to another disk; the daemon recovers automatically',
};

const MAX_CAUSES = 5;

/** The resource fault that the error or the line's message shows, or null. */
export function resourceFaultOf(error: unknown, message: string): ResourceFault | null {
  const words = [message];
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++, cause = cause.cause) {
    words.push(describeError(cause), String((cause as NodeJS.ErrnoException).code ?? ''));
  }
  const text = words.join(' ');
  return SIGNS.find(([, sign]) => sign.test(text))?.[0] ?? null;
}

export function gateFaults(log: Logger, clock: Clock): Logger {
  return new GatedLog(log, new Gate(log, clock));
}

class Gate {
  readonly #log: Logger;
  readonly #clock: Clock;
  /** By fault: when its minute ends, and how many lines were held back in it. */
  readonly #minutes = new Map<ResourceFault, { endsAt: number; held: number }>();

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Null: the line is held back. Otherwise what to add to it. */
  admit(fault: ResourceFault): { fault: ResourceFault; held_back: number; advice: string } | null {
    const now = this.#clock.now();
    const minute = this.#minutes.get(fault);
    if (minute && now < minute.endsAt && now >= minute.endsAt - MINUTE_MS) {
      minute.held++;
      return null;
    }
    if (!minute) setTimeout(() => this.#onMinuteEnd(fault), MINUTE_MS).unref();
    this.#minutes.set(fault, { endsAt: now + MINUTE_MS, held: 0 });
    return { fault, held_back: minute?.held ?? 0, advice: ADVICE[fault] };
  }

  /** Held-back lines are reported even when the fault has gone. */
  #onMinuteEnd(fault: ResourceFault): void {
    const held = this.#minutes.get(fault)?.held ?? 0;
    this.#minutes.delete(fault);
    if (held === 0) return;
    const added = this.admit(fault)!;
    this.#log.error({ fault, held_back: held }, `${held} more lines of the same fault. ${added.advice}`);
  }
}

class GatedLog implements Logger {
  readonly #log: Logger;
  readonly #gate: Gate;

  constructor(log: Logger, gate: Gate) {
    this.#log = log;
    this.#gate = gate;
  }

  trace(facts: Facts, message: string): void {
    this.#log.trace(facts, message);
  }

  debug(facts: Facts, message: string): void {
    this.#log.debug(facts, message);
  }

  info(facts: Facts, message: string): void {
    this.#log.info(facts, message);
  }

  warn(facts: Facts, message: string): void {
    this.#gated('warn', facts, message);
  }

  error(facts: Facts, message: string): void {
    this.#gated('error', facts, message);
  }

  with(facts: Facts): Logger {
    return new GatedLog(this.#log.with(facts), this.#gate);
  }

  #gated(level: 'warn' | 'error', facts: Facts, message: string): void {
    const fault = facts.fact === undefined ? resourceFaultOf(facts.error, message) : null;
    if (fault === null) {
      this.#log[level](facts, message);
      return;
    }
    const added = this.#gate.admit(fault);
    if (!added) return;
    const { advice, ...more } = added;
    this.#log[level]({ ...facts, ...more }, `${message}. ${advice}`);
  }
}
