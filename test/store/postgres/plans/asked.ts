// What hot verbs are asked with: handles on the filled database, and what is there to ask for.
import type { PortalReads } from '../../../../src/store/reads.ts';
import type { ContentReader } from '../../../../src/store/submissions.ts';
import type { Bench } from '../../conformance/harness.ts';
import { BEGIN } from './filled.ts';

/** Of the filled database: all of the big tenant. */
export interface Samples {
  /** In the first slot. */
  lanes: number[];
  delivered: string[];
  waiting: string[];
  parked: string[];
  scheduled: string[];
  /** Submission IDs. */
  submissions: string[];
  events: string[];
  recipient: string;
}

export interface Asked {
  bench: Bench;
  contents: ContentReader;
  reads: PortalReads;
  samples: Samples;
}

export type HotVerbs = Record<string, () => Promise<unknown>>;

export const HOUR_MS = 3_600_000;
export const SIDE_BY_SIDE = 20;
export const PAGE = { after: null, limit: 10 };
/** A day of figures. */
export const SPAN = { fromHour: Math.floor(BEGIN / HOUR_MS) + 24, untilHour: Math.floor(BEGIN / HOUR_MS) + 48 };

export function together<T>(one: (number: number) => Promise<T>, count = SIDE_BY_SIDE): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => one(number)));
}
