// A client that sends one order after the other, whatever happens to the daemon, and remembers
// what it was promised.
import type { Daemon } from '../support/daemon-process.ts';
import { type DoorAddress, DoorClient, submissionIdIn } from '../support/door-client.ts';
import { sealedMail } from '../support/sealed-mail.ts';
import { RECEIVER, type Sender } from '../support/world.ts';

export interface Scene {
  door: DoorAddress;
  daemon: Daemon;
  killed: Set<Daemon>;
  over: boolean;
}

/** Sends one order after the other; one that got no answer is repeated if it has an idempotency key. */
export class OrderingClient {
  readonly promised: string[] = [];
  /** By submission, out of the replies at the SMTP door: the recipients. */
  readonly queued = new Map<string, string[]>();
  /** Repeated calls that had been taken in without our hearing of it. */
  replays = 0;
  readonly #scene: Scene;
  readonly #sender: Sender;
  readonly #name: string;
  readonly #mailBytes: number;

  /** What it sends by SMTP has so many bytes. */
  constructor(scene: Scene, sender: Sender, { name, mailBytes }: { name: string; mailBytes: number }) {
    this.#scene = scene;
    this.#sender = sender;
    this.#name = name;
    this.#mailBytes = mailBytes;
  }

  async work(): Promise<void> {
    for (let count = 1; !this.#scene.over; count++) {
      const order = `${this.#name}-${count}`;
      if (count % 3 === 0) {
        await this.#handIn(order);
        continue;
      }
      const headers: Record<string, string> = count % 2 === 0 ? { 'Idempotency-Key': order } : {};
      let answered = await this.#send(order, headers);
      while (!answered && headers['Idempotency-Key']) answered = await this.#send(order, headers);
    }
  }

  /** At the SMTP door, again and again until it is taken. */
  async #handIn(order: string): Promise<void> {
    const { door } = this.#scene;
    const to = recipientsOf(order);
    const from = `app@${this.#sender.domain}`;
    const raw = sealedMail({ from, subject: order, idempotencyKey: order, bytes: this.#mailBytes });
    for (;;) {
      const { daemon, killed } = this.#scene;
      await daemon.ready.catch(() => {});
      const client = await DoorClient.signIn(door, this.#sender.key).catch(() => null);
      const reply = (await client?.hand({ to, raw })) ?? '';
      client?.close();
      const id = submissionIdIn(reply);
      if (id !== null) {
        this.queued.set(id, to);
        return;
      }
      if (!killed.has(daemon)) throw new Error(`answered ${reply}`); // only a kill may leave a mail without its answer
      await daemon.ended;
    }
  }

  async #send(order: string, headers: Record<string, string>): Promise<boolean> {
    const { daemon, killed } = this.#scene;
    const to = recipientsOf(order);
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

function recipientsOf(order: string): string[] {
  return [`${order}@${RECEIVER}`, `${order}-copy@${RECEIVER}`];
}
