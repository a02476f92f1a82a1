// Programs of a tenant: they send orders over HTTP, repeat a call with its idempotency key until it is answered,
// and remember what they were promised. What has no key is never repeated.
import { setTimeout as pause } from 'node:timers/promises';
import { RECEIVER, type Sender } from '../support/world.ts';
import { drawFate } from './receiver.ts';
import type { Scene } from './scene.ts';

const MAX_RECIPIENTS = 4;
/** Of the calls; the others have no idempotency key. */
const WITH_KEY = 0.8;
const REPEAT_AFTER_MS = 50;

export class Client {
  /** Ids of messages that a 202 promised. */
  readonly promised: string[] = [];
  /** Each call with a key that was answered 202: the submission that it was told of. */
  readonly submissions = new Map<string, Set<string>>();
  readonly refusals: string[] = [];
  calls = 0;
  repeats = 0;
  /** Repeated calls that had been taken before, without an answer. */
  replays = 0;
  readonly #scene: Scene;
  readonly #sender: Sender;
  readonly #name: string;
  readonly #random: () => number;

  constructor(scene: Scene, sender: Sender, { name, random }: { name: string; random: () => number }) {
    this.#scene = scene;
    this.#sender = sender;
    this.#name = name;
    this.#random = random;
  }

  async work(): Promise<void> {
    for (let number = 1; await this.#scene.mayOrder(); number++) {
      const order = `${this.#name}-${number}`;
      const recipients = 1 + Math.floor(this.#random() * MAX_RECIPIENTS);
      const to = Array.from(
        { length: recipients },
        (_, index) => `${drawFate(this.#random)}-${order}-${index}@${RECEIVER}`,
      );
      const key = this.#random() < WITH_KEY ? order : null;
      this.calls++;
      while (!(await this.#send(order, to, key)) && key !== null) {
        this.repeats++;
        await pause(REPEAT_AFTER_MS);
      }
    }
  }

  /** False: there was no answer, or one that asks for another try. */
  async #send(order: string, to: string[], key: string | null): Promise<boolean> {
    const daemon = await this.#scene.running();
    const body = { from: `app@${this.#sender.domain}`, to, subject: order, text: `Thank you for order ${order}.` };
    const headers: Record<string, string> = key === null ? {} : { 'Idempotency-Key': key };
    const answer = await daemon.call(this.#sender.key, 'POST /emails', { body, headers }).catch(() => null);
    if (answer === null || answer.status === 429 || answer.status >= 500) return false;
    if (answer.status !== 202) {
      this.refusals.push(`${order}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return true;
    }
    if (answer.body.replayed) this.replays++;
    this.promised.push(...(answer.body.message_ids as string[]));
    if (key !== null) this.#noteSubmission(key, String(answer.body.id));
    return true;
  }

  #noteSubmission(key: string, id: string): void {
    this.submissions.set(key, (this.submissions.get(key) ?? new Set()).add(id));
  }
}
