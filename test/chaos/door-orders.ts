// Orders that a client of a chaos run hands in at the SMTP door, over one connection for as long as a daemon lives.
import type { Daemon } from '../support/daemon-process.ts';
import { type DoorAddress, DoorClient, type HandedMail } from '../support/door-client.ts';

export class DoorOrders {
  readonly #addressOf: (daemon: Daemon) => DoorAddress;
  readonly #key: string;
  #open: { daemon: Daemon; client: DoorClient } | null = null;

  constructor(addressOf: (daemon: Daemon) => DoorAddress, key: string) {
    this.#addressOf = addressOf;
    this.#key = key;
  }

  /** The reply to the final dot, or the first refusal; empty: there was none. */
  async hand(daemon: Daemon, mail: HandedMail): Promise<string> {
    try {
      const client = await this.#clientOf(daemon);
      const reply = await client.hand(mail);
      if (reply.startsWith('250')) return reply;
      this.close();
      return reply;
    } catch {
      this.close();
      return '';
    }
  }

  close(): void {
    this.#open?.client.close();
    this.#open = null;
  }

  async #clientOf(daemon: Daemon): Promise<DoorClient> {
    if (this.#open?.daemon !== daemon) {
      this.close();
      this.#open = { daemon, client: await DoorClient.signIn(this.#addressOf(daemon), this.#key) };
    }
    return this.#open.client;
  }
}
