// Who is answered next: tenants take turns, and what waits is bounded, in all and per tenant.

export interface LineLimits {
  inAll: number;
  perTenant: number;
}

export class ReadingLine<Job> {
  readonly #limits: LineLimits;
  /** The tenant whose turn it is stands first. */
  readonly #lines = new Map<string, Job[]>();
  #size = 0;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  /** False: too much waits already. */
  add(tenant: string, job: Job): boolean {
    const line = this.#lines.get(tenant) ?? [];
    if (this.#size >= this.#limits.inAll || line.length >= this.#limits.perTenant) return false;
    this.#lines.set(tenant, [...line, job]);
    this.#size++;
    return true;
  }

  take(): Job | null {
    for (const [tenant, [job, ...others]] of this.#lines) {
      this.#lines.delete(tenant);
      if (others.length > 0) this.#lines.set(tenant, others);
      this.#size--;
      return job!;
    }
    return null;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** It has waited long enough. */
  remove(tenant: string, job: Job): void {
    const line = this.#lines.get(tenant) ?? [];
    const others = line.filter((other) => other !== job);
    this.#size -= line.length - others.length;
    if (others.length > 0) this.#lines.set(tenant, others);
    else this.#lines.delete(tenant);
  }

  /** All that wait; nobody waits any more. */
  clear(): Job[] {
    const waiting = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#size = 0;
    return waiting;
  }
}
