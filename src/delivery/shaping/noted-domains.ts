// Stores the MX group of each recipient domain that mail is routed to: operators act on mail by group, and what is counted or
// reported later is assigned to its provider by it. What a crash loses is noted again with the domain's next mail.

import { BoundedMap } from '../../base/bounded-map.ts';
import { type Clock, DAY_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { DomainNote } from '../../store/shaping.ts';
import type { StoreVerbs } from '../../store/store.ts';

interface NotedDomainsKit {
  store: StoreVerbs<{ shaping: 'noteDomains' }>;
  clock: Clock;
  log: Logger;
}

/** How often a domain with mail is stored again, so that it is not forgotten. */
const NOTED_AGAIN_AFTER_MS = DAY_MS;
/** With mail to more domains the store is asked more often, which finds that it has them. */
const MAX_NOTED = 20_000;
/** Less than a delivery usually takes: if one is counted before its domain is noted, its provider is unknown for good. */
const STORE_EVERY_MS = 100;
const PORTION = 1000;

export class NotedDomains {
  readonly #kit: NotedDomainsKit;
  /** The domains with the latest mail, as they are stored or about to be. */
  readonly #noted = new BoundedMap<string, { mxGroup: string; at: number }>(MAX_NOTED);
  readonly #waiting = new Map<string, DomainNote>();
  #timer: NodeJS.Timeout | null = null;
  #storing: Promise<void> = Promise.resolve();

  constructor(kit: NotedDomainsKit) {
    this.#kit = kit;
  }

  note(domain: string, mxGroup: string): void {
    const at = this.#kit.clock.now();
    const known = this.#noted.use(domain);
    if (known?.mxGroup === mxGroup && at - known.at < NOTED_AGAIN_AFTER_MS) return;
    this.#noted.set(domain, { mxGroup, at });
    this.#waiting.set(domain, { domain, mxGroup, at });
    if (!this.#timer) this.#storeSome();
  }

  /** Resolves when all are stored. */
  async stop(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#storing;
    while (this.#waiting.size > 0) await this.#storePortion();
  }

  /** At once after a quiet time; then those that have come meanwhile. */
  #storeSome(): void {
    this.#timer = null;
    if (this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => this.#storeSome(), STORE_EVERY_MS);
    this.#storing = this.#storing.then(() => this.#storePortion());
  }

  async #storePortion(): Promise<void> {
    const { store, clock, log } = this.#kit;
    const notes = [...this.#waiting.values()].slice(0, PORTION);
    for (const { domain } of notes) this.#waiting.delete(domain);
    if (notes.length === 0) return;
    try {
      await store.shaping.noteDomains(notes, clock.now() - NOTED_AGAIN_AFTER_MS);
    } catch (error) {
      for (const { domain } of notes) this.#noted.delete(domain);
      log.error({ error }, `the MX groups of domains could not be stored: ${describeError(error)}`);
    }
  }
}
