// What keeps mail back that is due: pauses of operators and of receivers' replies, and tenants that may not
// send. Making mail due ends none of it, so whoever does that is told, with the command that does.

import type { ClaimedMessage } from '../../store/queue.ts';
import type { LanesTarget } from '../../store/shaping.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import type { ShapingCode, ShapingVerdict } from '../shaping/shaping.ts';
import type { Shaping } from '../shaping/shaping-state.ts';

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

interface MailSort {
  tenantId: string;
  domain: string;
  group: string | null;
  senderDomain?: string;
  sourceAddress?: string | null;
}

export class StandingHolds {
  readonly #shaping: Shaping;
  readonly #store: StoreVerbs<{ shaping: 'groupOfDomain' }>;
  readonly #found = new Map<string, StandingHold>();

  constructor(shaping: Shaping, store: StoreVerbs<{ shaping: 'groupOfDomain' }>) {
    this.#shaping = shaping;
    this.#store = store;
  }

  list(): StandingHold[] {
    return [...this.#found.values()];
  }

  /** `message`: the one of the lane that it is about. */
  async lookAtLane(
    { tenantId, domain }: Pick<LaneNotice, 'tenantId' | 'domain'>,
    message: Pick<ClaimedMessage, 'fromDomain' | 'sourceAddress'> | null = null,
  ): Promise<void> {
    if (this.#found.size >= MOST) return;
    const own = message && { senderDomain: message.fromDomain, sourceAddress: message.sourceAddress };
    await this.#look({ tenantId, domain, group: await this.#store.shaping.groupOfDomain(domain), ...own });
  }

  /** Also where nothing of it waits. */
  async lookAt(target: LanesTarget): Promise<void> {
    if (target.kind === 'domain') return this.lookAtLane({ tenantId: '', domain: target.key });
    await this.#look(placeOf(target));
  }

  /** Everything that keeps it back, with what ends by itself. */
  async reasonsFor(target: LanesTarget): Promise<string[]> {
    const place = placeOf(target);
    const group = target.kind === 'domain' ? await this.#store.shaping.groupOfDomain(target.key) : place.group;
    const { reasons } = await this.#ask({ ...place, group });
    return reasons.map(({ reason }) => reason);
  }

  async #look(place: MailSort): Promise<void> {
    const { reasons } = await this.#ask(place);
    for (const { code, reason } of reasons) {
      const held = holdOf(code, place);
      if (held) this.#found.set(`${code} ${held.key}`, { ...held, reason });
    }
  }

  async #ask(place: MailSort): Promise<ShapingVerdict> {
    await this.#shaping.learnTenant(place.tenantId);
    const group = place.group === null ? null : { name: place.group, open: 0 };
    return this.#shaping.verdict({ ...place, group, connections: null });
  }
}

function placeOf({ kind, key }: LanesTarget): MailSort {
  return {
    tenantId: kind === 'tenant' ? key : '',
    domain: kind === 'domain' ? key : '',
    group: kind === 'group' ? key : null,
  };
}

function holdOf(code: ShapingCode, { tenantId, domain, group }: MailSort): Omit<StandingHold, 'reason'> | null {
  switch (code) {
    case 'tenant_not_active':
      return { kind: 'tenant', key: tenantId, how: 'inactive' };
    case 'tenant_paused':
    case 'sender_domain_suspended':
      return { kind: 'tenant', key: tenantId, how: 'paused' };
    case 'domain_paused':
    case 'domain_suspended':
      return { kind: 'domain', key: domain, how: 'paused' };
    case 'group_paused':
    case 'group_suspended':
    case 'source_address_suspended':
    case 'cool_down':
      return group === null ? null : { kind: 'group', key: group, how: 'paused' };
    default:
      return null; // its own time, a limit that moves on, a connection that becomes free
  }
}
