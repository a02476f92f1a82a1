// What the sections of a run share: options, a folder, and the machine's limits once they are known.
import type { BenchOptions } from './options.ts';
import type { DaemonWatch } from './profile/daemon-watch.ts';
import type { Spread } from './spread.ts';
import type { Row } from './table.ts';

export interface Limits {
  /** RSA-2048, one core. */
  signaturesPerS: number;
  fsync: Spread;
  insertsPerS: number;
}

/** What Postfix sends per second, SMTP in and SMTP out; null: not measured. */
export interface PostfixRates {
  bare: number;
  /** With OpenDKIM on a Unix socket. */
  signing: number | null;
}

export interface RunContext {
  options: BenchOptions;
  postfix: PostfixRates | null;
  /** On the disk that is measured; removed after the run. */
  folder: string;
  /** Null until their section has run, and when it is left out. */
  limits: Limits | null;
  /** For a daemon that a section starts. */
  watch(section: string): DaemonWatch;
}

export type Section = (run: RunContext) => Promise<Row[]>;
