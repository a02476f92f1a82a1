// A client that sends one order after the other, whatever happens to the daemon, and remembers
// what it was promised.
import type { Daemon } from '../support/daemon-process.ts';
import { RECEIVER, type Sender } from '../support/world.ts';

export interface Scene {
  daemon: Daemon;
  killed: Set<Daemon>;
  over: boolean;
}

/** Sends one order after the other; one that got no answer is repeated if it has an idempotency key. */
export class OrderingClient {
  readonly promised: string[] = [];
  /** Repeated calls that had been taken in without our hearing of it. */
  replays = 0;
  readonly #scene: Scene;
  readonly #sender: Sender;
  readonly #name: string;

  constructor(scene: Scene, sender: Sender, name: string) {
    this.#scene = scene;
    this.#sender = sender;
    this.#name = name;
  }

  async work(): Promise<void> {
    for (let count = 1; !this.#scene.over; count++) {
      const order = `${this.#name}-${count}`;
      const headers: Record<string, string> = count % 2 === 0 ? { 'Idempotency-Key': order } : {};
      let answered = await this.#send(order, headers);
      while (!answered && headers['Idempotency-Key']) answered = await this.#send(order, headers);
    }
  }

  async #send(order: string, headers: Record<string, string>): Promise<boolean> {
    const { daemon, killed } = this.#scene;
    const to = [`${order}@${RECEIVER}`, `${order}-copy@${RECEIVER}`];
    const body = { from: `app@${this.#sender.domain}`, to, subject: order, text: 'Thank you for your order.' };
    let answer: Awaited<ReturnType<Daemon['call']>>;
    try {
      await daemon.ready;
      answer = await daemon.call(this.#sender.key, 'POST /emails', { body, headers });
    } catch (error) {
      if (!killed.has(daemon)) throw error; // only a kill may leave a call without its answer
      await daemon.ended;
      return false;
    }
    if (answer.status !== 202) throw new Error(`answered ${answer.status} ${JSON.stringify(answer.body)}`);
    if (answer.body.replayed) this.replays++;
    this.promised.push(...(answer.body.message_ids as string[]));
    return true;
  }
}
