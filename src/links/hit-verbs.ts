// Where opens and clicks arrive that were noted on another thread (hit-post.ts): as verbs that can be called by
// messages.
import { HitRecorder, type HitRecorderKit } from './hit-recorder.ts';
import { readHits } from './sent-hits.ts';

export interface HitVerbs {
  /** Settles when they are in memory there; they are written soon after. */
  takeHits(sent: string): Promise<void>;
  /** Writes what is not written yet, and takes no more. */
  closeHits(): Promise<void>;
}

export const HIT_DESK_VERBS: readonly (keyof HitVerbs)[] = ['takeHits', 'closeHits'];

export function hitDesk(kit: HitRecorderKit): HitVerbs {
  const recorder = new HitRecorder(kit);
  return {
    async takeHits(sent) {
      for (const hit of readHits(sent)) recorder.note(hit);
    },
    closeHits: () => recorder.close(),
  };
}
