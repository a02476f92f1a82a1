// What holds mail that is due: pauses by operators and by receivers' replies, and tenants that may not send.
// Making mail due ends none of these, so the operator is told which there are, with the command that ends each.

import type { WaitingMessage } from '../../store/queue.ts';
import type { LanesTarget } from '../../store/shaping.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import type { ShapingCode, ShapingVerdict } from '../shaping/shaping.ts';
import type { Shaping } from '../shaping/shaping-state.ts';

export interface StandingHold {
  /** What to resume or activate. */
  kind: LanesTarget['kind'];
  key: string;
  /** `inactive`: the tenant's status must be changed. */
  how: 'paused' | 'inactive';
  /** A sentence for people. */
  reason: string;
}

/** More would be hard to read; the queue's own list shows all. */
const MOST = 20;

interface MailTarget {
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

  /** `message`: the message of the lane that the action is about. */
  async checkLane(
    { tenantId, domain }: Pick<LaneNotice, 'tenantId' | 'domain'>,
    message: Pick<WaitingMessage, 'fromDomain' | 'sourceAddress'> | null = null,
  ): Promise<void> {
    if (this.#found.size >= MOST) return;
    const own = message && { senderDomain: message.fromDomain, sourceAddress: message.sourceAddress };
    await this.#check({ tenantId, domain, group: await this.#store.shaping.groupOfDomain(domain), ...own });
  }

  /** Also for a target without waiting mail. */
  async check(target: LanesTarget): Promise<void> {
    if (target.kind === 'domain') return this.checkLane({ tenantId: '', domain: target.key });
    await this.#check(mailOf(target));
  }

  /** Every reason against it, including those that end automatically. */
  async reasonsFor(target: LanesTarget): Promise<string[]> {
    const mail = mailOf(target);
    const group = target.kind === 'domain' ? await this.#store.shaping.groupOfDomain(target.key) : mail.group;
    const { reasons } = await this.#verdict({ ...mail, group });
    return reasons.map(({ reason }) => reason);
  }

  async #check(mail: MailTarget): Promise<void> {
    const { reasons } = await this.#verdict(mail);
    for (const { code, reason } of reasons) {
      const held = holdOf(code, mail);
      if (held) this.#found.set(`${code} ${held.key}`, { ...held, reason });
    }
  }

  async #verdict(mail: MailTarget): Promise<ShapingVerdict> {
    await this.#shaping.learnTenant(mail.tenantId);
    const group = mail.group === null ? null : { name: mail.group, open: 0 };
    return this.#shaping.verdict({ ...mail, group, connections: null });
  }
}

function mailOf({ kind, key }: LanesTarget): MailTarget {
  return {
    tenantId: kind === 'tenant' ? key : '',
    domain: kind === 'domain' ? key : '',
    group: kind === 'group' ? key : null,
  };
}

function holdOf(code: ShapingCode, { tenantId, domain, group }: MailTarget): Omit<StandingHold, 'reason'> | null {
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
