// Programs of a tenant: they send orders over HTTP or hand them in at the SMTP door, repeat a call with its idempotency key
// until it is answered, and remember what they were promised. What has no key is never repeated.
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiAnswer, Daemon } from '../support/daemon-process.ts';
import { type DoorAddress, submissionIdIn } from '../support/door-client.ts';
import { patience } from '../support/patience.ts';
import { sealedMail } from '../support/sealed-mail.ts';
import { RECEIVER, type Sender } from '../support/world.ts';
import { DoorOrders } from './door-orders.ts';
import { drawFate, ENDING_BADLY, fateOf } from './receiver.ts';
import type { Ordering } from './scene.ts';

const MAX_RECIPIENTS = 4;
/** Of the calls; the others have no idempotency key. */
const WITH_KEY = 0.8;
const REPEAT_AFTER_MS = 50;
/** Of the orders. */
const BY_SMTP = 0.4;
const BYTES = 100;
/** Of a slow client: half of it is more than one piece, and stored before the kill that cuts it off. */
const SLOW_BYTES = 600_000;
const LONGEST_HALT_MS = 1500;
/** Then a client gives up on an answer. */
const CALL_MS = 5000;

/** Null: there was none, or it came too late. */
export async function answerIn(call: Promise<ApiAnswer>): Promise<ApiAnswer | null> {
  const given = new AbortController();
  const tooLate = pause(patience(CALL_MS), null, { signal: given.signal }).catch(() => null);
  const answer = await Promise.race([call.catch(() => null), tooLate]);
  given.abort();
  return answer;
}

interface Order {
  name: string;
  to: string[];
  /** Null: never repeated. */
  key: string | null;
  /** At the SMTP door: the mail. */
  raw: Buffer | null;
  isRepeat: boolean;
}

export interface ClientOptions {
  name: string;
  random: () => number;
  doorOf(daemon: Daemon): DoorAddress;
  /** Hands in large mails only, and halts in the middle of each. */
  isSlow: boolean;
  /** The longest pause before an order. */
  paceMs?: number;
  /** Told of each order, and of what was answered. */
  note?(what: string, facts: object): void;
}

export class Client {
  /** Ids of messages that a 202 promised. */
  readonly promised: string[] = [];
  /** What a 250 at the SMTP door promised: the recipients, by the submission that it named. */
  readonly queued = new Map<string, string[]>();
  /** Each call with a key that was answered 202 or 250: the submission that it was told of. */
  readonly submissions = new Map<string, Set<string>>();
  readonly refusals: string[] = [];
  calls = 0;
  repeats = 0;
  /** Repeated calls that had been taken before, without an answer. */
  replays = 0;
  readonly #scene: Ordering;
  readonly #sender: Sender;
  readonly #name: string;
  readonly #random: () => number;
  readonly #door: DoorOrders;
  readonly #isSlow: boolean;
  readonly #paceMs: number;
  readonly #note: (what: string, facts: object) => void;

  constructor(scene: Ordering, sender: Sender, { name, random, doorOf, isSlow, paceMs = 0, note }: ClientOptions) {
    this.#scene = scene;
    this.#sender = sender;
    this.#name = name;
    this.#random = random;
    this.#isSlow = isSlow;
    this.#paceMs = paceMs;
    this.#note = note ?? (() => {});
    this.#door = new DoorOrders(doorOf, sender.key);
  }

  async work(): Promise<void> {
    for (let number = 1; await this.#scene.mayOrder(); number++) {
      const order = this.#draw(`${this.#name}-${number}`);
      const { name, to, key } = order;
      this.calls++;
      this.#note('order', { name, to, key });
      while (!(await this.#send(order)) && order.key !== null) {
        order.isRepeat = true;
        this.repeats++;
        await pause(REPEAT_AFTER_MS);
      }
      if (this.#paceMs > 0) await pause(this.#random() * this.#paceMs);
    }
    this.#door.close();
  }

  #draw(name: string): Order {
    const random = this.#random;
    const recipients = 1 + Math.floor(random() * MAX_RECIPIENTS);
    const to = Array.from({ length: recipients }, (_, index) => `${drawFate(random)}-${name}-${index}@${RECEIVER}`);
    const key = random() < WITH_KEY ? name : null;
    if (!this.#isSlow && random() >= BY_SMTP) return { name, to, key, raw: null, isRepeat: false };
    const bytes = this.#isSlow ? SLOW_BYTES * (1 + random()) : BYTES;
    const raw = sealedMail({ from: this.#from, subject: name, idempotencyKey: key, bytes });
    return { name, to, key, raw, isRepeat: false };
  }

  get #from(): string {
    return `app@${this.#sender.domain}`;
  }

  /** False: there was no answer, or one that asks for another try. */
  async #send(order: Order): Promise<boolean> {
    const daemon = await this.#scene.running();
    return order.raw ? this.#handIn(daemon, order, order.raw) : this.#call(daemon, order);
  }

  async #handIn(daemon: Daemon, { name, to, key, isRepeat }: Order, raw: Buffer): Promise<boolean> {
    const halfway = () => pause(this.#random() * LONGEST_HALT_MS);
    let isRefused = false;
    const onRefused = (recipient: string, reply: string) => {
      isRefused = true;
      // RCPT comes before the key: to a mail that was taken, it may have bounced or been complained about meanwhile.
      const isExplained = isRepeat && reply.startsWith('550 5.1.1') && ENDING_BADLY.has(fateOf(recipient));
      if (!isExplained) this.refusals.push(`${name}: ${reply}`);
    };
    const reply = await this.#door.hand(daemon, { to, raw, onRefused, ...(this.#isSlow && { halfway }) });
    const id = submissionIdIn(reply);
    this.#note('reply', { name, reply });
    if (id === null) {
      if (reply.startsWith('5') && !isRefused) this.refusals.push(`${name}: ${reply}`);
      return reply.startsWith('5');
    }
    if (this.queued.has(id)) this.refusals.push(`${name}: ${id} is another's`);
    this.queued.set(id, to);
    if (key !== null) this.#noteSubmission(key, id);
    return true;
  }

  async #call(daemon: Daemon, { name, to, key }: Order): Promise<boolean> {
    const body = { from: this.#from, to, subject: name, text: `Thank you for order ${name}.` };
    const headers: Record<string, string> = key === null ? {} : { 'Idempotency-Key': key };
    const answer = await answerIn(daemon.call(this.#sender.key, 'POST /emails', { body, headers }));
    this.#note('answer', { name, status: answer?.status ?? null, ids: answer?.body.message_ids });
    if (answer === null || answer.status === 429 || answer.status >= 500) return false;
    if (answer.status !== 202) {
      this.refusals.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
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
