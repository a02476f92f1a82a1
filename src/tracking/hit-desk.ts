// Where opens and clicks arrive that were noted on another thread (hit-post.ts): as verbs that can be called by
// messages. Nothing of it is made before the first of them comes.
import { HitRecorder, type HitRecorderKit } from './hit-recorder.ts';
import { loadMachineRules, SHIPPED_MACHINE_RULES } from './load-machine-rules.ts';
import { readHits } from './sent-hits.ts';

export interface HitDesk {
  /** Settles when they are in memory there; they are written soon after. */
  takeHits(sent: string): Promise<void>;
  /** Writes what is not written yet, and takes no more. */
  closeHits(): Promise<void>;
}

export const HIT_DESK_VERBS: readonly (keyof HitDesk)[] = ['takeHits', 'closeHits'];

export function hitDesk(kit: Omit<HitRecorderKit, 'rules'>): HitDesk {
  let recorder: HitRecorder | null = null;
  return {
    async takeHits(sent) {
      recorder ??= new HitRecorder({ ...kit, rules: loadMachineRules(SHIPPED_MACHINE_RULES) });
      for (const hit of readHits(sent)) recorder.note(hit);
    },
    closeHits: async () => recorder?.close(),
  };
}
