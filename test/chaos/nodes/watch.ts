// What can only be seen while a run goes on: which messages a fault fell on, that epochs only rise, and how soon somebody
// else has a dead machine's slots.
import { setTimeout as pause } from 'node:timers/promises';
import type { Daemon } from '../../support/daemon-process.ts';
import { patience } from '../../support/patience.ts';
import type { Receiver } from '../receiver.ts';
import { type Holding, Holdings } from './check-nodes.ts';
import type { Cluster } from './cluster.ts';
import type { Machine } from './machine.ts';

const LOOK_EVERY_MS = 300;
/** Lease and margin are twelve seconds, whoever takes over looks every three. */
const TAKEOVER_MS = 20_000;

export class Watch {
  readonly problems: string[] = [];
  readonly holdings = new Holdings();
  /** How many faults fell while a message was in flight. */
  readonly inFlight = new Map<string, number>();
  /** The longest, of how many. */
  readonly takeovers = { longestMs: 0, count: 0 };
  readonly #cluster: Cluster;
  readonly #receiver: Receiver;
  readonly #machines: readonly Machine[];
  #hit: Set<string> | null = null;
  #isOver = false;

  constructor(cluster: Cluster, receiver: Receiver, machines: readonly Machine[]) {
    this.#cluster = cluster;
    this.#receiver = receiver;
    this.#machines = machines;
  }

  async work(): Promise<void> {
    while (!this.#isOver) {
      // Without a database there is nothing to see.
      await this.#look().catch(() => {});
      await pause(LOOK_EVERY_MS);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  /** Messages that are in hand from the fault's beginning to its end are hit by it, once each. */
  async during(fault: () => Promise<void>): Promise<void> {
    const hit = new Set<string>();
    this.#hit = hit;
    const begun = this.#machines.map(({ daemon }) => attemptsOf(daemon));
    await this.#look().catch(() => {});
    try {
      await fault();
    } finally {
      await this.#look().catch(() => {});
      this.#hit = null;
      for (const [at, { daemon }] of this.#machines.entries()) for (const id of begun[at]!(daemon)) hit.add(id);
      for (const id of hit) this.inFlight.set(id, (this.inFlight.get(id) ?? 0) + 1);
    }
  }

  async untilTakenOver({ name }: Machine, since: number): Promise<void> {
    for (;;) {
      const { rows } = await this.#cluster.run(`SELECT 1 FROM postrider.slots WHERE node = '${name}'`);
      const elapsedMs = performance.now() - since;
      if (rows.length === 0) {
        this.takeovers.count++;
        this.takeovers.longestMs = Math.max(this.takeovers.longestMs, elapsedMs);
        return;
      }
      if (elapsedMs > patience(TAKEOVER_MS)) {
        this.problems.push(`${name}: ${rows.length} slots have no other owner after ${Math.round(elapsedMs)} ms`);
        return;
      }
      await pause(LOOK_EVERY_MS);
    }
  }

  async #look(): Promise<void> {
    const { rows: held } = await this.#cluster.run(
      `SELECT 'slot ' || slot AS what, node, epoch::int FROM postrider.slots
       UNION ALL SELECT 'timer ' || name, node, epoch::int FROM postrider.timers`,
    );
    for (const { what, ...holding } of held as (Holding & { what: string })[]) this.holdings.see(what, holding);
    const hit = this.#hit;
    if (!hit) return;
    const { rows: open } = await this.#cluster.run(
      `SELECT encode(id, 'hex')::uuid::text AS id, state FROM postrider.messages WHERE finished_at IS NULL`,
    );
    for (const { id, state } of open as { id: string; state: string }[]) {
      if (state === 'sending' || this.#receiver.times.has(id)) hit.add(id);
    }
  }
}

/** Later, with the machine's daemon of then: the messages whose attempts have begun there meanwhile. Some end between two looks. */
function attemptsOf(before: Daemon): (now: Daemon) => string[] {
  const from = before.lines.length;
  return (now) => {
    const lines = now === before ? before.lines.slice(from) : [...before.lines.slice(from), ...now.lines];
    return lines.filter(({ fact }) => fact === 'attempt_started').map(({ message_id }) => String(message_id));
  };
}
