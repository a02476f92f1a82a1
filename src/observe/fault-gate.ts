// What the machine denies the daemon makes every part of it complain, many times a second. Of such a fault one line
// per minute goes to the log: what failed first, what to do, and how many lines were held back. Lines of events
// (those with a `fact`) always pass, and so does everything that is not for want of something.
import { type Clock, MINUTE_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Facts, Logger } from './log.ts';

export type Want = 'descriptors' | 'disk_full' | 'disk_read_only' | 'disk_failing';

// Codes of Node and SQLite, and SQLite's own words: an error that has crossed a thread has only those.
const SIGNS: readonly (readonly [Want, RegExp])[] = [
  ['descriptors', /\bE[MN]FILE\b|too many (open )?files|SQLITE_CANTOPEN|unable to open database file/i],
  [
    'disk_full',
    /\bENOSPC\b|\bEDQUOT\b|SQLITE_FULL|database or disk is full|no space left|the disk is full|disk quota of this user/i,
  ],
  ['disk_read_only', /\bEROFS\b|SQLITE_READONLY|readonly database|read-only file system|disk is read-only/i],
  ['disk_failing', /\bEIO\b|SQLITE_IOERR|disk I\/O error/i],
];

const ADVICE: Readonly<Record<Want, string>> = {
  descriptors:
    "The daemon can't open more files: raise its open-file limit (LimitNOFILE in the systemd unit, or ulimit -n) and restart it, or check that data.dir still exists",
  disk_full: 'The disk of data.dir is full: free space on it; the daemon recovers automatically',
  disk_read_only:
    'The disk of data.dir is read-only: check dmesg for its errors and remount it writable; the daemon recovers automatically',
  disk_failing:
    'The disk of data.dir reports errors, or the kernel has made it read-only: check dmesg and its SMART values, and take a backup to another disk; the daemon recovers automatically',
};

const MAX_CAUSES = 5;

/** What the machine denies, as far as the error or the line's words say it. */
export function wantOf(error: unknown, message: string): Want | null {
  const words = [message];
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++, cause = cause.cause) {
    words.push(describeError(cause), String((cause as NodeJS.ErrnoException).code ?? ''));
  }
  const said = words.join(' ');
  return SIGNS.find(([, sign]) => sign.test(said))?.[0] ?? null;
}

export function gateFaults(log: Logger, clock: Clock): Logger {
  return new GatedLog(log, new Gate(log, clock));
}

class Gate {
  readonly #log: Logger;
  readonly #clock: Clock;
  /** By what is wanted: when its minute is over, and what was held back in it. */
  readonly #minutes = new Map<Want, { endsAt: number; held: number }>();

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Null: the line is held back. Else what to add to it. */
  admit(want: Want): { fault: Want; held_back: number; advice: string } | null {
    const now = this.#clock.now();
    const minute = this.#minutes.get(want);
    if (minute && now < minute.endsAt && now >= minute.endsAt - MINUTE_MS) {
      minute.held++;
      return null;
    }
    if (!minute) setTimeout(() => this.#over(want), MINUTE_MS).unref();
    this.#minutes.set(want, { endsAt: now + MINUTE_MS, held: 0 });
    return { fault: want, held_back: minute?.held ?? 0, advice: ADVICE[want] };
  }

  /** What was held back is told even when the fault has gone. */
  #over(want: Want): void {
    const held = this.#minutes.get(want)?.held ?? 0;
    this.#minutes.delete(want);
    if (held === 0) return;
    const added = this.admit(want)!;
    this.#log.error({ fault: want, held_back: held }, `${held} more lines of the same fault. ${added.advice}`);
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
    const want = facts.fact === undefined ? wantOf(facts.error, message) : null;
    if (want === null) {
      this.#log[level](facts, message);
      return;
    }
    const added = this.#gate.admit(want);
    if (!added) return;
    const { advice, ...more } = added;
    this.#log[level]({ ...facts, ...more }, `${message}. ${advice}`);
  }
}
