// What an operator closes on one machine is closed on all: a suspended tenant sends nothing anywhere as soon as the command
// has been answered, and a revoked key opens nothing a moment later.
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../support/daemon-process.ts';
import { patience } from '../../support/patience.ts';
import type { Sender } from '../../support/world.ts';
import { answerIn } from '../clients.ts';
import type { Machine, Machines } from './machine.ts';

const ROUND_EVERY_MS = 2000;
/** Reads of another machine may be a second old. */
const SEEN_AFTER_MS = 1500;

export class ClosedDoors {
  readonly problems: string[] = [];
  rounds = 0;
  #calls = 0;
  readonly #machines: Machines;
  readonly #sender: Sender;
  readonly #random: () => number;
  #isOver = false;

  constructor(machines: Machines, sender: Sender, random: () => number) {
    this.#machines = machines;
    this.#sender = sender;
    this.#random = random;
  }

  end(): void {
    this.#isOver = true;
  }

  async work(): Promise<void> {
    while (!this.#isOver) {
      if ((await this.#suspend()) && (await this.#revoke())) this.rounds++;
      await pause(ROUND_EVERY_MS);
    }
    while (!(await this.#command('tenant', 'set', this.#sender.tenantId, '--status', 'active')))
      await pause(ROUND_EVERY_MS);
  }

  /** False: a fault came in between, and nothing is learned. */
  async #suspend(): Promise<boolean> {
    const { tenantId, key } = this.#sender;
    if (!(await this.#command('tenant', 'set', tenantId, '--status', 'suspended'))) return false;
    await this.#callAll(key, (status) => status === 202 && `tenant ${tenantId} was suspended, and sent`);
    return (await this.#command('tenant', 'set', tenantId, '--status', 'active')) !== null;
  }

  async #revoke(): Promise<boolean> {
    const created = await this.#command(
      'key',
      'create',
      '--tenant',
      this.#sender.tenantId,
      '--name',
      'short',
      '--scopes',
      'emails:send',
    );
    if (!created || !(await this.#command('key', 'revoke', String(created.id)))) return false;
    await pause(patience(SEEN_AFTER_MS));
    await this.#callAll(String(created.key), (status) => status < 400 && `key ${created.id} was revoked, and opened`);
    return true;
  }

  async #callAll(key: string, judge: (status: number) => string | false): Promise<void> {
    for (const { name, daemon, isHalted } of this.#machines.all) {
      if (isHalted || !daemon.running || daemon.httpPort === 0) continue;
      // A call that waits in a machine without its database is worked on after it, when the tenant is active again.
      const to = `plain-door-${this.#calls++}@receiver.test`;
      const body = { from: `app@${this.#sender.domain}`, to, subject: 'door', text: 'door' };
      const answer = await answerIn(daemon.call(key, 'POST /emails', { body }));
      const problem = answer && judge(answer.status);
      if (problem) this.problems.push(`${problem} at ${name}`);
    }
  }

  /** Through the socket of any machine. Null: it was not answered. */
  async #command(...args: string[]): Promise<Json | null> {
    const living = this.#machines.all.filter(({ isHalted, daemon }) => !isHalted && daemon.running);
    const machine: Machine | undefined = living[Math.floor(this.#random() * living.length)];
    try {
      return machine ? await machine.postrider.json(...args) : null;
    } catch {
      return null;
    }
  }
}
