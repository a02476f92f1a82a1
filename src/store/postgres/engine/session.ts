// A place for one connection: opened when it is needed, and again after it was lost.
import { Fault } from '../../../base/errors.ts';
import { type ConnectionTerms, connect, type PostgresConnection } from './connection.ts';
import type { ServerAddress } from './server-address.ts';

export class Session {
  readonly #address: ServerAddress;
  readonly #terms: ConnectionTerms;
  #current: PostgresConnection | null = null;
  #opening: Promise<PostgresConnection> | null = null;
  #closed = false;

  constructor(address: ServerAddress, terms: ConnectionTerms) {
    this.#address = address;
    this.#terms = terms;
  }

  async connection(): Promise<PostgresConnection> {
    if (this.#closed) throw new Fault('the store is closed');
    if (this.#current && !this.#current.isLost) return this.#current;
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Ends the connection that is open, if any; the next one that asks gets a new one. */
  drop(): void {
    this.#current?.destroy();
    this.#current = null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connection = this.#opening ? await this.#opening.catch(() => null) : this.#current;
    this.#current = null;
    await connection?.end();
  }

  async #open(): Promise<PostgresConnection> {
    try {
      this.#current = await connect(this.#address, this.#terms);
      return this.#current;
    } finally {
      this.#opening = null;
    }
  }
}
