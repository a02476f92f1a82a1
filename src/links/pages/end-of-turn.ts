// Makes requests for pixels and links wait for other work, a few of them at the end of each turn of the event loop:
// mail has priority over clicks, however many there are. Their responses are also sent together: the reader, mostly a
// proxy on this host, wakes up once and is still busy when the next one comes; waking up for each would cost both sides
// as much as the rest of a click. A client that pipelines another request is disconnected, as everywhere with
// asynchronous responses: browsers and proxies do not.
import { BatchPerTick } from '../../base/per-tick.ts';

/** Each takes some 30 µs, so a turn with this many delays other work by a fraction of a millisecond. */
const MAX_PER_TURN = 20;

export class EndOfTurn {
  readonly #waiting = new BatchPerTick<() => void>((resolvers) => {
    for (const resolve of resolvers) resolve();
  }, MAX_PER_TURN);

  /** Settles at the caller's turn, in the order of calls. */
  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
