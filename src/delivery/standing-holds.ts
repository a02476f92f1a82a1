// What people keep back: pauses, and tenants that may not send. Making mail due ends none of it, so
// whoever does that is told. Receivers' own pauses are left out: they end by themselves.
import type { LanesTarget, ShapingStore } from '../store/shaping.ts';
import type { LaneNotice } from '../store/submissions.ts';
import type { ShapingCode, ShapingVerdict } from './shaping.ts';
import type { Shaping } from './shaping-state.ts';

export interface StandingHold {
  /** What is to be let go, and by which name. */
  kind: LanesTarget['kind'];
  key: string;
  /** `inactive`: its status is to be changed. */
  how: 'paused' | 'inactive';
  /** A sentence for people. */
  reason: string;
}

/** Of many lanes; who reads more has a list of its own. */
const MOST = 20;

interface Place {
  tenantId: string;
  domain: string;
  group: string | null;
}

export class StandingHolds {
  readonly #shaping: Shaping;
  readonly #store: Pick<ShapingStore, 'groupOfDomain'>;
  readonly #found = new Map<string, StandingHold>();

  constructor(shaping: Shaping, store: Pick<ShapingStore, 'groupOfDomain'>) {
    this.#shaping = shaping;
    this.#store = store;
  }

  list(): StandingHold[] {
    return [...this.#found.values()];
  }

  async lookAtLane({ tenantId, domain }: Pick<LaneNotice, 'tenantId' | 'domain'>): Promise<void> {
    if (this.#found.size >= MOST) return;
    await this.#look({ tenantId, domain, group: await this.#store.groupOfDomain(domain) });
  }

  /** Also where nothing of it waits. */
  async lookAt({ kind, key }: LanesTarget): Promise<void> {
    if (kind === 'domain') return this.lookAtLane({ tenantId: '', domain: key });
    await this.#look({ tenantId: kind === 'tenant' ? key : '', domain: '', group: kind === 'group' ? key : null });
  }

  async #look(place: Place): Promise<void> {
    await this.#shaping.learnTenant(place.tenantId);
    const group = place.group === null ? null : { name: place.group, open: 0 };
    const verdict: ShapingVerdict = this.#shaping.verdict({ ...place, group, connections: null });
    for (const { code, reason } of verdict.reasons) {
      const held = holdOf(code, place);
      if (held) this.#found.set(`${code} ${held.key}`, { ...held, reason });
    }
  }
}

function holdOf(code: ShapingCode, { tenantId, domain, group }: Place): Omit<StandingHold, 'reason'> | null {
  if (code === 'tenant_not_active') return { kind: 'tenant', key: tenantId, how: 'inactive' };
  if (code === 'tenant_paused') return { kind: 'tenant', key: tenantId, how: 'paused' };
  if (code === 'domain_paused') return { kind: 'domain', key: domain, how: 'paused' };
  return code === 'group_paused' && group !== null ? { kind: 'group', key: group, how: 'paused' } : null;
}
