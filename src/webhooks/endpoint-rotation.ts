// Who is next: endpoints in the order in which they came, one call each before the first has a second.
// Places are bounded, with some that only endpoints get which are known to answer at once: however
// many others hang for 15 s, those never wait for them.
import type { EndpointLine } from './endpoint-line.ts';

/** For endpoints that are unknown, slow or failing. A socket and some KiB each. */
const PLACES_FOR_ALL = 768;
const PLACES_FOR_QUICK = 256;

export interface CallSlot {
  free(): void;
}

export interface Turn {
  line: EndpointLine;
  /** Occupies a place for a call. */
  take(): CallSlot;
}

interface Room {
  readonly lines: Set<EndpointLine>;
  free: number;
}

export class EndpointRotation {
  readonly #quick: Room;
  readonly #others: Room;

  constructor(places = { forAll: PLACES_FOR_ALL, forQuick: PLACES_FOR_QUICK }) {
    this.#quick = { lines: new Set(), free: places.forQuick };
    this.#others = { lines: new Set(), free: places.forAll };
  }

  /** Lines that could have a turn now. */
  get size(): number {
    return [this.#quick, this.#others].reduce((sum, { lines, free }) => sum + (free > 0 ? lines.size : 0), 0);
  }

  /** At the end of its queue, unless it stands in it. */
  queue(line: EndpointLine): void {
    const [room, other] = line.isQuick ? [this.#quick, this.#others] : [this.#others, this.#quick];
    other.lines.delete(line);
    room.lines.add(line);
  }

  remove(line: EndpointLine): void {
    this.#quick.lines.delete(line);
    this.#others.lines.delete(line);
  }

  /** The next line for which there is a place; it leaves the queue. */
  next(): Turn | null {
    for (const room of [this.#quick, this.#others]) {
      const [line] = room.free > 0 ? room.lines : [];
      if (!line) continue;
      room.lines.delete(line);
      return { line, take: () => occupy(room) };
    }
    return null;
  }
}

function occupy(room: Room): CallSlot {
  room.free--;
  return {
    free() {
      room.free++;
    },
  };
}
