// Undoes hard bounces that were wrong: what a group of servers has said in a bad hour, or what one rule has
// decided since a time, on the platform's list and on tenants'. In slices, between which mail goes on.
import type { StoreVerbs } from '../store/store.ts';
import type { UndoneBounces } from '../store/suppressions.ts';

const SLICE = 500;

export interface UndoneCount {
  platform: number;
  tenants: number;
}

export async function undoHardBounces(
  store: StoreVerbs<{ suppressions: 'undoHardBounces' }>,
  of: UndoneBounces,
): Promise<UndoneCount> {
  const total = { platform: 0, tenants: 0 };
  for (;;) {
    const { platform, tenants } = await store.suppressions.undoHardBounces(of, SLICE);
    total.platform += platform;
    total.tenants += tenants;
    if (platform < SLICE && tenants < SLICE) return total;
  }
}
