// Pauses and suspensions that other nodes have added or ended: compares what all have stored with this node's memory. What
// is not stored yet, or was ended here a moment ago, is left to the next look.
import type { QueuePause, SharedHolds, Suspension } from '../../store/shaping.ts';
import type { ShapingMemory } from './shaping-memory.ts';

type Memory = Pick<ShapingMemory, 'pauses' | 'setPause' | 'suspension' | 'suspend' | 'lift'>;

export class OthersHolds {
  /** As they were last stored. */
  #suspensions: readonly Suspension[] = [];

  /** Returns what that changes here: groups that must stop, and whether anything has ended. */
  take(memory: Memory, { pauses, suspensions }: SharedHolds, now: number): { stopped: string[]; hasEnded: boolean } {
    const known = new Set(memory.pauses().map(nameOf));
    const stored = new Set(pauses.map(nameOf));
    const endedPauses = memory.pauses().filter((pause) => !stored.has(nameOf(pause)));
    for (const pause of endedPauses) memory.setPause(pause, null);
    for (const pause of pauses) memory.setPause(pause, pause);
    const freshPauses = pauses.filter((pause) => pause.kind === 'group' && !known.has(nameOf(pause)));
    const fresh = suspensions.filter((one) => one.until > (memory.suspension(one)?.until ?? 0));
    const ended = this.#suspensions.filter((one) => {
      const isHere = one.until > now && memory.suspension(one)?.until === one.until;
      return isHere && !suspensions.some((other) => isSame(one, other));
    });
    for (const suspension of ended) memory.lift(suspension);
    for (const suspension of fresh) memory.suspend(suspension);
    this.#suspensions = suspensions;
    const stopped = new Set([...freshPauses.map(({ key }) => key), ...fresh.map(({ mxGroup }) => mxGroup)]);
    return { stopped: [...stopped], hasEnded: endedPauses.length + ended.length > 0 };
  }
}

function nameOf({ kind, key }: QueuePause): string {
  return `${kind} ${key}`;
}

function isSame(one: Suspension, other: Suspension): boolean {
  const { mxGroup, scope, tenantId, subject } = other;
  return one.mxGroup === mxGroup && one.scope === scope && one.tenantId === tenantId && one.subject === subject;
}
