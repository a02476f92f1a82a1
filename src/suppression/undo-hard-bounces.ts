// Undoes wrong hard bounces: those that a group reported during an outage, or that one rule decided since a
// time, on the platform's and tenants' lists. Works in slices, so that mail continues meanwhile.
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
