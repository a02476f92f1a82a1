// What a run notes about a daemon's processor time: over the time that its section measures, or else from its start to
// its end; and where the daemon's profile is, if it has one.
import { type Clocks, readClocks, type UsedTime, usedBetween } from './clocks.ts';
import type { ProfiledStart, Sampler } from './sampler.ts';

export interface Profiling {
  sampler: Sampler;
  folder: string;
}

export interface Measured {
  used: UsedTime;
  /** Delivered in that time, or only accepted where nothing is delivered; null: the section did not send mail. */
  messages: number | null;
}

export class DaemonWatch {
  readonly section: string;
  readonly profiling: Profiling | null;
  #pid = 0;
  #started: Clocks | null = null;
  #measured: Measured | null = null;

  constructor(section: string, profiling: Profiling | null) {
    this.section = section;
    this.profiling = profiling;
  }

  get pid(): number {
    return this.#pid;
  }

  /** Null: the daemon has not been watched, or this is not Linux. */
  get measured(): Measured | null {
    return this.#measured;
  }

  /** How its process is started to be profiled; null: without a profile. */
  profiled(): ProfiledStart | null {
    return this.profiling?.sampler(this.profiling.folder) ?? null;
  }

  started(pid: number): void {
    this.#pid = pid;
    this.#started = readClocks(pid);
  }

  /** The last time that a section measures is the one that counts. */
  measure(before: Clocks | null, after: Clocks | null, messages: number): void {
    if (before && after && messages > 0) this.#measured = { used: usedBetween(before, after), messages };
  }

  stopping(): void {
    const now = readClocks(this.#pid);
    if (this.#started && now) this.#measured ??= { used: usedBetween(this.#started, now), messages: null };
  }
}
