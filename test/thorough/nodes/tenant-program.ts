// A tenant's program under load: clients of our library that send with keys, and one that reads the events on, with the
// retries that the library has by itself. Whatever these don't hide is kept here.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { Postrider } from '../../../clients/node/index.mjs';
import type { Sender } from '../../support/world.ts';

const CLIENTS = 4;
/** Enough for some calls at any moment, and little enough for two cores. */
const BETWEEN_MS = 40;

export interface Sent {
  /** Of the submission. */
  id: string;
  messageId: string;
}

export class TenantProgram {
  readonly sent: Sent[] = [];
  /** IDs, in the order in which they were read. */
  readonly events: string[] = [];
  /** What came out of the library: its retries were not enough. */
  readonly failures: string[] = [];
  readonly #client: Postrider;
  readonly #sender: Sender;
  #isOver = false;
  #after: string | undefined;
  #work: Promise<unknown> = Promise.resolve();

  constructor(sender: Sender, baseUrl: string) {
    this.#sender = sender;
    this.#client = new Postrider({ apiKey: sender.key, baseUrl });
  }

  start(): void {
    const clients = Array.from({ length: CLIENTS }, (_, at) => this.#sendOn(`c${at}`));
    this.#work = Promise.all([...clients, this.#readOn()]);
  }

  /** Once each call has its answer. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  /** To the end of the feed. */
  async readRest(): Promise<void> {
    while ((await this.#read()) > 0);
  }

  async #sendOn(name: string): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      const [subject, from] = [`${name}-${number}`, `app@${this.#sender.domain}`];
      const mail = { from, to: `${subject}@receiver.test`, subject, text: subject, idempotencyKey: subject };
      await this.#tell(`send ${subject}`, async () => {
        const { id, messageIds } = await this.#client.emails.send(mail);
        this.sent.push({ id, messageId: messageIds[0]! });
      });
      await sleep(BETWEEN_MS);
    }
  }

  async #readOn(): Promise<void> {
    while (!this.#isOver) {
      await this.#tell('read events', () => this.#read());
      await sleep(BETWEEN_MS);
    }
  }

  /** How many there were. */
  async #read(): Promise<number> {
    const { events } = await this.#client.events.list({ after: this.#after, limit: 100 });
    this.events.push(...events.map(({ id }) => id));
    this.#after = events.at(-1)?.id ?? this.#after;
    return events.length;
  }

  async #tell(what: string, call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.failures.push(`${what}: ${error}`);
    }
  }
}

/** What the library tries again, by kinds: the status of an answer, or why there was none. It calls the `fetch` of the time. */
export function watchRetries(t: Test): Map<string, number> {
  const kinds = new Map<string, number>();
  const { fetch } = globalThis;
  const count = (kind: string) => kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  globalThis.fetch = async (...call: Parameters<typeof fetch>) => {
    try {
      const response = await fetch(...call);
      if (response.status >= 500 || response.status === 429) count(String(response.status));
      return response;
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      count(cause?.code ?? String(error));
      throw error;
    }
  };
  t.teardown(() => {
    globalThis.fetch = fetch;
  });
  return kinds;
}
