// Lets requests for pixels and links wait for whatever else has come, a few of them at the end of each turn of the
// event loop: mail goes before clicks, however many there are. And their answers leave together: whoever reads them,
// mostly a proxy on this host, is woken once and is still at work when the next one comes; woken for each, it would
// cost both sides as much as all else about a click. Who sends a next request before the answer is hung up on, as
// everywhere where an answer has to be waited for: browsers and proxies do not.
import { BatchPerTick } from '../../base/per-tick.ts';

/** Each takes some 30 µs: a turn with so many of them delays nobody by more than a fraction of a millisecond. */
const MOST_IN_A_TURN = 20;

export class EndOfTurn {
  readonly #waiting = new BatchPerTick<() => void>((resolvers) => {
    for (const resolve of resolvers) resolve();
  }, MOST_IN_A_TURN);

  /** Settles when it is the caller's turn, in the order in which they came. */
  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
