// When and how the daemon is killed, drawn from a seed before anything runs: the same seed gives the same
// schedule, whatever the machine does meanwhile.
import { seededRandom } from '../protocol/mail/sample-messages.ts';

/** `start`: before it is ready. `checkpoint`: while the database file is being written. `shutdown`: after SIGTERM. */
export type Moment = 'start' | 'load' | 'checkpoint' | 'shutdown';

export interface Kill {
  number: number;
  moment: Moment;
  /** Where within that moment, from 0 to 1. */
  fraction: number;
  /** Also loses what no fsync has made durable. */
  powerCut: boolean;
  /** From 0 to 1: how much of it the disk wrote all the same. */
  survives: number;
}

/** Shares of the moments; the rest is `load`. */
const START = 0.2;
const CHECKPOINT = 0.15;
const SHUTDOWN = 0.15;
const POWER_CUTS = 0.25;

export function scheduleOf(seed: number, kills: number): Kill[] {
  const random = seededRandom(seed);
  return Array.from({ length: kills }, (_, index) => ({
    number: index + 1,
    moment: momentOf(random()),
    fraction: random(),
    powerCut: random() < POWER_CUTS,
    survives: [0, 0.5, 0.9][Math.floor(random() * 3)]!,
  }));
}

function momentOf(draw: number): Moment {
  if (draw < START) return 'start';
  if (draw < START + CHECKPOINT) return 'checkpoint';
  return draw < START + CHECKPOINT + SHUTDOWN ? 'shutdown' : 'load';
}

/** A stream of its own for each part of the world, so that none disturbs the others' choices. */
export function randomFor(seed: number, part: string): () => number {
  let mixed = seed;
  for (const character of part) mixed = (Math.imul(mixed, 31) + character.charCodeAt(0)) | 0;
  return seededRandom(mixed);
}
