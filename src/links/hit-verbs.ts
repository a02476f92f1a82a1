// The receiving side of opens and clicks noted on another thread (hit-sender.ts), as verbs that can be called by
// messages.
import { HitRecorder, type HitRecorderKit } from './hit-recorder.ts';
import { readHits } from './sent-hits.ts';

export interface HitVerbs {
  /** Settles when they are in the recorder's memory; they are written soon after. */
  takeHits(sent: string): Promise<void>;
  /** Writes what is not written yet, and accepts no more. */
  closeHits(): Promise<void>;
}

export const HIT_VERBS: readonly (keyof HitVerbs)[] = ['takeHits', 'closeHits'];

export function createHitVerbs(kit: HitRecorderKit): HitVerbs {
  const recorder = new HitRecorder(kit);
  return {
    async takeHits(sent) {
      for (const hit of readHits(sent)) recorder.note(hit);
    },
    closeHits: () => recorder.close(),
  };
}
