// Which servers are told of the next message behind the final dot of the last: all that offer
// PIPELINING (RFC 2920), but those that have lost what was said so early. They hear it in turn.
import { DAY_MS } from '../../base/clock.ts';

const MISHEARD_FOR_MS = DAY_MS;
const MOST_KEPT_HOSTS = 1000;

/** Per courier thread: whatever is forgotten costs one more try. */
export class Announcements {
  readonly #now: () => number;
  /** MX host to the time from which on it gets another chance; in the order in which they were noted. */
  readonly #misheardUntil = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  areHeardBy(host: string): boolean {
    return (this.#misheardUntil.get(host) ?? 0) <= this.#now();
  }

  misheardBy(host: string): void {
    this.#misheardUntil.delete(host);
    if (this.#misheardUntil.size >= MOST_KEPT_HOSTS) {
      this.#misheardUntil.delete(this.#misheardUntil.keys().next().value!);
    }
    this.#misheardUntil.set(host, this.#now() + MISHEARD_FOR_MS);
  }
}
