// Takes back what a group of servers has said in a bad hour: from the platform's list and from tenants'. In
// slices, between which mail goes on.
import type { SuppressionStore } from '../store/suppressions.ts';

const SLICE = 500;

export interface UndoneBounces {
  platform: number;
  tenants: number;
}

export async function undoHardBounces(
  store: Pick<SuppressionStore, 'undoHardBounces'>,
  of: { mxGroup: string; since: number },
): Promise<UndoneBounces> {
  const total = { platform: 0, tenants: 0 };
  for (;;) {
    const { platform, tenants } = await store.undoHardBounces(of, SLICE);
    total.platform += platform;
    total.tenants += tenants;
    if (platform < SLICE) return total;
  }
}
