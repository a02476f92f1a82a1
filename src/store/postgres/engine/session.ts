// A place for one connection: opened when it is needed, and again after it was lost.
import { Fault } from '../../../base/errors.ts';
import type { ConnectionTerms, PostgresConnection } from './connection.ts';
import type { Primary } from './primary.ts';

export class Session {
  /** Of the last transaction, and where it is (write-transaction.ts). */
  lastMark: { mark: string; place: string } | null = null;
  readonly #primary: Primary;
  readonly #terms: ConnectionTerms;
  #current: PostgresConnection | null = null;
  #opening: Promise<PostgresConnection> | null = null;
  #closed = false;

  constructor(primary: Primary, terms: ConnectionTerms) {
    this.#primary = primary;
    this.#terms = terms;
  }

  async connection(): Promise<PostgresConnection> {
    if (this.#closed) throw new Fault('the store is closed');
    // Another session may have found a server that was promoted.
    if (this.#current && this.#primary.isOutdated(this.#current)) this.drop();
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
      this.#current = await this.#primary.connect(this.#terms);
      return this.#current;
    } finally {
      this.#opening = null;
    }
  }
}
