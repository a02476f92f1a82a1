// How many bytes of bodies may be in memory: those that are on their way in, and those of calls that are not answered
// yet, with what templates make of them. Taken before a byte of a body is kept, so that a client that sends slowly
// holds what it has announced and no more.
// Bodies up to 64 KiB take none: the HTTP kernel keeps that much of any body, as it does without anybody asking.
import type { BodyRoom } from '../../http/http.ts';

export interface BodyBudgetLimits {
  bytesPerTenant: number;
  bytes: number;
}

const MIB = 1024 * 1024;

const BODY_BUDGET: BodyBudgetLimits = {
  // Six bodies of 5 MiB. As much of a tenant's may wait for the threads that read large bodies, too.
  bytesPerTenant: 32 * MIB,
  // A quarter of what a machine of 1 GiB has; eight tenants can have all of theirs.
  bytes: 256 * MIB,
};

export class BodyBudget {
  readonly #limits: BodyBudgetLimits;
  readonly #byTenant = new Map<string, number>();
  #bytes = 0;

  constructor(limits: BodyBudgetLimits = BODY_BUDGET) {
    this.#limits = limits;
  }

  /** Of all calls at the moment. */
  get bytes(): number {
    return this.#bytes;
  }

  /** For one call. What it has taken is given back when the call is over. */
  share(tenantId: string): BodyShare {
    let taken = 0;
    return {
      take: (bytes) => {
        if (!this.#take(tenantId, bytes)) return false;
        taken += bytes;
        return true;
      },
      giveBack: () => {
        if (taken > 0) this.#giveBack(tenantId, taken);
        taken = 0;
      },
    };
  }

  #take(tenantId: string, bytes: number): boolean {
    const ofTenant = (this.#byTenant.get(tenantId) ?? 0) + bytes;
    if (ofTenant > this.#limits.bytesPerTenant || this.#bytes + bytes > this.#limits.bytes) return false;
    this.#byTenant.set(tenantId, ofTenant);
    this.#bytes += bytes;
    return true;
  }

  #giveBack(tenantId: string, bytes: number): void {
    const left = (this.#byTenant.get(tenantId) ?? 0) - bytes;
    if (left > 0) this.#byTenant.set(tenantId, left);
    else this.#byTenant.delete(tenantId);
    this.#bytes -= bytes;
  }
}

export interface BodyShare extends BodyRoom {
  giveBack(): void;
}
