// The line in front of one MX group: tenants take turns, and so do the lanes of each tenant,
// so that nobody's hundred thousand messages stand before somebody else's one.
import type { Lane } from './lane.ts';

export class Turns {
  /** In the order of their turns: the first key is next. */
  readonly #tenants = new Map<string, Lane[]>();

  get empty(): boolean {
    return this.#tenants.size === 0;
  }

  add(lane: Lane): void {
    const lanes = this.#tenants.get(lane.tenantId);
    if (lanes) lanes.push(lane);
    else this.#tenants.set(lane.tenantId, [lane]);
  }

  next(): Lane | null {
    const turn = this.#tenants.entries().next();
    if (turn.done) return null;
    const [tenantId, lanes] = turn.value;
    const lane = lanes.shift()!;
    this.#tenants.delete(tenantId);
    if (lanes.length > 0) this.#tenants.set(tenantId, lanes);
    return lane;
  }
}
