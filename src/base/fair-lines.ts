// Who is next: a line per tenant, and the tenants take turns.

export class FairLines<Job> {
  /** The tenant whose turn it is stands first. */
  readonly #lines = new Map<string, Job[]>();

  add(tenantId: string, job: Job): void {
    const line = this.#lines.get(tenantId);
    if (line) line.push(job);
    else this.#lines.set(tenantId, [job]);
  }

  /** The first job of the first tenant that may go; its tenant goes to the end. */
  take(mayGo: (tenantId: string) => boolean): { tenantId: string; job: Job } | null {
    for (const [tenantId, line] of this.#lines) {
      if (!mayGo(tenantId)) continue;
      const job = line.shift()!;
      this.#lines.delete(tenantId);
      if (line.length > 0) this.#lines.set(tenantId, line);
      return { tenantId, job };
    }
    return null;
  }

  /** It has waited long enough. */
  remove(tenantId: string, job: Job): void {
    const line = this.#lines.get(tenantId) ?? [];
    const at = line.indexOf(job);
    if (at >= 0) line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(tenantId);
  }

  /** All that wait, whose turn it is first; nobody waits any more. */
  clear(): Job[] {
    const waiting = [...this.#lines.values()].flat();
    this.#lines.clear();
    return waiting;
  }

  /** How many tenants wait. */
  get size(): number {
    return this.#lines.size;
  }
}
