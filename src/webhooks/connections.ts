// Connections to endpoints, kept open between calls. Each belongs to one origin and one address that was checked: a
// call can only use connections to addresses that were checked for it. The library is loaded with the first: it is a tenth of
// a start, and few daemons call somebody at once.
import type { Pool } from 'undici';
import type { Clock } from '../base/clock.ts';
import { SECOND_MS } from '../base/clock.ts';

export interface ConnectionsOptions {
  clock: Clock;
  /** Trusted roots in PEM; Node's own by default. */
  ca?: string | undefined;
}

export interface EndpointPool {
  pool: Pool;
  /** How many connections were ever opened in it. */
  opened: number;
}

interface Entry extends EndpointPool {
  usedAt: number;
  users: number;
}

type Library = typeof import('undici');

/** Short, so that one dead address of a host leaves time for the others. */
const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
/** Few servers close idle connections sooner; undici honours their Keep-Alive hint. */
const KEEP_ALIVE_MS = 4 * SECOND_MS;
const CLOSE_AFTER_MS = 30 * SECOND_MS;
/** A safety net behind the deadline of the call. */
const ANSWER_TIMEOUT_MS = 20 * SECOND_MS;

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #entries = new Map<string, Entry>();
  #library: Library | null = null;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  async use<T>(origin: string, ip: string, work: (endpoint: EndpointPool) => Promise<T>): Promise<T> {
    const key = `${origin} ${ip}`;
    this.#library ??= await import('undici');
    const entry = this.#entries.get(key) ?? this.#open(this.#library, origin, ip);
    this.#entries.set(key, entry);
    entry.users++;
    try {
      return await work(entry);
    } finally {
      entry.users--;
      entry.usedAt = this.#options.clock.now();
    }
  }

  /** Closes connections that have not been used for a while. */
  closeUnused(): void {
    const before = this.#options.clock.now() - CLOSE_AFTER_MS;
    for (const [key, { pool, users, usedAt }] of this.#entries) {
      if (users > 0 || usedAt > before) continue;
      this.#entries.delete(key);
      void pool.destroy();
    }
  }

  async close(): Promise<void> {
    const pools = [...this.#entries.values()].map(({ pool }) => pool);
    this.#entries.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #open({ buildConnector, Pool }: Library, origin: string, ip: string): Entry {
    const { ca, clock } = this.#options;
    const connect = buildConnector({
      timeout: CONNECT_TIMEOUT_MS,
      allowH2: false,
      rejectUnauthorized: true,
      ...(ca !== undefined && { ca }),
    });
    const pool = new Pool(origin, {
      connections: null, // the dispatcher limits them
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      connect: (options, callback) => {
        entry.opened++;
        // SNI and the certificate's name come from `host`, which stays the name.
        connect({ ...options, hostname: ip }, callback);
      },
    });
    const entry: Entry = { pool, opened: 0, usedAt: clock.now(), users: 0 };
    return entry;
  }
}
